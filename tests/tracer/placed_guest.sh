#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Each kind of advice on an unmodified program, on a Linux with two NUMA nodes: the kernel's numa_maps must show the pages where
# the plan put them, and what `place --apply` reports must be the same. `record --local` must really spill. The plan's sites come from an exact trace of the program
# here, small; in the guest it takes 300 MiB cold, then 200 MiB hot, and node 0 has about 430 MiB.
#
#   placed_guest.sh LAMINA PROGRAM PLACING_LIBRARY
set -u
lamina=$1 program=$2 library=$3
. "$(dirname "$0")/../support/two_nodes.sh"
guest_require

"$lamina" record --source trace -o "$guest_work/profile" -- "$program" 2 2 > "$guest_work/out" 2>&1 ||
  skip "no exact trace here: $(tail -n 1 "$guest_work/out")"
"$lamina" place "$guest_work/profile" --local 25 --nodes 0,1 --all --plan "$guest_work/sites" > /dev/null || exit 1
frames() { awk -v site="$1" '$1 == "place" {is_it = index($0, site)} $1 == "frame" && is_it' "$guest_work/sites"; }
mkdir -p "$guest_root/plans"

plan() { # plan NAME COLD HOT: an advice is "KIND TIER PERMILLE WEIGHTS", or - for none
  local name=$1 site
  {
    printf 'lamina-plan 1\ntier 0 0 314572800 fast\ntier 1 1 18446744073709551615 slow\n'
    if [ "$2" != - ]; then printf 'place %s 314572800 cold\n' "$2"; frames make_cold; fi
    if [ "$3" != - ]; then printf 'place %s 209715200 hot\n' "$3"; frames make_hot; fi
    echo end
  } > "$guest_root/plans/$name"
}
plan first - "fast 0 1000 0:0"
plan tier "slow 1 1000 0:0" -
plan split "slow 1 1000 0:0" "split 1 400 0:0"
plan interleave "slow 1 1000 0:0" "interleave 0 750 3:1"
for name in first tier split interleave; do
  [ "$(grep -c frame "$guest_root/plans/$name")" -gt 0 ] || { echo "no frames for the plan $name"; cat "$guest_work/sites"; exit 1; }
done

guest_add "$lamina" "$program" "$library" "$(gcc -print-file-name=libgcc_s.so.1 2> /dev/null | xargs readlink -f)"
mkdir -p "$guest_root/lib/x86_64-linux-gnu" && cp -L /lib/x86_64-linux-gnu/libgcc_s.so.1 "$guest_root/lib/x86_64-linux-gnu/"
cat > "$guest_work/script" << SCRIPT
echo; echo "== plain"; $program 300 200
echo "== freed"; $program 300 200 freed
for plan in first tier split interleave; do
  echo "== \$plan"; $lamina place --apply /plans/\$plan -- $program 300 200
done
echo "== local"; $lamina record --local 25% -o local -- $program 200 150 kept; cat local/local.json
SCRIPT
guest_run "$guest_work/script" "$guest_work/log" 480
cat "$guest_work/log"

failures=0
value() { awk -v part="== $1" -v name="$2" -v key="$3=" '$0 == part {on = 1; next} /^==/ {on = 0}
  on && $1 == name {for (i = 2; i <= NF; i++) if (index($i, key) == 1) print substr($i, length(key) + 1)}' "$guest_work/log"; }
expect() { # expect PART NAME NODE LEAST MOST
  local found
  found=$(value "$1" "$2" "$3")
  if [ -z "$found" ] || [ "$found" -lt "$4" ] || [ "$found" -gt "$5" ]; then
    echo "$1: $2 has ${found:-no} pages on $3, expected $4 to $5"
    failures=1
  fi
}
said() { grep -qE "$1" "$guest_work/log" || { echo "missing in what place --apply says: $1"; failures=1; }; }
hot=51200 cold=76800
expect plain cold N0 76000 76810      # first touch: the cold block takes node 0 ...
expect plain hot N1 10000 $((hot + 8)) # ... and the hot one spills
expect freed hot N1 0 0               # freed earlier: it fits
expect first hot N0 $hot $hot         # allocated first: fast memory is set aside before the cold block takes it
expect first cold N1 10000 $cold
expect tier cold N1 $cold $cold       # an explicit tier
expect tier hot N1 0 0
expect split hot N1 20480 20480       # four tenths of it
expect split hot N0 30720 30720
expect interleave hot N0 38400 38400  # 3 : 1
expect interleave hot N1 12800 12800
said '200\.00 MiB in 1 blocks: 51200 pages fast, 0 slow, 0 elsewhere +hot'
said '300\.00 MiB in 1 blocks: 0 pages fast, 76800 slow, 0 elsewhere +cold'
said '200\.00 MiB in 1 blocks: 30720 pages fast, 20480 slow, 0 elsewhere +hot'
said '200\.00 MiB in 1 blocks: 38400 pages fast, 12800 slow, 0 elsewhere +hot'
said '^lamina: measured: the fast node was filled until .* (6[5-9]|7[0-9]|8[0-9])\.[0-9] % on slower ones'
said '"numbers": "measured \(numa_maps\)"'
exit $failures
