/* SPDX-License-Identifier: Apache-2.0 */
/* The frame of the program: a command is one constant struct, and everything a person sees of it (help, man page,
 * completion, the complaint about a misspelt option) is made from that struct.
 *
 * To add the command `name`:
 *   1. write cmd_name.c, which defines `const lmi_command lmi_command_name` (bench_name.c and lmi_bench_name for a
 * benchmark);
 *   2. add one line to command_list.h and the file to CMakeLists.txt.
 *
 *   struct name_values { bool json; int64_t threads; const char *out; };
 *   static const struct name_values defaults = {.out = "."};
 *   static const lmi_option options[] = {
 *     LMI_OPTION_FLAG(struct name_values, json, "json", "print one JSON object"),
 *     LMI_OPTION_INTEGER(struct name_values, threads, "threads", "N", 1, 4096, "worker threads (default: all usable)"),
 *     LMI_OPTION_TEXT(struct name_values, out, "out", "DIR", "where files go (default: the current folder)"),
 *     {0}};
 *   static lamina_status name_run(lmi_call *call)
 *   {
 *     const struct name_values *values = call->values;
 *     LMI_TRY(lmi_call_open(call, (int)values->threads));          // call->ctx; main() closes it
 *     return lmi_fail(call->ctx, LAMINA_ERROR_FILE, "...");        // main() prints "lamina name: ..." and picks the
 * exit code
 *   }
 *   const lmi_command lmi_command_name = {.name = "name", .group = LMI_GROUP_SIMULATE, .summary = "does this",
 *     .arguments = "CASE.yaml", .least = 1, .most = 1, .options = options, LMI_VALUES(defaults), .run = name_run};
 */
#ifndef LMI_CLI_H
#define LMI_CLI_H

#include <jansson.h>
#include <stdio.h>

#include "base/base.h"

/* ---- options ---- */

typedef enum lmi_option_kind {
  LMI_KIND_FLAG,    /* bool */
  LMI_KIND_INTEGER, /* int64_t */
  LMI_KIND_BYTES,   /* int64_t; the user may write 512MiB or 2G */
  LMI_KIND_NUMBER,  /* double */
  LMI_KIND_TEXT,    /* const char * */
  LMI_KIND_CHOICE,  /* int: position in `choices` */
  LMI_KIND_LIST,    /* lmi_word_list: may be given several times */
} lmi_option_kind;

/* The values of a repeatable option, in the order they were given. */
enum { LMI_MAX_WORDS = 64 };
typedef struct lmi_word_list {
  size_t count;
  const char *words[LMI_MAX_WORDS];
} lmi_word_list;

/* One option. Tables end with {0}. Write them with the macros below: they check the type of the field. */
typedef struct lmi_option {
  const char *name; /* without the dashes */
  char letter;      /* short form, or 0 */
  lmi_option_kind kind;
  const char *value; /* what help calls the value: "N", "DIR" */
  const char *summary;
  size_t offset;    /* of the field in the command's struct of values */
  double low, high; /* INTEGER, BYTES, NUMBER: what is allowed, both ends included; unbounded when both are 0 */
  const char *const *choices; /* CHOICE: NULL-terminated */
} lmi_option;

/* offsetof that does not compile when the field has another type. */
#define LMI_FIELD(field_type, type, field) (offsetof(type, field) + 0 * sizeof((field_type *)0 == &((type *)0)->field))

#define LMI_OPTION_FLAG(type, field, name_, summary_)                                                     \
  {                                                                                                       \
    .name = (name_), .kind = LMI_KIND_FLAG, .summary = (summary_), .offset = LMI_FIELD(bool, type, field) \
  }
#define LMI_OPTION_INTEGER(type, field, name_, value_, low_, high_, summary_)            \
  {                                                                                      \
    .name = (name_), .kind = LMI_KIND_INTEGER, .value = (value_), .summary = (summary_), \
    .offset = LMI_FIELD(int64_t, type, field), .low = (low_), .high = (high_)            \
  }
#define LMI_OPTION_BYTES(type, field, name_, value_, low_, high_, summary_)            \
  {                                                                                    \
    .name = (name_), .kind = LMI_KIND_BYTES, .value = (value_), .summary = (summary_), \
    .offset = LMI_FIELD(int64_t, type, field), .low = (low_), .high = (high_)          \
  }
#define LMI_OPTION_NUMBER(type, field, name_, value_, low_, high_, summary_)            \
  {                                                                                     \
    .name = (name_), .kind = LMI_KIND_NUMBER, .value = (value_), .summary = (summary_), \
    .offset = LMI_FIELD(double, type, field), .low = (low_), .high = (high_)            \
  }
#define LMI_OPTION_TEXT(type, field, name_, value_, summary_)                         \
  {                                                                                   \
    .name = (name_), .kind = LMI_KIND_TEXT, .value = (value_), .summary = (summary_), \
    .offset = LMI_FIELD(const char *, type, field)                                    \
  }
#define LMI_OPTION_CHOICE(type, field, name_, choices_, summary_)                                           \
  {                                                                                                         \
    .name = (name_), .kind = LMI_KIND_CHOICE, .summary = (summary_), .offset = LMI_FIELD(int, type, field), \
    .choices = (choices_)                                                                                   \
  }
#define LMI_OPTION_LIST(type, field, name_, value_, summary_)                         \
  {                                                                                   \
    .name = (name_), .kind = LMI_KIND_LIST, .value = (value_), .summary = (summary_), \
    .offset = LMI_FIELD(lmi_word_list, type, field)                                   \
  }

