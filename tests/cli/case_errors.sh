# SPDX-License-Identifier: Apache-2.0
# A wrong case ends in one line with file, line, value, what is allowed and the way out, and exit code 3.
cat > box.yaml <<'CASE'
domain: {cells: [16, 16], length: 1}
fluid:
  reynolds: 10
  speed: 1 m/s
boundaries: {all: wall, y+: {moving_wall: [1, 0]}}
run: {steps: 10}
CASE
sed 's/reynolds: 10/reynolds: -5/' box.yaml > negative.yaml
sed 's/reynolds/reynold/' box.yaml > unknown.yaml
printf 'run: {steps: 20}\n' | cat box.yaml - > twice.yaml
: > empty.yaml
printf 'a\0b' > binary.yaml
mkdir -p folder.yaml
for name in negative unknown twice empty binary folder absent; do
  try lamina run $name.yaml
done
try lamina plan box.yaml --set lattice_speed=1
try lamina plan box.yaml --set domain.cells='[16, 0]'
try lamina plan box.yaml --set fluid.speed=1e400
try lamina plan box.yaml --set fluid
try lamina run box.yaml --layout tiled
try lamina run box.yaml --partitions 17
try sh -c "lamina run box.yaml --out /dev/null/out > /dev/null"
try sh -c "lamina run box.yaml --resume --out never > /dev/null"
try lamina run
try lamina run box.yaml surplus.yaml
