# SPDX-License-Identifier: Apache-2.0
# Mistakes in the command line are told with what is allowed.
try lamina doctor --json=yes
try lamina doctor surplus
try lamina doctor --root
try lamina doctor --root ''
try lamina doctor --root /does/not/exist
try lamina help --man=1
try lamina help help doctor surplus
