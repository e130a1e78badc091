#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The case study of SC23 on the breadth-first search: a list of edges and the graph take the fast tier, the small hot array of parents
# comes too late. Traced exactly as it is, with the parents first, and with the edges freed as well; the fast tier holds a quarter
# of the footprint, 73 and 34 GB/s. Then what `lamina place` would do to the unmodified program. All numbers are models.
#   bench/workloads/placement_study.sh BUILD-FOLDER OUTPUT-FOLDER [SCALE]      default: 2^17 vertices, about two minutes
set -eu
export LC_ALL=C
if [ $# -lt 2 ] || [ ! -x "$1/workloads/workload_bfs" ]; then
  echo "usage: $0 BUILD-FOLDER OUTPUT-FOLDER [SCALE]" >&2
  exit 2
fi
build=$(realpath "$1")
mkdir -p "$2"
out=$(realpath "$2")
scale=${3:-17}
tiers=(--local 25 --bandwidth 73,34 --latency 111,202)

echo "| variant | R_access of the slow tier, search | whole run | time by bandwidth, ms | with latency, ms | faster by bandwidth | with latency |"
echo "|---|---|---|---|---|---|---|"
faster() { awk -v a="$1" -v b="$2" 'BEGIN {printf "%.1f %%", 100 * (a / b - 1)}'; }
first=
for variant in baseline reordered freed; do
  folder=$out/bfs$scale-$variant
  [ -d "$folder" ] || "$build/lamina" record --source trace --l1 32K,8 --l2 256K,8 --llc 512K,16 -o "$folder" -- \
    "$build/workloads/workload_bfs" "$scale" "$variant" > "$folder.out" 2> "$folder.err"
  "$build/lamina" place "$folder" "${tiers[@]}" > "$folder.place"
  row=$(awk '$1 == "search" && !search {search = $2} $1 == "(all)" {all = $2; bandwidth = $3; latency = $4}
    END {printf "%s %s %.2f %.2f", search, all, 1000 * bandwidth, 1000 * latency}' "$folder.place")
  read -r search all bandwidth latency <<< "$row"
  first=${first:-$bandwidth $latency}
  echo "| $variant | $search % | $all % | $bandwidth | $latency | $(faster "${first% *}" "$bandwidth") | $(faster "${first#* }" "$latency") |"
done
echo
echo "What lamina place advises for the baseline, and what it expects of it:"
sed -n '/^advice/,$p' "$out/bfs$scale-baseline.place" | sed 's/^/    /'
