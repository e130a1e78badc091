/* SPDX-License-Identifier: Apache-2.0 */
/* lamina help: a page for people, the man page, the shell's completion. */
#include <stdio.h>
#include <string.h>

#include "cli.h"

static const char *const shells[] = {"bash", NULL};

struct help_values {
  bool man;
  int completion; /* position in `shells`, or -1 */
};

static const struct help_values defaults = {.completion = -1};

static const lmi_option options[] = {
  LMI_OPTION_FLAG(struct help_values, man, "man", "print the man page, as roff"),
  LMI_OPTION_CHOICE(struct help_values, completion, "completion", shells, "print the completion of a shell"),
  {0}};

static const char *const examples[] = {"lamina help doctor",
                                       "the options of one command",
                                       "lamina help --man | man -l -",
                                       "the man page of a program that is not installed",
                                       "source <(lamina help --completion bash)",
                                       "completes commands and options in this shell",
                                       NULL};

/* The page of the command that the arguments name, or the overview when there are none. */
static lamina_status help_for_path(const lmi_call *call)
{
  const lmi_command *const *commands = lmi_commands;
  const lmi_command *command = NULL;
  char path[64] = "";
  for (size_t i = 0; i < call->argument_count; i++) {
    const char *word = call->arguments[i];
    command = commands != NULL ? lmi_command_find(commands, word) : NULL;
    if (command == NULL) {
      const char *nearest = commands != NULL ? lmi_command_nearest(commands, word) : NULL;
      if (nearest != NULL)
        return lmi_usage_error(call, "unknown command '%s'; did you mean '%s'?", word, nearest);
      return lmi_usage_error(call, "unknown command '%s'", word);
    }
    const size_t used = strlen(path);
    snprintf(path + used, sizeof path - used, "%s%s", used > 0 ? " " : "", command->name);
    commands = command->children;
  }
  if (command != NULL)
    lmi_help_command(stdout, command, path);
  else
    lmi_help_overview(stdout);
  return LAMINA_OK;
}

static lamina_status help_run(lmi_call *call)
{
  const struct help_values *values = call->values;
  if (values->man)
    lmi_manual_print(stdout);
  else if (values->completion >= 0)
    lmi_completion_print_bash(stdout);
  else
    return help_for_path(call);
  return LAMINA_OK;
}

const lmi_command lmi_command_help = {
  .name = "help",
  .summary = "shows the help of a command, the man page or the shell completion",
  .group = LMI_GROUP_OTHER,
  .arguments = "[COMMAND...]",
  .most = 2,
  .options = options,
  LMI_VALUES(defaults),
  .examples = examples,
  .run = help_run,
};
