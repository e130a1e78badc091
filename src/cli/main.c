/* SPDX-License-Identifier: Apache-2.0 */
/* The program: finds the command, reads its options, runs it, and turns what it returns into a sentence and an exit
 * code. */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <signal.h>
#include <stdalign.h>
#include <stdio.h>
#include <string.h>

#include <lamina/version.h>

#include "command_list.h"
#include "launch_ranks.h"

#define DECLARE_COMMAND(name) extern const lmi_command lmi_command_##name;
LMI_COMMAND_LIST(DECLARE_COMMAND)

#define COMMAND_ADDRESS(name) &lmi_command_##name,
const lmi_command *const lmi_commands[] = {LMI_COMMAND_LIST(COMMAND_ADDRESS) NULL};

enum { MAX_PATH_BYTES = 64 };

static int usage_exit_code(void)
{
  return lamina_status_exit_code(LAMINA_ERROR_ARGUMENT);
}

static int print_overview(void)
{
  lmi_help_overview(stdout);
  return 0;
}

static int print_version(void)
{
  printf("lamina %s\n", lamina_version());
  return 0;
}

static int unknown_command(const lmi_command *const *commands, const char *path, const char *word)
{
  const char *nearest = lmi_command_nearest(commands, word);
  const char *space = path[0] != '\0' ? " " : "";
  if (nearest != NULL)
    fprintf(stderr, "lamina%s%s: unknown command '%s'; did you mean '%s'?\n", space, path, word, nearest);
  else
    fprintf(stderr, "lamina%s%s: unknown command '%s'; 'lamina%s%s --help' lists them\n", space, path, word, space,
            path);
  return usage_exit_code();
}

/* The sentence of a failed command. A mistake in the command line has been told already: lmi_usage_error leaves no
 * sentence in the context. */
static void report_failure(const lmi_call *call, lamina_status status)
{
  const char *message = call->ctx != NULL ? lamina_error_message(call->ctx) : "";
  if (call->ctx == NULL || (message[0] == '\0' && status == LAMINA_ERROR_ARGUMENT))
    return;
  fprintf(stderr, "lamina %s: %s\n", call->path, message[0] != '\0' ? message : lamina_status_text(status));
}

static int run_command(const lmi_command *command, const char *path, int argc, char **argv)
{
  alignas(max_align_t) char values[LMI_MAX_VALUES_BYTES] = {0};
  lmi_call call = {.command = command, .path = path};
  bool wants_help = false;
  bool speaks = true;
  lamina_status status = lmi_options_parse(&call, argc, argv, values, &wants_help);
  if (status != LAMINA_OK) {
    (void)lmi_call_meet_ranks(&call, status, &speaks);
    return lamina_status_exit_code(status);
  }
  if (wants_help) {
    lmi_help_command(stdout, command, path);
    return 0;
  }
  status = command->run(&call);
  const bool came = lmi_call_meet_ranks(&call, status, &speaks);
  if (status != LAMINA_OK && speaks)
    report_failure(&call, status);
  if (!came)
    lmi_call_end_ranks(&call, lamina_status_exit_code(status));
  lamina_context_destroy(call.ctx);
  return call.exit_code != 0 ? call.exit_code : lamina_status_exit_code(status);
}

/* Follows the words of the command line down the table: "bench", then "dense". */
static int dispatch(const lmi_command *const *commands, char *path, int argc, char **argv)
{
  const lmi_command *command = lmi_command_find(commands, argv[0]);
  if (command == NULL)
    return unknown_command(commands, path, argv[0]);
  const size_t used = strlen(path);
  snprintf(path + used, MAX_PATH_BYTES - used, "%s%s", used > 0 ? " " : "", command->name);
  if (command->children == NULL)
    return run_command(command, path, argc - 1, argv + 1);
  if (argc == 1 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
    lmi_help_command(argc == 1 ? stderr : stdout, command, path);
    return argc == 1 ? usage_exit_code() : 0;
  }
  return dispatch(command->children, path, argc - 1, argv + 1);
}

static int run_program(int argc, char **argv)
{
  char path[MAX_PATH_BYTES] = "";
  if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
    return print_overview();
  if (strcmp(argv[1], "--version") == 0)
    return print_version();
  return dispatch(lmi_commands, path, argc - 1, argv + 1);
}

/* Success is claimed only when all that was printed has left the program. */
static bool output_is_written(void)
{
  errno = 0;
  if (fflush(stdout) == 0 && !ferror(stdout))
    return true;
  fprintf(stderr, "lamina: the output could not be written: %s\n", strerror(errno != 0 ? errno : EIO));
  return false;
}

/* A limit on file sizes then is a failed write, which is told, not a sudden end. A handler and not SIG_IGN: a program
 * that we start must find the signal as it is by default. */
static void keep_going(int signal_number)
{
  (void)signal_number;
}

int main(int argc, char **argv)
{
  signal(SIGXFSZ, keep_going);
  const int exit_code = run_program(argc, argv);
  if (!output_is_written() && exit_code == 0)
    return lamina_status_exit_code(LAMINA_ERROR_FILE);
  return exit_code;
}
