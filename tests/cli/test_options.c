/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include <math.h>
#include <stdalign.h>

#include "cli/cli.h"

struct values {
  bool json;
  int64_t threads, limit;
  double speed;
  const char *out;
  int layout;
  lmi_word_list set;
};

static const char *const layouts[] = {"soa", "aos", NULL};
static const struct values defaults = {.threads = 7, .out = "here", .layout = -1};
static const lmi_option options[] = {LMI_OPTION_FLAG(struct values, json, "json", "flag"),
                                     LMI_OPTION_INTEGER(struct values, threads, "threads", "N", 1, 64, "integer"),
                                     LMI_OPTION_BYTES(struct values, limit, "limit", "SIZE", 0, 0, "bytes"),
                                     LMI_OPTION_NUMBER(struct values, speed, "speed", "X", -2, 2, "number"),
                                     {.name = "out",
                                      .letter = 'o',
                                      .kind = LMI_KIND_TEXT,
                                      .value = "DIR",
                                      .summary = "text",
                                      .offset = LMI_FIELD(const char *, struct values, out)},
                                     LMI_OPTION_CHOICE(struct values, layout, "layout", layouts, "choice"),
                                     LMI_OPTION_LIST(struct values, set, "set", "KEY=VALUE", "list"),
                                     {0}};

static const lmi_command plain = {
  .name = "plain", .arguments = "FILE...", .least = 1, .most = 2, .options = options, LMI_VALUES(defaults)};
static const lmi_command record = {
  .name = "record", .flags = LMI_TAKES_PROGRAM, .options = options, LMI_VALUES(defaults)};
const lmi_command *const lmi_commands[] = {&plain, &record, NULL};

enum { MAX_ARGUMENTS = 80 };

/* One parsed command line. The words are copied: parsing reorders them. */
struct line {
  lmi_call call;
  char *argv[MAX_ARGUMENTS];
  alignas(max_align_t) char values[LMI_MAX_VALUES_BYTES];
  bool wants_help;
  lamina_status status;
};

static struct line *parse(const lmi_command *command, const char *const *words)
{
  static struct line line;
  memset(&line, 0, sizeof line);
  line.call.command = command;
  line.call.path = command->name;
  int argc = 0;
  for (; words[argc] != NULL; argc++)
    line.argv[argc] = (char *)(uintptr_t)words[argc];
  line.status = lmi_options_parse(&line.call, argc, line.argv, line.values, &line.wants_help);
  return &line;
}

#define PARSE(command, ...) parse(&(command), (const char *const[]){__VA_ARGS__, NULL})
#define VALUES(line) ((const struct values *)(line)->call.values)

static void defaults_stay_where_nothing_is_given(void **state)
{
  (void)state;
  const struct line *line = PARSE(plain, "a.yaml");
  assert_int_equal(line->status, LAMINA_OK);
  assert_int_equal(VALUES(line)->threads, 7);
  assert_string_equal(VALUES(line)->out, "here");
  assert_int_equal(VALUES(line)->layout, -1);
  assert_false(VALUES(line)->json);
  assert_int_equal(line->call.argument_count, 1);
  assert_string_equal(line->call.arguments[0], "a.yaml");
  assert_null(line->call.arguments[1]);
}

static void every_form_of_an_option_is_read(void **state)
{
  (void)state;
  const struct line *line = PARSE(plain, "--threads", "3", "a", "--speed=-1.5", "--json", "--layout", "aos", "-o", "x",
                                  "b", "--limit=2GiB", "--set", "a=1", "--set=b=2");
  assert_int_equal(line->status, LAMINA_OK);
  assert_int_equal(VALUES(line)->threads, 3);
  assert_true(VALUES(line)->speed == -1.5);
  assert_true(VALUES(line)->json);
  assert_int_equal(VALUES(line)->layout, 1);
  assert_string_equal(VALUES(line)->out, "x");
  assert_int_equal(VALUES(line)->limit, (int64_t)2 << 30);
  assert_int_equal(VALUES(line)->set.count, 2);
  assert_string_equal(VALUES(line)->set.words[0], "a=1");
  assert_string_equal(VALUES(line)->set.words[1], "b=2");
  assert_int_equal(line->call.argument_count, 2);
  assert_string_equal(line->call.arguments[0], "a");
  assert_string_equal(line->call.arguments[1], "b");
  assert_string_equal(VALUES(PARSE(plain, "-ox", "a"))->out, "x");
}

static void sizes_are_read_with_their_unit(void **state)
{
  (void)state;
  assert_int_equal(VALUES(PARSE(plain, "a", "--limit", "512"))->limit, 512);
  assert_int_equal(VALUES(PARSE(plain, "a", "--limit", "512B"))->limit, 512);
  assert_int_equal(VALUES(PARSE(plain, "a", "--limit", "4K"))->limit, 4096);
  assert_int_equal(VALUES(PARSE(plain, "a", "--limit", "1TB"))->limit, (int64_t)1 << 40);
  static const char *const bad[] = {"x", "4Q", "4MiBs", "-1", "1.5G", "99999999999T", "99999999999999999999"};
  for (size_t i = 0; i < LMI_COUNT(bad); i++)
    assert_int_equal(PARSE(plain, "a", "--limit", bad[i])->status, LAMINA_ERROR_ARGUMENT);
}

