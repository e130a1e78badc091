/* SPDX-License-Identifier: Apache-2.0 */
/* Completion for bash, from the tables of commands and options: words are known when the script is made, so completing
 * starts no program. */
#include <stdio.h>

#include "cli.h"

static void print_words(FILE *stream, const lmi_command *command)
{
  for (const lmi_command *const *child = command->children; child != NULL && *child != NULL; child++)
    fprintf(stream, "%s ", (*child)->name);
  for (const lmi_option *option = command->options; option != NULL && option->name != NULL; option++)
    fprintf(stream, "--%s ", option->name);
  fputs("--help", stream);
}

static void print_choices(FILE *stream, const lmi_command *command, const char *path)
{
  for (const lmi_option *option = command->options; option != NULL && option->name != NULL; option++) {
    if (option->kind != LMI_KIND_CHOICE)
      continue;
    fprintf(stream, "    '%s/--%s') words='", path, option->name);
    for (size_t i = 0; option->choices[i] != NULL; i++)
      fprintf(stream, "%s%s", i > 0 ? " " : "", option->choices[i]);
    fputs("' ;;\n", stream);
  }
}

static void for_each_path(FILE *stream, void (*print)(FILE *, const lmi_command *, const char *))
{
  for (const lmi_command *const *command = lmi_commands; *command != NULL; command++) {
    print(stream, *command, (*command)->name);
    for (const lmi_command *const *child = (*command)->children; child != NULL && *child != NULL; child++) {
      char path[64];
      snprintf(path, sizeof path, "%s %s", (*command)->name, (*child)->name);
      print(stream, *child, path);
    }
  }
}

static void print_case(FILE *stream, const lmi_command *command, const char *path)
{
  fprintf(stream, "    '%s') words='", path);
  print_words(stream, command);
  fputs("' ;;\n", stream);
}

/* Command names that have names below them: the second word belongs to the path too. */
static void print_parents(FILE *stream)
{
  for (const lmi_command *const *command = lmi_commands; *command != NULL; command++)
    if ((*command)->children != NULL)
      fprintf(stream, "    %s) [ \"$COMP_CWORD\" -gt 2 ] && path=\"$path ${COMP_WORDS[2]}\" ;;\n", (*command)->name);
}

void lmi_completion_print_bash(FILE *stream)
{
  fputs("# bash completion of lamina; made by 'lamina help --completion bash'\n"
        "_lamina()\n{\n"
        "  local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} path=${COMP_WORDS[1]} words=''\n"
        "  COMPREPLY=()\n"
        "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n    words='",
        stream);
  for (const lmi_command *const *command = lmi_commands; *command != NULL; command++)
    fprintf(stream, "%s ", (*command)->name);
  fputs("--help --version'\n    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n    return\n  fi\n"
        "  case $path in\n",
        stream);
  print_parents(stream);
  fputs("    *) ;;\n  esac\n  case $path/$previous in\n", stream);
  for_each_path(stream, print_choices);
  fputs(
    "    *) ;;\n  esac\n"
    "  if [ -n \"$words\" ]; then\n    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n    return\n  fi\n"
    "  case $word in\n    -*) ;;\n    *) [ \"$path\" != help ] && COMPREPLY=($(compgen -f -- \"$word\")) ;;\n  esac\n"
    "  case $path in\n",
    stream);
  for_each_path(stream, print_case);
  fputs("    *) ;;\n  esac\n  COMPREPLY+=($(compgen -W \"$words\" -- \"$word\"))\n}\n"
        "complete -o filenames -F _lamina lamina\n",
        stream);
}
