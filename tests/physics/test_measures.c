/* SPDX-License-Identifier: Apache-2.0 */
/* Inlets, forces, probes and statistics as keys of a case: what is wrong is named with its line, a resumed run leaves
 * the files of an unbroken one, expectations decide the exit. */
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/base.h"
#include <lamina/case.h>

static const char CASE[] = "domain: {cells: [48, 24], length: 2 m}\n"
                           "fluid: {reynolds: 20, speed: 1 m/s, reference_length: 0.25 m}\n"
                           "collision: regularized\n"
                           "curved: bouzidi\n"
                           "bodies:\n"
                           "  - {name: rod, cylinder: {centre: [0.6, 0.5], axis: z, radius: 0.125}}\n"
                           "boundaries:\n"
                           "  all: wall\n"
                           "  x-: {velocity: {at: [1.5, 0], profile: parabolic, ramp: 0.5 s}}\n"
                           "  x+: outflow\n"
                           "forces: {body: rod, every: 5 steps, from: 0.2 s}\n"
                           "probes: [{at: [1.5, 0.5], every: 10 steps, name: wake}]\n"
                           "statistics: {from: 0.2 s, every: 7 steps}\n"
                           "run: {steps: 240}\n"
                           "checkpoint: {every: 100 steps}\n"
                           "lattice_speed: 0.05\n";

static void write_text(const char *name, const char *text)
{
  FILE *file = fopen(name, "w");
  assert_non_null(file);
  fputs(text, file);
  assert_int_equal(fclose(file), 0);
}

static char *read_text(const char *name, size_t *bytes)
{
  FILE *file = fopen(name, "rb");
  if (file == NULL)
    fail_msg("there is no %s", name);
  char *text = calloc(1, 1 << 20);
  *bytes = fread(text, 1, (1 << 20) - 1, file);
  (void)fclose(file);
  return text;
}

static lamina_context *make_context(void)
{
  lamina_context *ctx = NULL;
  lamina_context_options options = lamina_context_options_default();
  options.threads = 1;
  assert_int_equal(lamina_context_create(&options, &ctx), LAMINA_OK);
  return ctx;
}

static lamina_status run_case(lamina_context *ctx, const char *folder, bool resume, const char *override,
                              lamina_run_result **result)
{
  lamina_case *flow = NULL;
  *result = NULL;
  if (lamina_case_load(ctx, "measures.yaml", &override, override != NULL, &flow) != LAMINA_OK)
    fail_msg("%s", lamina_error_message(ctx));
  lamina_run_options options = lamina_run_options_default();
  options.folder = folder;
  options.resume = resume;
  const lamina_status status = lamina_case_run(ctx, flow, &options, result);
  lamina_case_destroy(flow);
  return status;
}

static void assert_same_file(const char *name)
{
  char path[2][128];
  size_t bytes[2];
  snprintf(path[0], sizeof path[0], "whole/%s", name);
  snprintf(path[1], sizeof path[1], "broken/%s", name);
  char *a = read_text(path[0], &bytes[0]), *b = read_text(path[1], &bytes[1]);
  assert_int_equal(bytes[0], bytes[1]);
  assert_memory_equal(a, b, bytes[0]);
  free(a);
  free(b);
}

static void a_resumed_run_measures_the_same(void **state)
{
  (void)state;
  lamina_context *ctx = make_context();
  lamina_run_result *whole = NULL, *part = NULL;
  write_text("measures.yaml", CASE);
  assert_int_equal(run_case(ctx, "whole", false, NULL, &whole), LAMINA_OK);
  assert_int_equal(whole->force_count, 1);
  assert_true(whole->forces[0].drag.mean > 0 && whole->forces[0].samples > 10);
  assert_true(fabs(whole->forces[0].area - 0.25) < 1e-12);
  /* A step at which the series have a row anyway: the end of a run adds one. */
  assert_int_equal(run_case(ctx, "broken", false, "run.steps=100", &part), LAMINA_OK);
  lamina_run_result_destroy(part);
  assert_int_equal(run_case(ctx, "broken", true, NULL, &part), LAMINA_OK);
  assert_int_equal(part->first_step, 100);
  assert_same_file("force-rod.csv");
  assert_same_file("probe-wake.csv");
  assert_true(whole->forces[0].drag.mean == part->forces[0].drag.mean);
  struct stat info;
  assert_int_equal(stat("whole/statistics.vtkhdf", &info), 0);
  assert_same_file("statistics.vtkhdf");
  lamina_run_result_destroy(whole);
  lamina_run_result_destroy(part);
  lamina_context_destroy(ctx);
}

