# SPDX-License-Identifier: Apache-2.0
# Profiles and machine files are input files: exit 3, with the name.
try lamina report missing
mkdir -p empty
try lamina report empty
printf 'lamina-profile 99\n' > newer.profile
try lamina report newer.profile
printf 'lamina-profile 1\nsource clock\n' > cut.profile
try lamina report cut.profile
printf 'not a profile\n' > other.profile
try lamina report other.profile
