#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# cppcheck over the sources of the library and the program, from the compilation database of the release build. The generated
# kernel files are left out: the same header compiled for nine and for 27 velocities is taken for one.
set -eu
cd "$(dirname "$0")/.."
cache=build/cppcheck
mkdir -p "$cache"
cppcheck --project=build/release/compile_commands.json --cppcheck-build-dir="$cache" --quiet --error-exitcode=1 \
  --enable=warning,portability --inline-suppr --suppress=missingIncludeSystem --suppress=invalidPointerCast --suppress=unknownMacro \
  -j "${JOBS:-$(nproc)}" --file-filter='src/*'
