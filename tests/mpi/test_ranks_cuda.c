/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* Ranks whose slabs lie in memory of a device: every layout and streaming on the emulated driver, spread over all ranks
 * and 1 or 2 slabs each, gives the bits of one process on the processor; and a fault is named as it names it. */
#include "ranks_case.h"

#include <stdlib.h>

#include "backend/flow_setup.h"

enum { STEPS = 5 };

static void cuda_setup(void)
{
  if (system("gcc --version > compiler.txt 2>&1") != 0)
    LMI_SKIP("there is no gcc to compile kernels with");
  setenv("LAMINA_CUDA_DRIVER", CUDA_EMULATOR, 1);
  setenv("LAMINA_NVRTC", CUDA_EMULATOR, 1);
  setenv("LAMINA_KERNEL_CACHE", "kernels", 1);
}

static unsigned char *run(lamina_context *ctx, lamina_solver_options options, lamina_backend backend, size_t *bytes,
                          lamina_totals *totals)
{
  int dimension = lamina_lattice_dimension(options.lattice);
  lamina_solver *solver = NULL;
  options.backend = backend;
  if (lamina_solver_create(ctx, &options, &solver) != LAMINA_OK ||
      lamina_solver_initialise(solver, random_start, &dimension) != LAMINA_OK ||
      lamina_solver_run(solver, STEPS) != LAMINA_OK || lamina_solver_totals(solver, totals) != LAMINA_OK)
    fail_msg("%s %s, %d ranks x %d slabs: %s", lamina_layout_name(options.layout),
             lamina_streaming_name(options.streaming), lamina_rank_count(ctx), options.partitions,
             lamina_error_message(ctx));
  unsigned char *state = copy_state(solver, bytes);
  lamina_solver_destroy(solver);
  return state;
}

static void devices_of_ranks_give_the_bits_of_one_process(void **state)
{
  (void)state;
  cuda_setup();
  lamina_context *alone = make_context(1, false), *joined = make_context(1, true);
  for (int i = 0; i < 12; i++) {
    lamina_solver_options options = box_options(i % 5 == 4 ? LAMINA_D2Q9 : LAMINA_D3Q19, i % 2, i % 3 == 1);
    lamina_totals expected_totals, totals;
    size_t bytes = 0;
    options.layout = (lamina_layout)(i % 4);
    options.streaming = (lamina_streaming)(i % 3);
    options.no_overlap = i % 5 == 2;
    unsigned char *expected = run(alone, options, LAMINA_BACKEND_CPU, &bytes, &expected_totals);
    options.partitions = lamina_rank_count(joined) <= 3 ? 1 + i / 4 % 2 : 1;
    unsigned char *found = run(joined, options, LAMINA_BACKEND_CUDA, &bytes, &totals);
    if (memcmp(found, expected, bytes) != 0)
      fail_msg("%s %s, %d slabs a rank: differs from one process", lamina_layout_name(options.layout),
               lamina_streaming_name(options.streaming), options.partitions);
    assert_memory_equal(&totals, &expected_totals, sizeof totals);
    free(found);
    free(expected);
  }
  lamina_context_destroy(joined);
  lamina_context_destroy(alone);
}

static void spoil_one_cell(void *user, lamina_real3 centre, lamina_cell_state *state)
{
  random_start(user, centre, state);
  if (centre.x > 2 && centre.x < 3 && centre.y > 1 && centre.y < 2 && centre.z > 5 && centre.z < 6)
    state->velocity[0] = 1e30;
}

static void a_fault_on_one_rank_is_told_by_all(void **state)
{
  (void)state;
  cuda_setup();
  static const lamina_backend backends[] = {LAMINA_BACKEND_CPU, LAMINA_BACKEND_CUDA};
  char messages[2][512];
  for (int i = 0; i < 2; i++) {
    lamina_context *ctx = make_context(1, i == 1);
    lamina_solver *solver = NULL;
    int dimension = 3;
    lamina_solver_options options = box_options(LAMINA_D3Q19, 0, false);
    options.backend = backends[i];
    if (lamina_solver_create(ctx, &options, &solver) != LAMINA_OK)
      fail_msg("%s", lamina_error_message(ctx));
    assert_int_equal(lamina_solver_initialise(solver, spoil_one_cell, &dimension), LAMINA_OK);
    assert_int_equal(lamina_solver_run(solver, 100), LAMINA_ERROR_DIVERGED);
    snprintf(messages[i], sizeof messages[i], "%s", lamina_error_message(ctx));
    lamina_solver_destroy(solver);
    lamina_context_destroy(ctx);
  }
  assert_string_equal(messages[0], messages[1]);
}

LMI_RANKS_MAIN(cmocka_unit_test(devices_of_ranks_give_the_bits_of_one_process),
               cmocka_unit_test(a_fault_on_one_rank_is_told_by_all))
