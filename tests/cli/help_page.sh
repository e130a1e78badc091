# SPDX-License-Identifier: Apache-2.0
# One page of help, whole; and the three ways to ask for it are one.
try lamina help help
lamina help --help > b.out
lamina help help | cmp - b.out && lamina help -h | cmp - b.out && echo 'all three agree'
