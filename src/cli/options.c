/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a command line by a table of options. Words that belong to no option are arguments; a name must be written out,
 * because a shortened one changes its meaning when an option is added. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* What every command understands. */
static const lmi_option help_option = {
  .name = "help", .letter = 'h', .kind = LMI_KIND_FLAG, .summary = "show this help"};

enum { MAX_OPTIONS = 64, MAX_NAME = 64 };

typedef struct parser {
  lmi_call *call;
  char **argv;
  int argc, next;
  char *values;
  bool wants_help;
} parser;

static size_t option_count(const lmi_option *options)
{
  size_t count = 0;
  while (options != NULL && options[count].name != NULL)
    count++;
  return count;
}

static const lmi_option *find_long(const lmi_option *options, const char *name, size_t length)
{
  for (size_t i = 0; i < option_count(options); i++)
    if (strlen(options[i].name) == length && strncmp(options[i].name, name, length) == 0)
      return &options[i];
  return strlen(help_option.name) == length && strncmp(help_option.name, name, length) == 0 ? &help_option : NULL;
}

static const lmi_option *find_letter(const lmi_option *options, char letter)
{
  for (size_t i = 0; i < option_count(options); i++)
    if (options[i].letter == letter)
      return &options[i];
  return letter == help_option.letter ? &help_option : NULL;
}

static lamina_status unknown_option(const parser *p, const char *word, const char *name, size_t length)
{
  const char *names[MAX_OPTIONS];
  const lmi_option *options = p->call->command->options;
  const size_t count = option_count(options) < MAX_OPTIONS ? option_count(options) : MAX_OPTIONS;
  for (size_t i = 0; i < count; i++)
    names[i] = options[i].name;
  char given[MAX_NAME];
  snprintf(given, sizeof given, "%.*s", (int)(length < MAX_NAME ? length : MAX_NAME - 1), name);
  const char *nearest = lmi_nearest_word(given, names, count);
  if (nearest != NULL)
    return lmi_usage_error(p->call, "unknown option '%s'; did you mean '--%s'?", word, nearest);
  return lmi_usage_error(p->call, "unknown option '%s'", word);
}

static bool within(const lmi_option *option, double value)
{
  return (option->low == 0 && option->high == 0) || (value >= option->low && value <= option->high);
}

/* "512", "512MiB", "2G": 1024 to each step, whether or not iB is written. */
bool lmi_parse_bytes(const char *text, int64_t *bytes)
{
  static const char units[] = "KMGT";
  char digits[MAX_NAME];
  const size_t length = strspn(text, "0123456789");
  if (length == 0 || length >= sizeof digits)
    return false;
  memcpy(digits, text, length);
  digits[length] = '\0';
  int64_t value = 0;
  if (!lmi_parse_int64(digits, &value))
    return false;

  const char *unit = text + length;
  if (*unit != '\0' && strcmp(unit, "B") != 0) {
    const char *step = strchr(units, *unit);
    if (step == NULL || (strcmp(unit + 1, "") != 0 && strcmp(unit + 1, "B") != 0 && strcmp(unit + 1, "iB") != 0))
      return false;
    const int shift = 10 * (int)(step - units + 1);
    if (value > INT64_MAX >> shift)
      return false;
    value <<= shift;
  }
  *bytes = value;
  return true;
}

static bool parse_choice(const lmi_option *option, const char *text, int *position)
{
  for (int i = 0; option->choices[i] != NULL; i++)
    if (strcmp(option->choices[i], text) == 0) {
      *position = i;
      return true;
    }
  return false;
}

/* What `option` accepts, for the complaint about a value that it does not. */
static void describe_values(const lmi_option *option, size_t buffer_bytes, char *buffer)
{
  char bounds[MAX_NAME];
  lmi_option_bounds(option, sizeof bounds, bounds);
  switch (option->kind) {
  case LMI_KIND_INTEGER: snprintf(buffer, buffer_bytes, "a whole number%s", bounds); break;
  case LMI_KIND_BYTES: snprintf(buffer, buffer_bytes, "a size such as 512MiB or 2GiB%s", bounds); break;
  case LMI_KIND_NUMBER: snprintf(buffer, buffer_bytes, "a number%s", bounds); break;
  case LMI_KIND_CHOICE: {
    size_t used = (size_t)snprintf(buffer, buffer_bytes, "%s", option->choices[1] != NULL ? "one of" : "");
    for (size_t i = 0; option->choices[i] != NULL && used < buffer_bytes; i++)
      used += (size_t)snprintf(buffer + used, buffer_bytes - used, "%s%s",
                               i > 0      ? ", "
                               : used > 0 ? " "
                                          : "",
                               option->choices[i]);
    break;
  }
  case LMI_KIND_FLAG:
  case LMI_KIND_TEXT:
  case LMI_KIND_LIST: snprintf(buffer, buffer_bytes, "a text"); break;
  }
}

