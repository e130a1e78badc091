/* SPDX-License-Identifier: Apache-2.0 */
/* The key `grid`: what it sets, and that each mistake ends in one line with its place. */
#include "support/test.h"

#include <lamina/case.h>

#include "io/case_file.h"
#include "io/case_grid.h"

#define BOX                                              \
  "domain: {cells: [64, 64], length: 1 m}\n"             \
  "fluid: {reynolds: 100, speed: 1 m/s}\n"               \
  "boundaries: {all: wall, y+: {moving_wall: [1, 0]}}\n" \
  "run: {steps: 10}\n"                                   \
  "grid:\n"

static lamina_status load(const char *grid, lamina_context **ctx, lamina_case **flow)
{
  char text[1024];
  snprintf(text, sizeof text, "%s%s", BOX, grid);
  assert_int_equal(lamina_context_create(NULL, ctx), LAMINA_OK);
  return lmi_case_load_text(*ctx, "box.yaml", text, NULL, 0, flow);
}

static void reads_levels(void **state)
{
  (void)state;
  lamina_context *ctx = NULL;
  lamina_case *flow = NULL;
  assert_int_equal(load("  kind: levels\n  levels: 3\n  scheme: volumetric\n  refine:\n"
                        "    - {distance_to_walls: 50 mm}\n"
                        "    - {box: {from: [0.25, 0.25], to: [0.5, 0.75]}, level: 1}\n",
                        &ctx, &flow),
                   LAMINA_OK);
  const lamina_solver_options *solver = &flow->solver;
  assert_int_equal(solver->grid, LAMINA_GRID_LEVELS);
  assert_int_equal(solver->levels, 3);
  assert_int_equal(solver->level_scheme, LAMINA_LEVELS_VOLUMETRIC);
  assert_int_equal(solver->refinement_count, 2);
  assert_int_equal(solver->refinements[0].kind, LAMINA_REFINE_WALLS);
  assert_true(solver->refinements[0].distance == 0.05 * 64.0);
  assert_int_equal(solver->refinements[1].kind, LAMINA_REFINE_BOX);
  assert_int_equal(solver->refinements[1].level, 1);
  assert_true(solver->refinements[1].low[0] == 16.0 && solver->refinements[1].high[1] == 48.0);
  assert_int_equal(lmi_case_step_stride(flow), 4);
  assert_int_equal(flow->last_step, 12); /* 10 steps, to whole steps of the coarsest level */
  lamina_case_destroy(flow);
  lamina_context_destroy(ctx);
}

static void reads_a_word(void **state)
{
  (void)state;
  lamina_context *ctx = NULL;
  lamina_case *flow = NULL;
  assert_int_equal(load("  dense\n", &ctx, &flow), LAMINA_OK);
  assert_int_equal(flow->solver.grid, LAMINA_GRID_DENSE);
  lamina_case_destroy(flow);
  lamina_context_destroy(ctx);
}

static void mistakes_end_in_a_line_with_their_place(void **state)
{
  (void)state;
  static const struct {
    const char *grid, *message;
  } CASES[] = {
    {"  dens\n", "box.yaml:6: grid: 'dens'"},
    {"  levels: 3\n", "box.yaml:6: grid: kind is missing; one of: dense, sparse, levels"},
    {"  kind: levels\n", "box.yaml:6: grid: levels need their number"},
    {"  kind: levels\n  levels: 9\n", "box.yaml:7: grid.levels: 9 is outside [2, 8]"},
    {"  kind: levels\n  levels: 3\n", "box.yaml:6: grid: levels need places to refine"},
    {"  kind: levels\n  levels: 3\n  refine: 3\n", "box.yaml:8: grid.refine: '3' is not a list of regions"},
    {"  kind: levels\n  levels: 3\n  refine: [{level: 1}]\n", "box.yaml:8: grid.refine.0: needs one of box,"},
    {"  kind: levels\n  levels: 3\n  refine:\n    - {distance_to_walls: 0.1, bodies: 0.1}\n", "this has 2 of them"},
    {"  kind: levels\n  levels: 3\n  refine:\n    - {distance_to_walls: -1}\n",
     "box.yaml:9: grid.refine.0.distance_to_walls: -1 is outside (0,"},
    {"  kind: levels\n  levels: 3\n  refine:\n    - {distance_to_walls: 0.1, level: 2}\n",
     "box.yaml:9: grid.refine.level: 2 of 3 levels; from 0, the finest, to 1"},
    {"  kind: levels\n  levels: 3\n  refine:\n    - {box: {from: [0.2, 0.5], to: [0.3, 0.5]}}\n",
     "from 0.5 m to 0.5 m along y: the box is empty"},
    {"  kind: levels\n  levels: 3\n  refine:\n    - {box: {from: [0.2, 0.5]}}\n", "needs both corners"},
    {"  kind: levels\n  levels: 8\n  refine: [{distance_to_walls: 0.1}]\n",
     "box.yaml:1: domain.cells: 64 cells along x with 8 levels; multiples of 128 are needed, 128 or 128"},
    {"  kind: dense\n  levels: 3\n", "box.yaml:7: grid: levels goes with kind levels only, this is dense"},
    {"  kind: levels\n  levels: 3\n  grouping: memory\n  refine: [{distance_to_walls: 0.1}]\n",
     "box.yaml:8: grid: grouping goes with kind sparse only, this is levels"},
    {"  dense\noutput: [{fields: [velocity], cells: levels}]\n", "box.yaml:7: output.0: cells: levels needs a grid"},
    {"  dense\noutput: [{slice: {}, image: speed, cells: finest}]\n", "cells belongs to fields"},
    {"  kind: levels\n  level: 3\n", "unknown key 'level'; did you mean 'levels'?"},
  };
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
    lamina_context *ctx = NULL;
    lamina_case *flow = NULL;
    assert_int_equal(load(CASES[i].grid, &ctx, &flow), LAMINA_ERROR_CASE);
    if (strstr(lamina_error_message(ctx), CASES[i].message) == NULL)
      fail_msg("'%s' does not say '%s'", lamina_error_message(ctx), CASES[i].message);
    lamina_context_destroy(ctx);
  }
}

LMI_TEST_MAIN(cmocka_unit_test(reads_levels), cmocka_unit_test(reads_a_word),
              cmocka_unit_test(mistakes_end_in_a_line_with_their_place))