static void bad_values_are_refused(void **state)
{
  (void)state;
  static const char *const bad[][2] = {
    {"--threads", "0"},  {"--threads", "65"},     {"--threads", "two"}, {"--threads", "2.5"}, {"--threads", ""},
    {"--speed", "2.01"}, {"--speed", "nan"},      {"--speed", "1e400"}, {"--speed", "0,5"},   {"--layout", "SOA"},
    {"--layout", ""},    {"--json=yes", "--out"}, {"--out", ""},
  };
  for (size_t i = 0; i < LMI_COUNT(bad); i++)
    if (PARSE(plain, "a", bad[i][0], bad[i][1])->status != LAMINA_ERROR_ARGUMENT)
      fail_msg("%s %s was taken", bad[i][0], bad[i][1]);
}

static void shortened_names_are_unknown(void **state)
{
  (void)state;
  assert_int_equal(PARSE(plain, "a", "--thread", "3")->status, LAMINA_ERROR_ARGUMENT);
  assert_int_equal(PARSE(plain, "a", "--js")->status, LAMINA_ERROR_ARGUMENT);
  assert_int_equal(PARSE(plain, "a", "-j")->status, LAMINA_ERROR_ARGUMENT);
  assert_int_equal(PARSE(plain, "a", "--=3")->status, LAMINA_ERROR_ARGUMENT);
}

static void a_missing_value_or_argument_is_told(void **state)
{
  (void)state;
  assert_int_equal(PARSE(plain, "a", "--out")->status, LAMINA_ERROR_ARGUMENT);
  assert_int_equal(PARSE(plain, "--json")->status, LAMINA_ERROR_ARGUMENT);
  assert_int_equal(PARSE(plain, "a", "b", "c")->status, LAMINA_ERROR_ARGUMENT);
}

static void two_dashes_end_the_options(void **state)
{
  (void)state;
  const struct line *line = PARSE(plain, "--json", "--", "--out", "-x");
  assert_int_equal(line->status, LAMINA_OK);
  assert_int_equal(line->call.argument_count, 2);
  assert_string_equal(line->call.arguments[0], "--out");
  assert_string_equal(line->call.arguments[1], "-x");
  assert_int_equal(PARSE(plain, "-")->call.argument_count, 1); /* a dash alone is a file name */
}

static void a_program_keeps_its_own_words(void **state)
{
  (void)state;
  const struct line *line = PARSE(record, "--json", "--", "prog", "--json", "--", "-h");
  assert_int_equal(line->status, LAMINA_OK);
  assert_int_equal(line->call.argument_count, 0);
  assert_null(line->call.arguments[0]);
  assert_int_equal(line->call.program_count, 4);
  assert_string_equal(line->call.program[0], "prog");
  assert_string_equal(line->call.program[2], "--");
  assert_string_equal(line->call.program[3], "-h");
  assert_null(line->call.program[4]);
  assert_false(line->wants_help);
  assert_int_equal(PARSE(record, "prog", "-x")->status, LAMINA_ERROR_ARGUMENT);
  assert_int_equal(PARSE(record, "prog")->status, LAMINA_ERROR_ARGUMENT);
}

static void help_wins_over_what_follows(void **state)
{
  (void)state;
  const struct line *line = PARSE(plain, "--help", "--nonsense");
  assert_int_equal(line->status, LAMINA_OK);
  assert_true(line->wants_help);
  assert_true(PARSE(plain, "-h")->wants_help);
}

static void a_list_has_an_end(void **state)
{
  (void)state;
  const char *words[MAX_ARGUMENTS] = {"a"};
  for (int i = 1; i <= LMI_MAX_WORDS; i++)
    words[i] = "--set=k=v";
  assert_int_equal(parse(&plain, words)->status, LAMINA_OK);
  words[LMI_MAX_WORDS + 1] = "--set=k=v";
  assert_int_equal(parse(&plain, words)->status, LAMINA_ERROR_ARGUMENT);
}

static void numbers_that_are_not_finite_become_null(void **state)
{
  (void)state;
  json_t *number = lmi_json_number(NAN);
  assert_true(json_is_null(number));
  json_decref(number);
  number = lmi_json_number(INFINITY);
  assert_true(json_is_null(number));
  json_decref(number);
  number = lmi_json_number(1.5);
  assert_true(json_is_real(number));
  json_decref(number);
}

LMI_TEST_MAIN(cmocka_unit_test(defaults_stay_where_nothing_is_given), cmocka_unit_test(every_form_of_an_option_is_read),
              cmocka_unit_test(sizes_are_read_with_their_unit), cmocka_unit_test(bad_values_are_refused),
              cmocka_unit_test(shortened_names_are_unknown), cmocka_unit_test(a_missing_value_or_argument_is_told),
              cmocka_unit_test(two_dashes_end_the_options), cmocka_unit_test(a_program_keeps_its_own_words),
              cmocka_unit_test(help_wins_over_what_follows), cmocka_unit_test(a_list_has_an_end),
              cmocka_unit_test(numbers_that_are_not_finite_become_null))