/* ---- commands ---- */

typedef struct lmi_command lmi_command;

/* One use of a command: what main() hands to its function. Texts point into argv. */
typedef struct lmi_call {
  const lmi_command *command;
  const char *path;   /* "run", "bench dense": for messages */
  const void *values; /* the command's struct: its defaults, then what the user gave */
  size_t argument_count;
  char **arguments; /* NULL-terminated */
  size_t program_count;
  char **program;      /* what stood behind "--", NULL-terminated: fit for execvp; only with LMI_TAKES_PROGRAM */
  lamina_context *ctx; /* NULL until lmi_call_open */
  int exit_code;       /* wins over the status when not 0: the exit status of a program we ran */
} lmi_call;

typedef enum lmi_command_group { LMI_GROUP_SIMULATE, LMI_GROUP_MEASURE, LMI_GROUP_OTHER } lmi_command_group;

enum {
  LMI_TAKES_PROGRAM = 1, /* lamina record [options] -- CMD... */
  LMI_TAKES_RANKS = 2,   /* under mpirun all processes work on one thing, and the first one speaks */
};

struct lmi_command {
  const char *name;
  const char *summary; /* one line, no full stop: the list of commands and the man page */
  lmi_command_group group;
  unsigned flags;
  const char *arguments;     /* "CASE.yaml", "DIR..."; NULL when it takes none */
  size_t least, most;        /* how many arguments */
  const lmi_option *options; /* ends with {0}; NULL for none */
  const void *defaults;      /* see LMI_VALUES */
  size_t values_bytes;
  const char *description;            /* paragraphs for help and man page, lines of at most 78 columns; NULL for none */
  const char *const *examples;        /* command lines and what they do, in turn; ends with NULL; NULL for none */
  const lmi_command *const *children; /* sub-commands, NULL-terminated: then `run` is NULL */
  lamina_status (*run)(lmi_call *call);
};

/* Sets defaults and values_bytes; does not compile when the struct is larger than main() has room for. */
#define LMI_VALUES(default_values) \
  .defaults = &(default_values),   \
  .values_bytes = sizeof(default_values) + 0 * sizeof(char[sizeof(default_values) <= LMI_MAX_VALUES_BYTES ? 1 : -1])

enum { LMI_MAX_VALUES_BYTES = 4096 };

/* Every command, in the order of the help; NULL-terminated. */
extern const lmi_command *const lmi_commands[];

/* ---- for the function of a command ---- */

/* Creates call->ctx, whose remarks go to stderr as "lamina: ...". threads 0: every usable processor. With
 * LMI_TAKES_RANKS it joins the ranks that mpirun started; then stdout of all but the first leads nowhere. */
LAMINA_NODISCARD lamina_status lmi_call_open(lmi_call *call, int threads);

/* Prints `object` on stdout, indented, and releases it; an `object` of NULL means jansson ran out of memory. A full
 * disk is told by main(), as for every output. */
LAMINA_NODISCARD lamina_status lmi_print_json(lmi_call *call, json_t *object);

/* The processor's name, or "unknown". */
void lmi_name_processor(lmi_call *call, char *name, size_t size);

/* {version, machine, rows} on stdout, when `status` of the rows is OK; releases `rows` in any case. */
LAMINA_NODISCARD lamina_status lmi_print_rows(lmi_call *call, lamina_status status, const char *machine, json_t *rows);

/* `value` as a JSON real, or null when it is not finite: what was not measured is never 0. */
json_t *lmi_json_number(double value);

/* "4096", "64KiB", "2G"; false for anything else. */
bool lmi_parse_bytes(const char *text, int64_t *bytes);

/* True when `stream` is a terminal that wants colour (NO_COLOR unset, TERM not "dumb"). */
bool lmi_wants_colour(FILE *stream);

/* "lamina PATH: sentence" on stderr and where to find help: for mistakes in the command line itself. Returns ARGUMENT.
 */
lamina_status lmi_usage_error(const lmi_call *call, const char *format, ...) LMI_PRINTF(2, 3);

/* What came of reading an input: one that cannot be read ends like one that is wrong, with exit code 3. */
lamina_status lmi_input_status(lamina_status status);

/* ---- parts of the frame ---- */

/* Reads options and arguments from argv[0..argc) into call and values (LMI_MAX_VALUES_BYTES, aligned for any type).
 * argv is reordered. *wants_help is set when --help or -h was among them; then nothing else is checked. */
LAMINA_NODISCARD lamina_status lmi_options_parse(lmi_call *call, int argc, char **argv, void *values, bool *wants_help);

/* "--threads N", "--layout plane|soa" into buffer. */
void lmi_option_form(const lmi_option *option, size_t buffer_bytes, char *buffer);

/* ", 1 to 4096" into buffer, or "" when nothing is bounded. */
void lmi_option_bounds(const lmi_option *option, size_t buffer_bytes, char *buffer);

/* The command called `name` in a NULL-terminated table, or NULL. */
const lmi_command *lmi_command_find(const lmi_command *const *commands, const char *name);

/* The nearest name in the table, or NULL. */
const char *lmi_command_nearest(const lmi_command *const *commands, const char *name);

const char *lmi_group_title(lmi_command_group group);

void lmi_help_overview(FILE *stream);
void lmi_help_command(FILE *stream, const lmi_command *command, const char *path);
void lmi_manual_print(FILE *stream);
void lmi_completion_print_bash(FILE *stream);

#endif