/* In two dimensions the depth of a body does not matter: per metre of depth the area is its width across the drag. */
static void a_section_has_its_width(void **state)
{
  (void)state;
  static const char *const BODIES[] = {
    "bodies=[{cylinder: {centre: [0.5, 0.5], radius: 0.125}, name: rod}]",
    "bodies=[{cylinder: {from: [0.5, 0.375], to: [0.5, 0.625], radius: 0.1}, name: rod}]",
    "bodies=[{sphere: {centre: [0.5, 0.5], radius: 0.125}, name: rod}]",
    "bodies=[{box: {from: [0.375, 0.375], to: [0.5, 0.625]}, name: rod}]",
  };
  lamina_context *ctx = make_context();
  write_text("measures.yaml", CASE);
  for (size_t i = 0; i < LMI_COUNT(BODIES); i++) {
    const char *overrides[] = {BODIES[i], "run.steps=20"};
    lamina_case *flow = NULL;
    lamina_run_result *result = NULL;
    assert_int_equal(lamina_case_load(ctx, "measures.yaml", overrides, LMI_COUNT(overrides), &flow), LAMINA_OK);
    lamina_run_options options = lamina_run_options_default();
    options.folder = "section";
    assert_int_equal(lamina_case_run(ctx, flow, &options, &result), LAMINA_OK);
    if (fabs(result->forces[0].area - 0.25) > 1e-6)
      fail_msg("%s: area %g", BODIES[i], result->forces[0].area);
    lamina_run_result_destroy(result);
    lamina_case_destroy(flow);
  }
  lamina_context_destroy(ctx);
}

static void an_expectation_decides_the_exit(void **state)
{
  (void)state;
  lamina_context *ctx = make_context();
  lamina_run_result *result = NULL;
  write_text("measures.yaml", CASE);
  assert_int_equal(run_case(ctx, "met", false, "forces.expect={drag: [0, 1000]}", &result), LAMINA_OK);
  lamina_run_result_destroy(result);
  assert_int_equal(run_case(ctx, "missed", false, "forces.expect={drag: [0, 1e-6]}", &result), LAMINA_ERROR_CHECK);
  assert_non_null(strstr(lamina_error_message(ctx), "rod-drag"));
  lamina_run_result_destroy(result);
  lamina_context_destroy(ctx);
}

typedef struct bad_case {
  const char *override, *words;
} bad_case;

static const bad_case BAD[] = {
  {"boundaries.x-={velocity: 3}", "is not a map"},
  {"boundaries.x-={velocity: [1, 0, 2]}", "third component must be 0"},
  {"boundaries.x-={velocity: {profile: parabolic}}", "needs its velocity"},
  {"boundaries.x-={velocity: {at: [1, 0], profile: parabola}}", "uniform, parabolic, or a file NAME.csv"},
  {"boundaries.x-={velocity: {at: [1, 0], profile: in.csv}}", "leave `at` away"},
  {"boundaries.x-={velocity: {profile: absent.csv}}", "No such file"},
  {"boundaries.x-={velocity: {at: [1, 0], method: zouhe}}", "did you mean 'zou_he'"},
  {"boundaries.x-={velocity: {at: [1, 0], ramp: 0 s}}", "is outside (0"},
  {"boundaries.x-=velocity", "needs a value"},
  {"boundaries.x-={slip: 1}", "takes no value"},
  {"boundaries.x+={outflow: {presure: 1}}", "did you mean 'pressure'"},
  {"boundaries.x+={pressure: 1e9 Pa}", "must stay within 1 +- 0.2"},
  {"boundaries.x+=periodic", "x+ is periodic, x- is not"},
  {"grid=dense", "bodies do not go with dense; choose sparse"},
  {"grid={kind: levels, levels: 2, refine: [{distance_to_walls: 0.1}]}", "bodies do not go with levels"},
  {"forces.body=wing", "'wing' is no body's name"},
  {"forces.expect={drag: [2, 1]}", "[low, high]"},
  {"forces.expect={drags: [1, 2]}", "unknown key 'drags'"},
  {"forces.drag=[0, 0]", "must not be 0"},
  {"forces.area=-1", "is outside (0"},
  {"bodies=null", "there are no bodies"},
  {"probes.0.at=[9, 0.5]", "outside the domain [0, 2] m"},
  {"probes.0.name=a/b", "becomes a file's name"},
  {"probes=[{at: [1, 0.5], name: a}, {at: [1, 0.4], name: a}]", "'a' is the name of probe 1 already"},
  {"statistics.every=null", "the time between two samples"},
};

