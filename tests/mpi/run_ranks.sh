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
cat > tunnel.yaml <<'CASE'
title: A spinning ball in a tunnel
domain: {cells: [32, 16, 22], length: 2}
fluid: {reynolds: 40, speed: 1}
grid: sparse
lattice: d3q19
collision: regularized
curved: bouzidi
bodies:
  - {name: ball, sphere: {centre: [0.6, 0.5, 0.7], radius: 0.23}, spin: [0, 0, 1]}
boundaries: {all: slip, x-: {velocity: {at: [1, 0, 0], ramp: 0.05 s}}, x+: outflow, y-: wall}
run: {steps: 60}
forces:
  - {body: ball, every: 4 steps}
probes:
  - {at: [1.3, 0.5, 0.7], every: 4 steps}
statistics: {from: 0.05 s, every: 4 steps}
output:
  - {fields: [velocity, pressure, density]}
  - {slice: {y: 0.3}, image: speed, every: 0.1 s}
  - {series: [mass, momentum, kinetic_energy, max_speed, enstrophy], every: 0.025 s}
  - {profile: {x: 1.5, y: 0.3}, value: velocity_x, at: end}
checkpoint: {every: 0.1 s}
CASE
sed -e 's/cells: .*, length/cells: [20, 13], length/; s/d3q19/d2q9/; s/z+: .*}}/y+: {moving_wall: [1, 0]}}/; s/slice: {y: 0.3}/slice: {}/; s/{x: 0.5, y: 0.3}/{x: 0.5}/' box.yaml > flat.yaml

rm -rf out-*
for case in box flat tunnel; do
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

ranks 2 tunnel.yaml --out out-parts --partitions 3 || fail "2 ranks of 3 parts: $(cat run.err)"
same out-tunnel out-parts fields.vtkhdf

# Half of it on N ranks, the rest on M.
halves() { # CASE N M STEPS FILES: half on N ranks, the rest on M ranks with other slabs
  case=$1 n=$2 m=$3 half=$4
  shift 4
  rm -rf out-half
  ranks "$n" $case.yaml --out out-half --set run.steps="$half" || fail "$case: first half on $n ranks: $(cat run.err)"
  ranks "$m" $case.yaml --out out-half --resume --partitions 2 || fail "$case: second half on $m ranks: $(cat run.err)"
  for file in "$@"; do
    cmp out-$case/$file out-half/$file || fail "$case: $n ranks, then $m: not the same flow"
  done
}
for pair in 2:3 3:1 1:4 4:2; do
  halves box ${pair%:*} ${pair#*:} 35 series.csv profile-velocity_x-z.csv checkpoint.h5
done
for pair in 3:2 1:3 4:1; do
  halves tunnel ${pair%:*} ${pair#*:} 36 series.csv force-ball.csv probe-1.csv statistics.vtkhdf checkpoint.h5
done
echo ok
