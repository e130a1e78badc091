# SPDX-License-Identifier: Apache-2.0
# A slip gets the nearest word, exit code 2, and nothing on the standard output.
try lamina docter
try lamina hlep
try lamina voxelise-everything-now
try lamina ''
try lamina doctor --jsn
try lamina doctor --jsn=1
try lamina doctor -x
try lamina help docter
try lamina help --completion bsh
try lamina bench machin
