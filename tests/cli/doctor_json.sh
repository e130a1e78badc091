# SPDX-License-Identifier: Apache-2.0
# The doctor never fails on a machine that runs, and its JSON is one object with what scripts ask for.
command -v python3 > /dev/null || { echo 'no python3'; exit 77; }
lamina doctor > doctor.txt || echo 'failed'
grep -c '^Processor$\|^Memory$\|^This build$' doctor.txt
lamina doctor --json > doctor.json
python3 - << 'END'
import json
report = json.load(open("doctor.json"))
print(sorted(report))
print(sorted(report["facts"]))
print(all(f["state"] in ("ok", "note", "missing") for f in report["findings"]))
print([f["name"] for f in report["findings"] if f["state"] == "missing" and not f.get("fix")])
END
