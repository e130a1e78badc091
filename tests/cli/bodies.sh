# SPDX-License-Identifier: Apache-2.0
# Bodies of a case: what plan says of them, and one line with file, line and key for what is wrong.
rm -rf work && mkdir work && cd work
cp "$LAMINA_SOURCE"/tests/data/stl/k1_01_solid_header.stl cube.stl
cp "$LAMINA_SOURCE"/tests/data/stl/k1_07_hole.stl hole.stl
cp "$LAMINA_SOURCE"/tests/data/stl/k1_12_inward.stl inward.stl
cat > flow.yaml <<'END'
title: Three bodies
domain: {cells: [48, 32, 32], length: 1.5 m}
fluid: {reynolds: 20, speed: 1 m/s, reference_length: 0.25 m}
boundaries: {all: periodic}
bodies:
  - {sphere: {centre: [0.5, 0.5, 0.5], radius: 12.5 cm}, name: ball}
  - {box: {from: [1, 0.25, 0.25], to: [1.25, 0.5, 0.5]}, name: brick}
  - stl: cube.stl
    scale: 0.025
    at: [0.125, 0.625, 0.625]
run: {steps: 10}
END
lamina plan flow.yaml | sed -n '/cells, 10 steps/,/fluid/p'
lamina plan flow.yaml --json | grep -A 5 '"name": "brick"'
# The folder of the case counts, not that of the shell.
(cd / && lamina plan "$OLDPWD/flow.yaml" | grep cube)
for change in 'bodies.0.sphere.radius=-1' 'bodies.0.sphere={radius: 1}' 'bodies.0.ball=1' 'bodies.1.sphere={}' \
  'bodies.1.box.to=[1, 1, 1]' 'bodies.1.scale=2' 'bodies.0.rotate=[0, 0, 1]' 'bodies.2.stl=none.stl' 'bodies.2.stl=hole.stl' \
  'bodies.2.at=[9, 9, 9]' 'bodies.0.sphere.radius=3' 'bodies=3' 'bodies=[{}]' 'bodies.0={cylinder: {radius: 1}}' \
  'curved=round'; do
  try lamina plan flow.yaml --set "$change"
done
lamina plan flow.yaml --set bodies.2.scale=25 2>&1 | grep 'no unit'
lamina plan flow.yaml --set bodies.0.sphere.radius=0.01 2>&1 | grep 'too thin'
lamina plan flow.yaml --set bodies.2.stl=inward.stl 2>&1 | grep 'face inward'
