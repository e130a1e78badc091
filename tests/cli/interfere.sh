# SPDX-License-Identifier: Apache-2.0
# What is wrong is said before anything is calibrated.
try lamina interfere
try lamina interfere --
try lamina interfere --levels 0,5x -- true
try lamina interfere --levels 0..200 -- true
try lamina interfere --levels 50..0 -- true
try lamina interfere --shares 0 -- true
try lamina interfere --shares '' -- true
try lamina interfere --runs 0 -- true
try lamina interfere -- no-such-program-at-all
lamina inject --loi 10 --mem-node 77 2>&1 | sed 's/ are .*/ are ./'
try lamina inject --loi 10 --hold --fixed
[ -e lamina-inject.json ] && echo "it calibrated"
true
