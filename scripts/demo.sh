#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the cavity that ships: prints how it compares with the literature, and where its pictures lie.
set -eu
cd "$(dirname "$0")/.."
out=lamina-out/demo
rm -rf "$out"
build/lamina run cases/cavity2d.yaml --out "$out"
echo
echo "Look at $out/speed.png, and at the comparison in $out/ghia-re100-u.png."
echo "Next: 'build/lamina' lists the commands, 'build/lamina doctor' says what this machine offers."
