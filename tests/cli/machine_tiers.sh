# SPDX-License-Identifier: Apache-2.0
# A file of tiers is an input file: its faults are exit 3, with its name.
try lamina machine --inspect --tiers missing.json
mkdir -p folder
try lamina machine --inspect --tiers folder
printf '{"tiers": [{"name": "a", "nodes": "x"}]}' > letters.json
try lamina machine --inspect --tiers letters.json
printf '{"tiers": [' > cut.json
try lamina machine --inspect --tiers cut.json
: > empty.json
try lamina machine --inspect --tiers empty.json
printf '{"tiers": [{"name": "a", "nodes": "4000"}]}' > other.json
try lamina machine --inspect --tiers other.json