static bool store_number(const lmi_option *option, const char *text, void *field)
{
  switch (option->kind) {
  case LMI_KIND_INTEGER:
  case LMI_KIND_BYTES: {
    int64_t value = 0;
    const bool is_read = option->kind == LMI_KIND_BYTES ? lmi_parse_bytes(text, &value) : lmi_parse_int64(text, &value);
    if (!is_read || !within(option, (double)value))
      return false;
    memcpy(field, &value, sizeof value);
    return true;
  }
  case LMI_KIND_NUMBER: {
    double value = 0;
    if (!lmi_parse_double(text, &value) || !within(option, value))
      return false;
    memcpy(field, &value, sizeof value);
    return true;
  }
  default: return parse_choice(option, text, field);
  }
}

static lamina_status store(const parser *p, const lmi_option *option, const char *text)
{
  void *field = p->values + option->offset;
  if (option->kind == LMI_KIND_TEXT) {
    if (text[0] == '\0')
      return lmi_usage_error(p->call, "--%s is empty", option->name);
    memcpy(field, &text, sizeof text);
    return LAMINA_OK;
  }
  if (option->kind == LMI_KIND_LIST) {
    lmi_word_list *list = field;
    if (list->count == LMI_MAX_WORDS)
      return lmi_usage_error(p->call, "--%s may be given %d times at most", option->name, LMI_MAX_WORDS);
    list->words[list->count++] = text;
    return LAMINA_OK;
  }
  if (store_number(option, text, field))
    return LAMINA_OK;
  char allowed[512];
  describe_values(option, sizeof allowed, allowed);
  return lmi_usage_error(p->call, "--%s is '%s'; it must be %s", option->name, text, allowed);
}

/* Sets `option` from `attached` (what stood behind "=", or NULL) or from the next word. */
static lamina_status take_value(parser *p, const lmi_option *option, const char *attached)
{
  if (option == &help_option) {
    p->wants_help = true;
    return LAMINA_OK;
  }
  if (option->kind == LMI_KIND_FLAG) {
    if (attached != NULL)
      return lmi_usage_error(p->call, "--%s takes no value, '%s' was given", option->name, attached);
    const bool yes = true;
    memcpy(p->values + option->offset, &yes, sizeof yes);
    return LAMINA_OK;
  }
  if (attached != NULL)
    return store(p, option, attached);
  char form[256];
  lmi_option_form(option, sizeof form, form);
  if (p->next >= p->argc)
    return lmi_usage_error(p->call, "--%s needs a value: %s", option->name, form);
  return store(p, option, p->argv[p->next++]);
}

static lamina_status take_long(parser *p, const char *word)
{
  const char *name = word + 2;
  const char *equals = strchr(name, '=');
  const size_t length = equals != NULL ? (size_t)(equals - name) : strlen(name);
  const lmi_option *option = find_long(p->call->command->options, name, length);
  if (option == NULL)
    return unknown_option(p, word, name, length);
  return take_value(p, option, equals != NULL ? equals + 1 : NULL);
}

static lamina_status take_short(parser *p, const char *word)
{
  const lmi_option *option = find_letter(p->call->command->options, word[1]);
  if (option == NULL)
    return unknown_option(p, word, word + 1, strlen(word + 1));
  return take_value(p, option, word[2] != '\0' ? word + 2 : NULL);
}

static lamina_status check_arguments(const lmi_call *call)
{
  const lmi_command *command = call->command;
  if (call->argument_count < command->least)
    return lmi_usage_error(call, "%s is missing", command->arguments);
  if (call->argument_count > command->most && (command->flags & LMI_TAKES_PROGRAM) != 0)
    return lmi_usage_error(call, "unexpected '%s'; put '--' in front of the program to run",
                           call->arguments[command->most]);
  if (call->argument_count > command->most)
    return lmi_usage_error(call, "unexpected argument '%s'", call->arguments[command->most]);
  return LAMINA_OK;
}

lamina_status lmi_options_parse(lmi_call *call, int argc, char **argv, void *values, bool *wants_help)
{
  const lmi_command *command = call->command;
  LMI_ASSERT(command->values_bytes <= LMI_MAX_VALUES_BYTES);
  if (command->values_bytes > 0)
    memcpy(values, command->defaults, command->values_bytes);
  call->values = values;
  call->arguments = argv;

  parser p = {.call = call, .argv = argv, .argc = argc, .values = values};
  bool options_ended = false;
  while (p.next < argc && !p.wants_help) {
    char *word = argv[p.next++];
    const bool is_end = !options_ended && strcmp(word, "--") == 0;
    if (is_end && (command->flags & LMI_TAKES_PROGRAM) != 0)
      break;
    if (is_end)
      options_ended = true;
    else if (!options_ended && strncmp(word, "--", 2) == 0)
      LMI_TRY(take_long(&p, word));
    else if (!options_ended && word[0] == '-' && word[1] != '\0')
      LMI_TRY(take_short(&p, word));
    else
      argv[call->argument_count++] = word;
  }
  *wants_help = p.wants_help;
  if (p.wants_help)
    return LAMINA_OK;
  call->program = argv + p.next;
  call->program_count = (size_t)(argc - p.next);
  /* The list of arguments ends before its terminator can reach the program: each option or "--" gave up a place. */
  if (call->argument_count < (size_t)p.next)
    argv[call->argument_count] = NULL;
  return check_arguments(call);
}
