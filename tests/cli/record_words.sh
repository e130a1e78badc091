# SPDX-License-Identifier: Apache-2.0
# What describes the tiers of a model needs the model, and an input that is not there ends with exit code 3 in each command.
try lamina record --bandwidth 100,50 -- true
try lamina record --latency 100,200 -- true
try lamina record --machine other.json -- true
for command in run plan render report place voxelize schedule; do
  lamina $command none > log 2>&1
  echo "$command: $?"
done
