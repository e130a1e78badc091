/* SPDX-License-Identifier: Apache-2.0 */
/* What the function of a command uses: its context, its remarks, its JSON, its complaints. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch_ranks.h"
#include "report/json_output.h"
#include <lamina/host.h>
#include <lamina/lamina.h>

enum { MAX_COMMANDS = 64 };

static void print_remark(void *user, lamina_log_level level, const char *text)
{
  (void)user;
  fprintf(stderr, "lamina: %s%s\n", level == LAMINA_LOG_WARNING ? "warning: " : "", text);
}

lamina_status lmi_call_open(lmi_call *call, int threads)
{
  lamina_context_options options = lamina_context_options_default();
  options.threads = threads;
  options.log = lmi_is_follower(call) ? NULL : print_remark;
  const lamina_status status = lamina_context_create(&options, &call->ctx);
  if (status != LAMINA_OK) {
    fprintf(stderr, "lamina %s: cannot start: %s\n", call->path, lamina_status_text(status));
    return status;
  }
  if (lmi_is_follower(call) && freopen("/dev/null", "w", stdout) == NULL)
    return lmi_fail(call->ctx, LAMINA_ERROR_SYSTEM, "cannot open /dev/null");
  return lmi_call_join_ranks(call);
}

lamina_status lmi_print_json(lmi_call *call, json_t *object)
{
  return lmi_json_print(call->ctx, object, "the output", stdout);
}

void lmi_name_processor(lmi_call *call, char *name, size_t size)
{
  lamina_host host;
  const bool is_known = lamina_host_read(call->ctx, NULL, &host) == LAMINA_OK && host.processor[0] != '\0';
  snprintf(name, size, "%s", is_known ? host.processor : "unknown");
  lamina_error_clear(call->ctx);
}

lamina_status lmi_print_rows(lmi_call *call, lamina_status status, const char *machine, json_t *rows)
{
  if (status != LAMINA_OK) {
    json_decref(rows);
    return status;
  }
  return lmi_print_json(call,
                        json_pack("{s:s, s:s, s:o}", "version", lamina_version(), "machine", machine, "rows", rows));
}

json_t *lmi_json_number(double value)
{
  return isfinite(value) ? json_real(value) : json_null();
}

bool lmi_wants_colour(FILE *stream)
{
  const char *no_colour = getenv("NO_COLOR");
  const char *terminal = getenv("TERM");
  return isatty(fileno(stream)) && (no_colour == NULL || no_colour[0] == '\0') && terminal != NULL &&
         strcmp(terminal, "dumb") != 0;
}

lamina_status lmi_usage_error(const lmi_call *call, const char *format, ...)
{
  if (lmi_is_follower(call))
    return LAMINA_ERROR_ARGUMENT;
  fprintf(stderr, "lamina %s: ", call->path);
  va_list arguments;
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fprintf(stderr, " ('lamina %s --help' shows its options)\n", call->path);
  return LAMINA_ERROR_ARGUMENT;
}

const lmi_command *lmi_command_find(const lmi_command *const *commands, const char *name)
{
  for (; *commands != NULL; commands++)
    if (strcmp((*commands)->name, name) == 0)
      return *commands;
  return NULL;
}

const char *lmi_command_nearest(const lmi_command *const *commands, const char *name)
{
  const char *names[MAX_COMMANDS];
  size_t count = 0;
  while (count < MAX_COMMANDS && commands[count] != NULL) {
    names[count] = commands[count]->name;
    count++;
  }
  return lmi_nearest_word(name, names, count);
}

lamina_status lmi_input_status(lamina_status status)
{
  return status == LAMINA_ERROR_FILE ? LAMINA_ERROR_CASE : status;
}
