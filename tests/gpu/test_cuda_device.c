/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* The cuda backend on the first device of this machine; without one, what the user is told. */
#include "cuda_cases.h"
#include "cuda_special_cases.h"

#include <lamina/accelerator.h>

static void cuda_setup(void)
{
  lamina_context *ctx = NULL;
  lamina_accelerator device;
  assert_int_equal(lamina_context_create(NULL, &ctx), LAMINA_OK);
  const lamina_status status = lamina_accelerator_read(ctx, 0, &device);
  char reason[256];
  snprintf(reason, sizeof reason, "%s", lamina_error_message(ctx));
  lamina_context_destroy(ctx);
  if (status == LAMINA_UNAVAILABLE)
    LMI_SKIP("%s", reason);
  assert_int_equal(status, LAMINA_OK);
}

/* A driver that is not there is no crash and no silent change to the processor. */
static void says_why_there_is_no_device(void **state)
{
  (void)state;
  setenv("LAMINA_CUDA_DRIVER", "/nonexistent/libcuda.so", 1);
  lamina_context *ctx = NULL;
  lamina_solver *solver = NULL;
  const lamina_solver_options options = cavity(8);
  assert_int_equal(lamina_context_create(NULL, &ctx), LAMINA_OK);
  assert_int_equal(lamina_solver_create(ctx, &options, &solver), LAMINA_UNAVAILABLE);
  assert_null(solver);
  assert_non_null(strstr(lamina_error_message(ctx), "needs an NVIDIA driver"));
  lamina_context_destroy(ctx);
}

LMI_TEST_MAIN(cmocka_unit_test(agrees_with_the_processor_1), cmocka_unit_test(agrees_with_the_processor_2),
              cmocka_unit_test(agrees_with_the_processor_3), cmocka_unit_test(steps_in_any_portions_are_the_same),
              cmocka_unit_test(names_the_first_value_that_is_not_finite),
              cmocka_unit_test(half_storage_is_as_good_as_a_half), cmocka_unit_test(blocks_agree_with_the_processor),
              cmocka_unit_test(open_faces_agree_with_the_processor), cmocka_unit_test(refuses_what_does_not_fit),
              cmocka_unit_test(refuses_a_device_that_is_not_there), cmocka_unit_test(says_why_there_is_no_device))
