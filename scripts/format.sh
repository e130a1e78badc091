#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Formats the given C files, or all of the repository. --check changes nothing and fails when a file would change.
set -eu
cd "$(dirname "$0")/.."
mode='-i'
if [ "${1-}" = --check ]; then
  mode='--dry-run --Werror'
  shift
fi
# shellcheck disable=SC2086 # the mode is words
if [ $# -eq 0 ]; then
  git ls-files -z '*.c' '*.h' | xargs -0 clang-format $mode
  exit
fi
# shellcheck disable=SC2086 # the mode is words
clang-format $mode "$@"
