# SPDX-License-Identifier: Apache-2.0
# The completion in a real bash, asked as readline asks it.
command -v bash > /dev/null || { echo 'no bash'; exit 77; }
lamina help --completion bash > completion.bash
complete_words() {
  # shellcheck disable=SC2016 # expanded by the inner bash
  bash -c '. ./completion.bash; COMP_WORDS=("$@"); COMP_CWORD=$(( $# - 1 )); _lamina; echo "${COMPREPLY[*]}"' bash "$@"
}
echo "doc: $(complete_words lamina doc)"
echo "doctor --: $(complete_words lamina doctor --)"
echo "help --completion: $(complete_words lamina help --completion '')"
echo "bench mach: $(complete_words lamina bench mach)"
