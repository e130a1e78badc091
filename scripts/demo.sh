#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the cavity that ships and says where the picture lies.
set -eu
cd "$(dirname "$0")/.."
out=lamina-out/demo
build/lamina run cases/cavity2d.yaml --out "$out"
picture=$(find "$out" -name '*.png' | sort | tail -n 1)
echo
echo "All files: $out"
[ -z "$picture" ] || echo "The last picture: $picture"
