#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Each public header compiles alone, as C17 and as C++17, without a warning.
set -u
failed=0
warnings='-Wall -Wextra -Wpedantic -Wundef -Werror'
cxx=$(command -v c++ || true)
for header in "$LAMINA_SOURCE"/include/lamina/*.h; do
  name=lamina/$(basename "$header")
  printf '#include <%s>\nint lamina_header_is_alone;\n' "$name" > alone.c
  cp alone.c alone.cc
  # shellcheck disable=SC2086 # the flags are words
  "$CC" -std=c17 $warnings -fsyntax-only -I"$LAMINA_SOURCE/include" alone.c || { echo "$name fails as C17"; failed=1; }
  [ -n "$cxx" ] || continue
  # shellcheck disable=SC2086
  "$cxx" -std=c++17 $warnings -fsyntax-only -I"$LAMINA_SOURCE/include" alone.cc || { echo "$name fails as C++17"; failed=1; }
done
[ -n "$cxx" ] || echo "C++17 was not tried: there is no c++"
exit $failed
