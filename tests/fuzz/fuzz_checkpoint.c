/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "fuzz.h"
#include "io/checkpoint.h"

static lamina_solver *make_solver(lamina_context *ctx)
{
  lamina_solver_options options = lamina_solver_options_default();
  options.cells = (lamina_int3){4, 3, 2};
  options.omega = 1.5;
  lamina_solver *solver = NULL;
  if (lamina_solver_create(ctx, &options, &solver) != LAMINA_OK)
    abort();
  return solver;
}

int lmi_fuzz_one(const uint8_t *data, size_t bytes)
{
  (void)data, (void)bytes;
  lamina_context *ctx = lmi_fuzz_context();
  lmi_checkpoint *checkpoint = NULL;
  if (lmi_checkpoint_open(ctx, "input", &checkpoint) == LAMINA_OK) {
    lamina_solver *solver = make_solver(ctx);
    if (lmi_checkpoint_restore(checkpoint, solver, NULL) != LAMINA_OK)
      lamina_error_clear(ctx);
    lamina_solver_destroy(solver);
  }
  lmi_checkpoint_close(checkpoint);
  lamina_context_destroy(ctx);
  return 0;
}

void lmi_fuzz_seed(lmi_fuzz_add *add)
{
  lamina_context *ctx = lmi_fuzz_context();
  lamina_solver *solver = make_solver(ctx);
  const lmi_checkpoint_note note = {.case_hash = "0123456789abcdef", .state = "{\"next\": 1}", .time = 1.0};
  if (lmi_checkpoint_write(ctx, "seed", solver, &note) != LAMINA_OK)
    abort();
  lmi_fuzz_add_file("seed", add);
  lamina_solver_destroy(solver);
  lamina_context_destroy(ctx);
}
