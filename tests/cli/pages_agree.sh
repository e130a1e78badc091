# SPDX-License-Identifier: Apache-2.0
# Every command has a page; every option on it is in the man page and in the completion.
lamina help --man > page.1
lamina help --completion bash > completion.bash
bash -n completion.bash || echo 'the completion is no bash'
if command -v man > /dev/null; then
  man --warnings -E UTF-8 -l -Tutf8 -Z page.1 2>&1 > /dev/null | grep . && echo 'the man page has warnings'
fi
lamina --help | sed -n 's/^  \([a-z]*\)  .*/\1/p' > commands
[ "$(wc -l < commands)" -ge 3 ] || echo 'hardly any command is listed'

agree() {
  lamina help "$@" > page.txt || echo "no help for $*"
  grep -q "^\.SS lamina $*\( \|$\)" page.1 || echo "the man page lacks '$*'"
  sed -n 's/^  \(-., \)\{0,1\}--\([a-z0-9-]*\).*/\2/p' page.txt | grep -v '^help$' | while read -r option; do
    escaped=$(printf '%s' "--$option" | sed 's/-/\\\\-/g')
    sed -n "/^\.SS lamina $*\( \|$\)/,/^\.S[SH] /p" page.1 | grep -q "^\.B.* *$escaped" || echo "the man page of '$*' lacks --$option"
    grep -q -- "'$*').*--$option" completion.bash || echo "the completion of '$*' lacks --$option"
  done
}
while read -r command; do
  agree "$command"
  lamina help "$command" | sed -n '/^Usage.* NAME/,$ s/^  \([a-z]*\)  .*/\1/p' > children
  while read -r child; do agree "$command" "$child"; done < children
done < commands
echo 'checked'
