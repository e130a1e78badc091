/* SPDX-License-Identifier: Apache-2.0 */
/* lamina(1) as roff, from the tables of commands and options. */
#include <stdio.h>
#include <string.h>

#include <lamina/version.h>

#include "cli.h"

/* Text with what roff would take for its own: backslash, hyphen, and a dot or quote that starts a line. */
static void print_escaped(FILE *stream, const char *text)
{
  bool starts_line = true;
  for (; *text != '\0'; text++) {
    if (starts_line && (*text == '.' || *text == '\''))
      fputs("\\&", stream);
    if (*text == '\\')
      fputs("\\e", stream);
    else if (*text == '-')
      fputs("\\-", stream);
    else
      fputc(*text, stream);
    starts_line = *text == '\n';
  }
}

/* Paragraphs are divided by empty lines, which roff writes as .PP; an indented line stays a line of its own. */
static void print_paragraphs(FILE *stream, const char *text)
{
  while (*text != '\0') {
    const size_t length = strcspn(text, "\n");
    char line[256];
    snprintf(line, sizeof line, "%.*s", (int)(length < sizeof line ? length : sizeof line - 1), text);
    if (length == 0)
      fputs(".PP", stream);
    else if (line[0] == ' ')
      fputs(".br\n", stream);
    print_escaped(stream, line);
    fputc('\n', stream);
    text += length + (text[length] == '\n');
  }
}

static void print_option(FILE *stream, const lmi_option *option)
{
  char form[256], bounds[64];
  lmi_option_form(option, sizeof form, form);
  lmi_option_bounds(option, sizeof bounds, bounds);
  fputs(".TP\n.B ", stream);
  print_escaped(stream, form);
  fputc('\n', stream);
  print_escaped(stream, option->summary);
  print_escaped(stream, bounds);
  fputc('\n', stream);
}

static void print_examples(FILE *stream, const char *const *line)
{
  if (line != NULL)
    fputs(".PP\nExamples:\n", stream);
  for (; line != NULL && line[0] != NULL && line[1] != NULL; line += 2) {
    fputs(".TP\n.B ", stream);
    print_escaped(stream, line[0]);
    fputc('\n', stream);
    print_escaped(stream, line[1]);
    fputc('\n', stream);
  }
}

static void print_command(FILE *stream, const lmi_command *command, const char *parent)
{
  char path[64];
  snprintf(path, sizeof path, "%s%s%s", parent, parent[0] != '\0' ? " " : "", command->name);
  fprintf(stream, ".SS lamina %s", path);
  if (command->options != NULL)
    fputs(" [options]", stream);
  if (command->arguments != NULL) {
    fputc(' ', stream);
    print_escaped(stream, command->arguments);
  }
  fputc('\n', stream);
  print_escaped(stream, command->summary);
  fputs(".\n", stream);
  if (command->description != NULL) {
    fputs(".PP\n", stream);
    print_paragraphs(stream, command->description);
  }
  for (const lmi_option *option = command->options; option != NULL && option->name != NULL; option++)
    print_option(stream, option);
  print_examples(stream, command->examples);
  for (const lmi_command *const *child = command->children; child != NULL && *child != NULL; child++)
    print_command(stream, *child, path);
}

static void print_exit_codes(FILE *stream)
{
  fputs(".SH EXIT STATUS\n"
        ".TP\n0\ndone\n"
        ".TP\n1\nfailed\n"
        ".TP\n2\nthe command line is wrong\n"
        ".TP\n3\na case or input file is wrong\n"
        ".TP\n4\nhardware, permission or a build feature is missing\n"
        ".TP\n5\na check failed: the flow diverged, a result missed its gate\n",
        stream);
}

void lmi_manual_print(FILE *stream)
{
  fprintf(stream, ".TH LAMINA 1 \"\" \"lamina %s\" \"User Commands\"\n", lamina_version());
  fputs(
    ".SH NAME\nlamina \\- lattice\\-Boltzmann solver and memory profiler\n"
    ".SH SYNOPSIS\n.B lamina\n.I COMMAND\n[options]\n"
    ".SH DESCRIPTION\n"
    "Lamina places data by what it is used for. Its solver groups the cells of a flow by a property that matters for\n"
    "speed and lays out each group in its own best way; its profiler measures what a program asks of each tier of\n"
    "memory and what should move.\n"
    ".PP\nEvery command that yields numbers takes\n.B \\-\\-json\nand then prints one object on the standard output.\n"
    "Progress and remarks go to the standard error.\n",
    stream);
  for (lmi_command_group group = LMI_GROUP_SIMULATE; group <= LMI_GROUP_OTHER; group++) {
    bool has_title = false;
    for (const lmi_command *const *command = lmi_commands; *command != NULL; command++) {
      if ((*command)->group != group)
        continue;
      if (!has_title)
        fprintf(stream, ".SH \"%s\"\n", lmi_group_title(group));
      has_title = true;
      print_command(stream, *command, "");
    }
  }
  print_exit_codes(stream);
  fputs(".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nwhen set, nothing is coloured\n", stream);
}
