# SPDX-License-Identifier: Apache-2.0
# What is wrong in a file of levels is said at once, before anything is measured.
try lamina inject --levels missing.txt
printf '1 50\n-1 foo\n' > levels.txt
try lamina inject --levels levels.txt
: > empty.txt
try lamina inject --levels empty.txt
try lamina inject --levels levels.txt --loi 10
[ -e lamina-inject.json ] && echo "it calibrated"
true
