# SPDX-License-Identifier: Apache-2.0
# `mpirun -n N lamina run` is the same command: the same bytes in every output, one voice, and a checkpoint of N ranks goes on with
# M ranks and other slabs as if nothing had happened.
set -u
fail() {
  echo "$*"
  exit 1
}
same() { # FOLDER FOLDER [NAME]: every file but run.json, which names time and machine, and NAME
  for file in "$1"/*; do
    name=$(basename "$file")
    [ "$name" = run.json ] || [ "$name" = "${3-}" ] || cmp "$file" "$2/$name" || fail "$1 and $2 differ"
  done
}
ranks() { # N arguments: runs, and keeps what it prints
  count=$1
  shift
  $MPIRUN -n "$count" "$LAMINA" run "$@" --threads 1 --quiet > run.out 2> run.err
}

cat > box.yaml <<'CASE'
title: A driven box
domain: {cells: [20, 12, 11], length: 1}
fluid: {reynolds: 50, speed: 1}
lattice: d3q19
collision: trt
boundaries: {all: wall, z+: {moving_wall: [1, 0, 0]}}
run: {steps: 60}
output:
  - {fields: [velocity, pressure, density]}
  - {slice: {y: 0.3}, image: speed, every: 0.1 s}
  - {series: [mass, momentum, kinetic_energy, max_speed, enstrophy], every: 0.025 s}
  - {profile: {x: 0.5, y: 0.3}, value: velocity_x, at: end}
  - {compare: mass, gate: 1e-6}
checkpoint: {every: 0.1 s}
CASE
sed -e 's/cells: .*, length/cells: [20, 13], length/; s/d3q19/d2q9/; s/z+: .*}}/y+: {moving_wall: [1, 0]}}/; s/slice: {y: 0.3}/slice: {}/; s/{x: 0.5, y: 0.3}/{x: 0.5}/' box.yaml > flat.yaml

rm -rf out-*
for case in box flat; do
  "$LAMINA" run $case.yaml --threads 1 --quiet --out out-$case > run.out 2> run.err || fail "one process: $(cat run.err)"
  for n in 2 3 4; do
    ranks $n $case.yaml --out out-$case-$n || fail "$n ranks: $(cat run.err)"
    same out-$case out-$case-$n
    [ "$(grep -c '^done' run.out)" = 1 ] || fail "$n ranks do not speak with one voice: $(cat run.out)"
    grep -q "\"ranks\": $n" out-$case-$n/run.json || fail "run.json does not know of $n ranks"
    [ -z "$(find out-$case-$n -name '*.part')" ] || fail "half a file is left"
  done
done

# Slabs of slabs. The hash of the case in the fields names the option, so the fields differ in that.
ranks 2 box.yaml --out out-slabs --partitions 3 || fail "2 ranks of 3 slabs: $(cat run.err)"
same out-box out-slabs fields.vtkhdf

# Half of it on N ranks, the rest on M.
for pair in 2:3 3:1 1:4 4:2; do
  n=${pair%:*} m=${pair#*:}
  rm -rf out-half
  ranks "$n" box.yaml --out out-half --set run.steps=35 || fail "first half on $n ranks: $(cat run.err)"
  ranks "$m" box.yaml --out out-half --resume --partitions 2 || fail "second half on $m ranks: $(cat run.err)"
  for file in series.csv profile-velocity_x-z.csv checkpoint.h5; do
    cmp out-box/$file out-half/$file || fail "$n ranks, then $m: not the same flow"
  done
done
echo ok
