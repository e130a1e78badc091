# SPDX-License-Identifier: Apache-2.0
# Pictures and comparisons of a run, and what it says to what it cannot do.
rm -rf out pictures
cat > small.yaml <<'END'
title: Small cavity
domain: {cells: [16, 16], length: 1 m}
fluid: {reynolds: 100, speed: 1 m/s}
lattice: d2q9
collision: trt
boundaries:
  all: wall
  y+: {moving_wall: [1, 0]}
run: {steps: 20}
output:
  - {fields: [velocity, pressure]}
END
if ! lamina run small.yaml --out out > run.log 2>&1; then
  cat run.log
  grep -q 'built without' run.log && exit 77
  exit 1
fi
lamina render out/fields.vtkhdf --out pictures --field speed --field vorticity --streamlines --pixels 64 > log ||
  echo 'no pictures'
lamina render out/fields.vtkhdf --out pictures --vti
ls pictures
try lamina render out/fields.vtkhdf --out pictures --field heat
try lamina render out/fields.vtkhdf --out pictures --slice w=1
try lamina render out/fields.vtkhdf --out pictures --slice x=7
try lamina render out/fields.vtkhdf --out pictures --range 1:1
try lamina render out/fields.vtkhdf --out pictures --compare ghia-re100-z
try lamina render out/fields.vtkhdf --out pictures --compare albensoeder-re1000-u
try lamina render out/run.json
try lamina render none.vtkhdf
head -c 5000 out/fields.vtkhdf > cut.vtkhdf
lamina render cut.vtkhdf > log 2>&1
echo "cut short: exit $?, $(grep -c 'is cut short' log) line"
lamina render out/fields.vtkhdf --out pictures --compare ghia-re100-u --speed 1 > log 2>&1
echo "after 20 steps: exit $?, $(grep -c 'failed' log) line"
lamina render out/fields.vtkhdf --out pictures --json --slice z=0.03 | grep -c '"field": "speed"'
