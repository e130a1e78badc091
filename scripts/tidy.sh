#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# clang-tidy over the sources of the library and the program, or over the given files, from the release build's database.
set -eu
cd "$(dirname "$0")/.."
# The database without what only gcc understands.
mkdir -p build/tidy
sed 's/ -fno-tree-loop-distribute-patterns//g' build/release/compile_commands.json > build/tidy/compile_commands.json
# Sources that this build leaves out (of MPI, say) cannot be read without its headers.
list() {
  if [ $# -gt 0 ]; then
    printf '%s\0' "$@"
  else
    git ls-files 'src/**/*.c' | while read -r file; do
      grep -q "\"[^\"]*/$file\"" build/tidy/compile_commands.json && printf '%s\0' "$file"
    done
  fi
}
# "N warnings generated" on stderr counts those of system headers, which are not shown.
list "$@" | xargs -0 -P "${JOBS:-$(nproc)}" -n 4 clang-tidy -p build/tidy --quiet 2> build/tidy/log || {
  grep -v 'warnings\{0,1\} generated' build/tidy/log >&2
  exit 1
}
