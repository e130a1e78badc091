#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# golden.sh NAME.sh: runs the script and compares what it printed with NAME.out. In the script `lamina` is the program under
# test, and `try COMMAND...` runs one command and shows its standard output, its standard error and its exit code.
set -u
script=$1
expected=${script%.sh}.out
PATH=$LAMINA_FOLDER:$PATH
export PATH

try() {
  echo "\$ $*"
  "$@" > try.out 2> try.err
  code=$?
  sed 's/^/  /' try.out
  sed 's/^/! /' try.err
  echo "= $code"
}

# shellcheck source=/dev/null
(. "$script") > actual.out 2>&1
status=$?
[ $status -ne 77 ] || { cat actual.out; exit 77; }
if [ "${LAMINA_GOLDEN-}" = write ]; then
  cp actual.out "$expected"
  exit 0
fi
diff -u "$expected" actual.out && [ $status -eq 0 ]
