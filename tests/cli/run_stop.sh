# SPDX-License-Identifier: Apache-2.0
# A signal ends a run with a checkpoint; --resume goes on from it; the results of a run that was killed are not there by halves.
cat > long.yaml <<'CASE'
domain: {cells: [48, 48], length: 1}
fluid: {reynolds: 100, speed: 1}
boundaries: {all: wall, y+: {moving_wall: [1, 0]}}
run: {until: 1000000 s}
output: [{fields: [velocity]}, {series: [mass], every: 10 s}]
CASE
rm -rf out
for signal in INT TERM; do
  lamina run long.yaml --threads 1 --quiet > run.out 2> run.err &
  sleep 1
  kill -$signal $!
  wait $!
  echo "$signal: exit code $?"
  sed 's/step [0-9]* of [0-9]*/step N of N/' run.err
  test -s out/checkpoint.h5 && echo "a checkpoint is there"
  test -e out/fields.vtkhdf || echo "no fields yet"
  ls out | grep part
done
step=$(tail -1 out/series.csv | cut -d, -f1)
lamina run long.yaml --threads 1 --quiet --resume --set run.until=null --set run.steps=$((step + 100000)) > run.out 2> run.err
echo "resumed: exit code $?"
test -s out/fields.vtkhdf && echo "fields are there"
grep -c '^[0-9]' out/series.csv | awk '{ print ($1 > 1 ? "the series goes on" : "the series is short") }'
