#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The shared library defines lamina_ names and nothing else.
set -u
names=$(nm -D --defined-only "$LAMINA_SHARED" | awk '{print $3}')
[ "$(printf '%s\n' "$names" | grep -c '^lamina_')" -gt 10 ] || { echo "no lamina_ names in $LAMINA_SHARED"; exit 1; }
# A named OpenMP critical section is a symbol that the OpenMP library shares between libraries: its name must still be ours.
# clang makes one of its own for reductions.
foreign=$(printf '%s\n' "$names" | grep -v -e '^lamina_' -e '^\.gomp_critical_user_lamina_' -e '^\.gomp_critical_user_\.reduction')
[ -z "$foreign" ] || { echo "foreign names: $foreign"; exit 1; }
