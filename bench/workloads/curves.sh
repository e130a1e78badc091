#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Scaling curves of clock samples against exact ones: five workloads at 1x, 2x and 4x, each run once under the tracer (caches of 32 KiB,
# 256 KiB, 512 KiB, so that small inputs do not fit) and once plainly with 20 000 clock samples a second. Prints a Markdown table; the
# profiles stay in OUTPUT-FOLDER. A few minutes.
#   bench/workloads/curves.sh BUILD-FOLDER OUTPUT-FOLDER [BIN_KIB]      default: bins of 64 KiB
set -eu
export LC_ALL=C
if [ $# -lt 2 ] || [ ! -x "$1/workloads/compare_curves" ]; then
  echo "usage: $0 BUILD-FOLDER OUTPUT-FOLDER [BIN_KIB]" >&2
  exit 2
fi
build=$(realpath "$1")
mkdir -p "$2"
out=$(realpath "$2")
bin=${3:-64}
cd "$out"

box() { # box CELLS STEPS: a lattice-Boltzmann case
  cat > "box$1.yaml" << CASE
domain: {cells: [$1, $1, $1], length: 1 m}
fluid: {reynolds: 100, speed: 1 m/s}
lattice: d3q19
collision: bgk
precision: f64
boundaries: {all: wall, z+: {moving_wall: [1, 0, 0]}}
run: {steps: $2}
CASE
}

record() { # record NAME COMMAND...
  local name=$1
  shift
  [ -d "exact-$name" ] || "$build/lamina" record --source trace --l1 32K,8 --l2 256K,8 --llc 512K,16 -o "exact-$name" -- "$@" > "$name.out" 2>&1
  [ -d "clock-$name" ] || "$build/lamina" record --source clock --rate 20000 -o "clock-$name" -- "$@" >> "$name.out" 2>&1
}

row() { # row WORKLOAD INPUT COMMAND...
  local title=$1 input=$2 name
  shift 2
  name=$(echo "$title-$input" | tr -c 'A-Za-z0-9\n' '-')
  record "$name" "$@"
  "$build/workloads/compare_curves" "exact-$name" "clock-$name" "$bin" |
    awk -F '\t' -v title="$title" -v input="$input" '{printf "| %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", title, input, $1, $2, $3, $4, $5, $6, $7}'
}

echo "| workload | input | bins | samples a bin | distance to all accesses | to lines from memory | hottest tenth: accesses | lines | clock samples (95 % band) |"
echo "|---|---|---|---|---|---|---|---|---|"
for scale in 17 18 19; do row "breadth-first search" "2^$scale" "$build/workloads/workload_bfs" $scale; done
for mib in 4 8 16; do row "table lookup" "$mib MiB" "$build/workloads/workload_lookup" $mib $((mib * 4000000)); done
for n in 640 900 1280; do row "dense factorisation" "$n" "$build/workloads/workload_dense" $n; done
row multigrid 32^3 "$build/workloads/workload_multigrid" 5 80
row multigrid 64^3 "$build/workloads/workload_multigrid" 6 20
row multigrid 128^3 "$build/workloads/workload_multigrid" 7 6
for cells in 24 30 38; do
  box $cells 100
  row "lattice-Boltzmann D3Q19" "$cells^3" "$build/lamina" run "box$cells.yaml" --out "box$cells" --threads 2
  rm -rf "box$cells"
done
