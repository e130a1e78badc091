#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# make check: builds with and without sanitizers, runs all tests, and checks the house rules. Goes on after a failure and ends
# with a tally of everything that was tried, which is also left in build/check.tally.
set -u
cd "$(dirname "$0")/.." || exit 1
scripts/setup.sh --check || exit 1
mkdir -p build
jobs=${JOBS:-$(nproc)}
passed=0 failed=0 skipped=0

# One thing that passes or fails as a whole: step "what it is" command...
step() {
  what=$1
  shift
  if "$@" > build/check.log 2>&1; then
    passed=$((passed + 1))
    echo "ok      $what"
  else
    failed=$((failed + 1))
    echo "FAILED  $what"
    tail -n 60 build/check.log
    return 1
  fi
}

# Attribute NAME of the first <testsuite> in a CTest report.
attribute() {
  sed -n "s/.*[[:space:]]$2=\"\([0-9]*\)\".*/\1/p" "$1" | head -n 1
}

# All cases of a preset; each one counts.
tests() {
  preset=$1
  report=$PWD/build/$preset/tests.xml
  rm -f "$report"
  echo "        tests, $preset:"
  ctest --preset "$preset" -j "$jobs" --output-junit "$report" > build/check.log 2>&1
  if [ ! -s "$report" ]; then
    failed=$((failed + 1))
    tail -n 20 build/check.log
    return
  fi
  total=$(attribute "$report" tests)
  bad=$(attribute "$report" failures)
  absent=$(( $(attribute "$report" skipped) + $(attribute "$report" disabled) ))
  passed=$((passed + total - bad - absent))
  failed=$((failed + bad))
  skipped=$((skipped + absent))
  echo "        $((total - bad - absent)) passed, $bad failed, $absent skipped"
  [ "$bad" -eq 0 ] || sed -n '/^The following tests FAILED/,/^Errors/p' build/check.log
  [ "$bad" -eq 0 ] || grep -E '\[  ERROR   \]|\[   LINE   \]|^[0-9-]+:.*Error' build/check.log | head -n 40
  [ "$absent" -eq 0 ] || sed -n '/^The following tests did not run/,/^$/p' build/check.log
}

step 'house rules (scripts/check.py)' python3 scripts/check.py
step 'format (clang-format)' scripts/format.sh --check
if step 'build, release' make --no-print-directory build; then
  tests release
  step 'static analysis (cppcheck)' scripts/cppcheck.sh
  step 'static analysis (clang-tidy)' scripts/tidy.sh
fi
if step 'configure, sanitizers' cmake --preset asan && step 'build, sanitizers' cmake --build --preset asan -j "$jobs"; then
  tests asan
fi
if step 'configure, ranks' cmake --preset mpi && step 'build, ranks' cmake --build --preset mpi -j "$jobs"; then
  tests mpi
fi
echo "$passed passed, $failed failed, $skipped skipped" | tee build/check.tally
[ "$failed" -eq 0 ]
