# SPDX-License-Identifier: Apache-2.0
# The scheduling study from an example is the same on every machine; mistakes are told with what is allowed.
try lamina schedule --example hypre
lamina schedule --example hypre --json > study.json
for key in policies speedup_percent q3_change_percent runs_seconds coefficient_reason; do
  grep -q "\"$key\"" study.json || echo "the JSON lacks $key"
done
try lamina schedule --example hypre --slurm settings --levels levels.txt --seconds 120 --runs 5
cat settings/slurm.conf.part settings/job.sbatch.part levels.txt
try lamina schedule
try lamina schedule --example linpack
try lamina schedule missing.json
printf '{"tiers": []}' > other.json
try lamina schedule other.json
try lamina schedule other.json --example hpl
try lamina schedule --example hpl --share 50
try lamina schedule --example hpl --random 50
try lamina schedule --example hpl --random 0,70
try lamina schedule --example hpl --aware 0,x
try lamina schedule --live
try lamina schedule --live -- no-such-program-at-all
