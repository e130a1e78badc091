#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The studies of SC23 on the workloads of this folder, with the exact tracer: scaling curves of each at 1x, 2x and 4x (the
# placement study is placement_study.sh). A few minutes; caches are small so that small inputs do not fit.
#   bench/workloads/study.sh BUILD-FOLDER OUTPUT-FOLDER
set -eu
if [ $# -ne 2 ]; then
  echo "usage: $0 BUILD-FOLDER OUTPUT-FOLDER" >&2
  exit 2
fi
build=$1
out=$2
lamina=$build/lamina
mkdir -p "$out"

trace() { # trace NAME COMMAND...
  name=$1
  shift
  [ -d "$out/$name" ] || "$lamina" record --source trace --l1 32K,8 --l2 256K,8 --llc 512K,16 -o "$out/$name" -- "$@" \
    > "$out/$name.out" 2> "$out/$name.err"
}

curves() { # curves TITLE SMALL MEDIUM LARGE
  echo "== $1"
  "$lamina" report "$out/$2" "$out/$3" "$out/$4" | grep -E 'share of the lines|footprint that holds|prefetching|points apart'
}

for scale in 15 16 17; do trace bfs$scale "$build/workloads/workload_bfs" $scale; done
for mib in 4 8 16; do trace lookup$mib "$build/workloads/workload_lookup" $mib $((mib * 250000)); done
for n in 320 452 640; do trace dense$n "$build/workloads/workload_dense" $n; done
for levels in 5 6 7; do trace multigrid$levels "$build/workloads/workload_multigrid" $levels 2; done
curves "breadth-first search" bfs15 bfs16 bfs17
curves "table lookup" lookup4 lookup8 lookup16
curves "dense factorisation" dense320 dense452 dense640
curves "multigrid" multigrid5 multigrid6 multigrid7