static void what_is_wrong_is_named(void **state)
{
  (void)state;
  lamina_context *ctx = make_context();
  write_text("measures.yaml", CASE);
  for (size_t i = 0; i < LMI_COUNT(BAD); i++) {
    lamina_case *flow = NULL;
    lamina_run_result *result = NULL;
    lamina_status status = lamina_case_load(ctx, "measures.yaml", &BAD[i].override, 1, &flow);
    if (status == LAMINA_OK) { /* what only the solver knows */
      lamina_run_options options = lamina_run_options_default();
      options.folder = "bad";
      status = lamina_case_run(ctx, flow, &options, &result);
    }
    if (status == LAMINA_OK || strstr(lamina_error_message(ctx), BAD[i].words) == NULL)
      fail_msg("%s: expected '%s', got '%s'", BAD[i].override, BAD[i].words, lamina_error_message(ctx));
    lamina_run_result_destroy(result);
    lamina_case_destroy(flow);
    lamina_error_clear(ctx);
  }
  lamina_context_destroy(ctx);
}

typedef struct bad_table {
  const char *text, *words;
} bad_table;

static const bad_table BAD_TABLES[] = {
  {"", "the table is empty"},
  {"t,velocity_x_m_per_s\n0,1\n", "in.csv:1: the first column must be one of x_m, y_m, z_m"},
  {"y_m,speed\n0,1\n", "in.csv:1: columns after the first"},
  {"y_m,velocity_x_m_per_s\n", "no row below the header"},
  {"y_m,velocity_x_m_per_s\n0,1\n0,2\n", "in.csv:3: positions must rise"},
  {"y_m,velocity_x_m_per_s\n0\n", "in.csv:2: fewer values"},
  {"y_m,velocity_x_m_per_s\n0,1,2\n", "in.csv:2: more values"},
  {"y_m,velocity_x_m_per_s\n0,one\n", "in.csv:2: not a number: one"},
  {"x_m,velocity_x_m_per_s\n0,1\n", "no axis of face x-"},
};

static void tables_are_read_and_refused(void **state)
{
  (void)state;
  lamina_context *ctx = make_context();
  const char *const override = "boundaries.x-={velocity: {profile: in.csv}}";
  lamina_case *flow = NULL;
  write_text("measures.yaml", CASE);
  for (size_t i = 0; i < LMI_COUNT(BAD_TABLES); i++) {
    write_text("in.csv", BAD_TABLES[i].text);
    if (lamina_case_load(ctx, "measures.yaml", &override, 1, &flow) == LAMINA_OK ||
        strstr(lamina_error_message(ctx), BAD_TABLES[i].words) == NULL)
      fail_msg("expected '%s', got '%s'", BAD_TABLES[i].words, lamina_error_message(ctx));
    lamina_error_clear(ctx);
  }
  write_text("in.csv", "# a ramp\ny_m, velocity_x_m_per_s\n0, 0\n\n1, 2\n");
  assert_int_equal(lamina_case_load(ctx, "measures.yaml", &override, 1, &flow), LAMINA_OK);
  const lamina_real3 *profile = lamina_case_solver_options(flow)->faces[0].profile;
  const double unit = lamina_case_units(flow)->velocity_unit;
  for (int j = 0; j < 24; j++)
    assert_true(fabs(profile[j].x * unit - 2.0 * (j + 0.5) / 24.0) < 1e-12);
  lamina_case_destroy(flow);
  lamina_context_destroy(ctx);
}

LMI_TEST_MAIN(cmocka_unit_test(a_resumed_run_measures_the_same), cmocka_unit_test(a_section_has_its_width),
              cmocka_unit_test(an_expectation_decides_the_exit), cmocka_unit_test(what_is_wrong_is_named),
              cmocka_unit_test(tables_are_read_and_refused))
