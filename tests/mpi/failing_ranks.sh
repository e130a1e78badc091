# SPDX-License-Identifier: Apache-2.0
# What goes wrong on many ranks ends all of them, once, with the exit code of one process; a rank that is killed leaves nothing by
# halves, and the run goes on from its checkpoint.
set -u
fail() {
  echo "$*"
  exit 1
}
expect() { # CODE TEXT arguments: on three ranks
  code=$1 text=$2
  shift 2
  timeout 60 $MPIRUN -n 3 "$LAMINA" "$@" > run.out 2> run.err
  found=$?
  [ $found = "$code" ] || fail "lamina $*: exit code $found, not $code: $(cat run.err)"
  [ "$(grep -c "$text" run.err)" = 1 ] || fail "lamina $*: '$text' is not told once: $(cat run.err)"
}

cat > box.yaml <<'CASE'
domain: {cells: [24, 16, 12], length: 1}
fluid: {reynolds: 50, speed: 1}
lattice: d3q19
boundaries: {all: wall, z+: {moving_wall: [1, 0, 0]}}
run: {steps: 40}
output: [{fields: [velocity]}, {series: [mass], every: 0.05 s}]
CASE

expect 3 'nope.yaml' run nope.yaml
expect 2 'no-such-option' run box.yaml --no-such-option
expect 3 'colision' run box.yaml --set colision=bgk
expect 3 'at most 1 ranks with 12 partitions' run box.yaml --partitions 12
rm -rf out file
touch file
expect 1 'file' run box.yaml --out file/out
expect 1 'nothing to resume' run box.yaml --out never --resume
[ ! -e never ] || fail 'a folder was left behind'

# The first rank cannot write its fields.
rm -rf out && mkdir -p out/fields.vtkhdf
expect 1 'it is a folder' run box.yaml

# A lid far too fast: the same step and cell as one process finds.
cat > wild.yaml <<'CASE'
domain: {cells: [24, 16, 12], length: 1}
fluid: {viscosity: 0.00005, speed: 1}
lattice_speed: 0.28
lattice: d3q19
precision: f32
boundaries: {all: wall, z+: {moving_wall: [1, 0, 0]}}
run: {steps: 20000}
CASE
"$LAMINA" run wild.yaml --threads 1 --quiet --out wild > one.out 2> one.err
code=$?
[ $code = 5 ] || fail "the wild flow ended with $code: $(cat one.err)"
sentence=$(sed -n 's/.*\(non-finite in step [0-9]* at cell ([0-9, ]*)\).*/\1/p' one.err)
[ -n "$sentence" ] || fail "no step and cell in: $(cat one.err)"
expect 5 "$sentence" run wild.yaml --quiet --out wild

# Stopped by a signal: a checkpoint, then on with another number of ranks.
cat > long.yaml <<'CASE'
domain: {cells: [24, 16, 12], length: 1}
fluid: {reynolds: 50, speed: 1}
lattice: d3q19
boundaries: {all: wall, z+: {moving_wall: [1, 0, 0]}}
run: {until: 1000000 s}
output: [{fields: [velocity]}]
checkpoint: {every: 2 s}
CASE
ranks_of() { # process numbers of the ranks started by mpirun $1
  ps -o pid= --ppid "$1" | tr -d ' '
}
rm -rf out
$MPIRUN -n 3 "$LAMINA" run long.yaml --quiet > run.out 2> run.err &
launcher=$!
for i in $(seq 100); do [ -s out/checkpoint.h5 ] && break; sleep 0.2; done
kill -TERM $(ranks_of $launcher | tail -1)
wait $launcher
code=$?
[ $code = 1 ] || fail "SIGTERM to one rank: exit code $code: $(cat run.err)"
[ "$(grep -c 'stopped at step' run.err)" = 1 ] || fail "SIGTERM: $(cat run.err)"
[ ! -e out/fields.vtkhdf ] || fail 'fields of a run that was stopped'

# A rank that is killed: the launcher ends the others, the checkpoint is whole, and its end is the same as without.
$MPIRUN -n 3 "$LAMINA" run long.yaml --quiet --resume > run.out 2> run.err &
launcher=$!
sleep 3
kill -KILL $(ranks_of $launcher | sed -n 2p)
wait $launcher
code=$?
[ $code != 0 ] || fail 'a killed rank is a success'
[ -z "$(pgrep -P $launcher)" ] || fail 'ranks are left'
[ ! -e out/fields.vtkhdf ] || fail 'fields of a run that was killed'
"$LAMINA" run long.yaml --quiet --resume --threads 1 > run.out 2> run.err &
alone=$!
sleep 1
kill -TERM $alone
wait $alone
step=$(sed -n 's/.*stopped at step \([0-9]*\) of.*/\1/p' run.err)
[ -n "$step" ] || fail "cannot go on after a killed rank: $(cat run.err)"
end=$((step + 50))
timeout 60 $MPIRUN -n 2 "$LAMINA" run long.yaml --quiet --resume --set run.until=null --set run.steps=$end > run.out 2> run.err ||
  fail "cannot go on with two ranks: $(cat run.err)"
"$LAMINA" run long.yaml --quiet --threads 1 --out whole --set run.until=null --set run.steps=$end > run.out 2> run.err
cmp out/checkpoint.h5 whole/checkpoint.h5 || fail 'a killed and resumed run is another flow'
echo ok
