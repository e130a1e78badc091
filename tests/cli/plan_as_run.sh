# SPDX-License-Identifier: Apache-2.0
# What a run refuses, the plan refuses in the same words, with the place in the file; what surprises is told by both.
cat > channel.yaml <<'CASE'
domain: {cells: [48, 32], length: 1.5}
fluid: {reynolds: 10, speed: 1 m/s, reference_length: 1 m}
boundaries:
  all: wall
  x-: {velocity: [1, 0]}
  x+: outflow
bodies: [{name: disc, cylinder: {centre: [0.5, 0.5], radius: 0.1}}]
grid: sparse
run: {steps: 4}
CASE
both() {
  try lamina plan "$@"
  try lamina run "$@" --quiet
}
refused() {
  both channel.yaml --set "$@"
}
refused partitions=5
cat > jumps.yaml <<'CASE'
domain: {cells: [48, 32], length: 1.5}
fluid: {reynolds: 10, speed: 1 m/s}
boundaries: {all: wall}
grid:
  kind: levels
  levels: 3
  refine:
    - {box: {from: [0.5, 0.25], to: [0.75, 0.5]}, level: 1}
run: {steps: 4}
CASE
both jumps.yaml
both jumps.yaml --set 'grid.refine=[{distance_to_walls: 1}]'
# ---- what comes in and cannot leave
for faces in '{all: wall, x-: {velocity: [1, 0]}, x+: {velocity: [-1, 0]}}' '{all: wall, x-: {velocity: [1, 0]}, x+: {velocity: [1, 0]}}'; do
  lamina plan channel.yaml --set "boundaries=$faces" | grep warning || echo "no warning: what comes in leaves"
done
# ---- directions, and times in steps
refused 'forces=[{every: 1 steps, drag: [1, 0, 0], lift: [-2, 0, 0]}]'
refused 'forces=[{every: 1 steps, lift: [3, 0, 0]}]'
lamina run channel.yaml --quiet --set 'forces=[{every: 1 steps, from: 3 steps}]' --set 'statistics={from: 3 steps, every: 1 steps}' \
  --set run.steps=6 --set checkpoint.every='3 steps' --out steps | grep -o 'm/s, 4 samples'
rm steps/statistics.sums
try sh -c "lamina run channel.yaml --quiet --set 'statistics={from: 3 steps, every: 1 steps}' --set run.steps=9 --out steps --resume > log"
