# SPDX-License-Identifier: Apache-2.0
# Output that could not be written is not success.
[ -c /dev/full ] || { echo 'no /dev/full'; exit 77; }
for command in '--version' '--help' 'help --man' 'doctor' 'doctor --json'; do
  # shellcheck disable=SC2086 # words
  lamina $command > /dev/full 2> try.err
  echo "lamina $command: exit $?, $(grep -c 'No space left on device\|could not be written' try.err) line of complaint"
done
