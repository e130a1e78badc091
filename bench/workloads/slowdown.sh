#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What the exact tracer costs: user CPU of a workload run plain, under valgrind --tool=none (the floor of any Valgrind tool), under
# the tracer and under cachegrind with the same last level, in turns, so that a slow moment meets all of them. Prints the median of
# each with its range, and the ratios of the pairs.
#   bench/workloads/slowdown.sh BUILD-FOLDER [ROUNDS [SWEEPS LOOKUPS]]      default: 3 rounds of 20 sweeps, 20000000 lookups
set -eu
export LC_ALL=C TIMEFORMAT=%U
if [ $# -lt 1 ] || [ ! -x "$1/workloads/workload_mixed" ]; then
  echo "usage: $0 BUILD-FOLDER [ROUNDS [SWEEPS LOOKUPS]]" >&2
  exit 2
fi
build=$(realpath "$1")
rounds=${2:-3}
program=("$build/workloads/workload_mixed" "${3:-20}" "${4:-20000000}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

take() { # take COLUMN COMMAND...: appends the user CPU seconds of the command to the column's file
  local column=$1
  shift
  { time "$@" > "$work/out" 2> "$work/err"; } 2>> "$work/$column"
}

for ((round = 0; round < rounds; round++)); do
  take native "${program[@]}"
  take none valgrind --tool=none -q "${program[@]}"
  take tracer "$build/lamina" record --source trace --l1 32K,8 --l2 512K,8 --llc 32M,16 -o "$work/profile$round" -- "${program[@]}"
  [ -n "${LAMINA_NO_CACHEGRIND:-}" ] ||
    take cachegrind valgrind --tool=cachegrind --cache-sim=yes -q --D1=32768,8,64 --LL=33554432,16,64 \
      --cachegrind-out-file="$work/cachegrind.out" "${program[@]}"
done

summary() { # median, least, most of a column of numbers
  sort -g | awk '{v[NR] = $1} END {m = NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2; printf "%.2f (%.2f to %.2f)", m, v[1], v[NR]}'
}
echo "${program[*]##*/}, $rounds rounds: user CPU seconds, median (least to most)"
for column in native none tracer cachegrind; do
  [ ! -s "$work/$column" ] || printf '  %-12s %s\n' "$column" "$(summary < "$work/$column")"
done
for pair in "tracer none" "tracer native" "cachegrind tracer"; do
  read -r over under <<< "$pair"
  [ ! -s "$work/$over" ] || printf '  %-22s %s\n' "$over / $under" "$(paste "$work/$over" "$work/$under" | awk '{print $1 / $2}' | summary)"
done
