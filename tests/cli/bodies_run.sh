# SPDX-License-Identifier: Apache-2.0
# A run with bodies: its files say which cells are solid, pictures show them grey, and a checkpoint knows them.
rm -rf work && mkdir work && cd work
cat > disc.yaml <<'END'
title: Disc
domain: {cells: [48, 32], length: 1.5 m}
fluid: {reynolds: 20, speed: 1 m/s, reference_length: 0.25 m}
boundaries: {all: periodic, y-: wall, y+: wall}
force: [0.05, 0, 0]
bodies: [{cylinder: {centre: [0.5, 0.5], radius: 0.125}, name: disc}]
curved: bouzidi
run: {steps: 40}
output: [{fields: [velocity]}, {slice: {}, image: speed}]
checkpoint: {every: 20 steps}
END
if ! lamina run disc.yaml --out out > run.log 2>&1; then
  cat run.log
  grep -q 'built without' run.log && exit 77
  exit 1
fi
ls out
lamina plan disc.yaml | grep 'solid cells'
lamina render out/fields.vtkhdf --field body --json | grep '"data_'
lamina render out/fields.vtkhdf --field speed --json | grep -c '"data_low": 0.0,' # none: solid cells have no value
lamina run disc.yaml --out out --resume > again.log 2>&1 && echo 'resumes'
lamina run disc.yaml --out out --resume --set bodies.0.cylinder.radius=0.13 > other.log 2>&1
echo "another radius: exit $?, $(grep -c 'belongs to another case' other.log) line"
