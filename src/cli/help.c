/* SPDX-License-Identifier: Apache-2.0 */
/* Help for people, from the tables of commands and options. */
#include <stdio.h>
#include <string.h>

#include "cli.h"

enum { FORM_COLUMNS = 24, FORM_BYTES = 256 };

const char *lmi_group_title(lmi_command_group group)
{
  static const char *const titles[] = {"Simulate", "Measure memory", "Other"};
  return titles[group];
}

void lmi_option_form(const lmi_option *option, size_t buffer_bytes, char *buffer)
{
  size_t used = option->letter != '\0' ? (size_t)snprintf(buffer, buffer_bytes, "-%c, ", option->letter) : 0;
  used += (size_t)snprintf(buffer + used, buffer_bytes - used, "--%s", option->name);
  if (option->kind == LMI_KIND_CHOICE) {
    for (size_t i = 0; option->choices[i] != NULL && used < buffer_bytes; i++)
      used += (size_t)snprintf(buffer + used, buffer_bytes - used, "%s%s", i == 0 ? " " : "|", option->choices[i]);
  } else if (option->value != NULL && used < buffer_bytes) {
    snprintf(buffer + used, buffer_bytes - used, " %s", option->value);
  }
}

void lmi_option_bounds(const lmi_option *option, size_t buffer_bytes, char *buffer)
{
  buffer[0] = '\0';
  if (option->low == 0 && option->high == 0)
    return;
  char low[32], high[32];
  if (option->kind == LMI_KIND_BYTES)
    snprintf(buffer, buffer_bytes, ", %s to %s", lmi_format_bytes(option->low, low),
             lmi_format_bytes(option->high, high));
  else
    snprintf(buffer, buffer_bytes, ", %.15g to %.15g", option->low, option->high);
}

static void print_row(FILE *stream, const char *form, const char *text, const char *end)
{
  if (strlen(form) <= FORM_COLUMNS)
    fprintf(stream, "  %-*s  %s%s\n", FORM_COLUMNS, form, text, end);
  else
    fprintf(stream, "  %s\n  %-*s  %s%s\n", form, FORM_COLUMNS, "", text, end);
}

static void print_options(FILE *stream, const lmi_option *options)
{
  fprintf(stream, "\nOptions\n");
  for (; options != NULL && options->name != NULL; options++) {
    char form[FORM_BYTES], bounds[64];
    lmi_option_form(options, sizeof form, form);
    lmi_option_bounds(options, sizeof bounds, bounds);
    print_row(stream, form, options->summary, bounds);
  }
  print_row(stream, "-h, --help", "show this help", "");
}

static void print_children(FILE *stream, const lmi_command *command, const char *path)
{
  fprintf(stream, "\n");
  for (const lmi_command *const *child = command->children; *child != NULL; child++)
    print_row(stream, (*child)->name, (*child)->summary, "");
  fprintf(stream, "\n'lamina %s NAME --help' shows one of them.\n", path);
}

void lmi_help_command(FILE *stream, const lmi_command *command, const char *path)
{
  const char *arguments = command->arguments;
  fprintf(stream, "lamina %s: %s\n\nUsage: lamina %s%s%s%s%s\n", path, command->summary, path,
          command->children != NULL ? " NAME" : "", command->options != NULL ? " [options]" : "",
          arguments != NULL ? " " : "", arguments != NULL ? arguments : "");
  if (command->description != NULL)
    fprintf(stream, "\n%s\n", command->description);
  if (command->children != NULL) {
    print_children(stream, command, path);
    return;
  }
  print_options(stream, command->options);
  if (command->examples == NULL)
    return;
  fprintf(stream, "\nExamples\n");
  for (const char *const *line = command->examples; line[0] != NULL && line[1] != NULL; line += 2)
    fprintf(stream, "  %s\n      %s\n", line[0], line[1]);
}

void lmi_help_overview(FILE *stream)
{
  fprintf(stream, "lamina places data by what it is used for: a lattice-Boltzmann solver and a memory profiler.\n\n"
                  "Usage: lamina COMMAND [options]\n");
  for (lmi_command_group group = LMI_GROUP_SIMULATE; group <= LMI_GROUP_OTHER; group++) {
    bool has_title = false;
    for (const lmi_command *const *command = lmi_commands; *command != NULL; command++) {
      if ((*command)->group != group)
        continue;
      if (!has_title)
        fprintf(stream, "\n%s\n", lmi_group_title(group));
      has_title = true;
      fprintf(stream, "  %-10s  %s\n", (*command)->name, (*command)->summary);
    }
  }
  fprintf(stream, "\n'lamina help COMMAND' shows its options; --version shows the version.\n"
                  "Exit codes: 0 done, 1 failed, 2 usage, 3 case or input file, 4 hardware or permission missing,\n"
                  "5 a check failed (diverged, regression).\n");
}
