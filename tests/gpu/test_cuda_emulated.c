/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* The cuda backend on an emulated driver: the kernel texts of the device, run by the host's compiler thread by thread,
 * streams and events in random legal orders, memory poisoned. */
#include "cuda_cases.h"
#include "cuda_special_cases.h"

#include <unistd.h>

static void cuda_setup(void)
{
  if (system("gcc --version > compiler.txt 2>&1") != 0)
    LMI_SKIP("there is no gcc to compile kernels with");
  setenv("LAMINA_CUDA_DRIVER", CUDA_EMULATOR, 1);
  setenv("LAMINA_NVRTC", CUDA_EMULATOR, 1);
  setenv("LAMINA_KERNEL_CACHE", "kernels", 1);
}

/* A damaged file in the cache is compiled again; a whole one is used: the second run needs no compiler. */
static void keeps_kernels_and_distrusts_damaged_ones(void **state)
{
  (void)state;
  cuda_setup();
  assert_int_equal(system("rm -rf kernels"), 0);
  random_case drawn = {.options = cavity(8), .steps = 5};
  case_outcome first = random_case_run(&drawn, LAMINA_BACKEND_CUDA);
  assert_int_equal(first.status, LAMINA_OK);
  assert_int_equal(system("ls kernels/*.cubin > /dev/null && truncate -s 5000 kernels/*.cubin"), 0);
  case_outcome second = random_case_run(&drawn, LAMINA_BACKEND_CUDA);
  assert_int_equal(second.status, LAMINA_OK);
  assert_int_equal(system("test -z \"$(find kernels -name '*.cubin' -size -5001c)\""), 0);
  assert_memory_equal(first.planes, second.planes, first.bytes);
  case_outcome_free(&first);
  case_outcome_free(&second);
}

static void compare_two_devices(const char *replay, int partitions)
{
  setenv("LAMINA_CUDA_REPLAY", replay, 1);
  random_case drawn = {.options = cavity(12), .steps = 41};
  drawn.options.partitions = partitions;
  case_outcome one = random_case_run(&drawn, LAMINA_BACKEND_CUDA);
  drawn.options.devices[1] = 1;
  drawn.options.device_count = 2;
  case_outcome two = random_case_run(&drawn, LAMINA_BACKEND_CUDA);
  drawn.options.copy_messages = true;
  case_outcome copied = random_case_run(&drawn, LAMINA_BACKEND_CUDA);
  unsetenv("LAMINA_CUDA_REPLAY");
  if (one.status != LAMINA_OK || two.status != LAMINA_OK || copied.status != LAMINA_OK)
    fail_msg("%s: '%s', '%s', '%s'", replay, one.message, two.message, copied.message);
  assert_memory_equal(one.planes, two.planes, one.bytes);
  assert_memory_equal(one.planes, copied.planes, one.bytes);
  case_outcome_free(&one);
  case_outcome_free(&two);
  case_outcome_free(&copied);
}

/* Both emulated devices at once, slabs dealt out in turn: by graphs, step by step, and meeting without events. */
static void two_devices_give_what_one_gives(void **state)
{
  (void)state;
  cuda_setup();
  compare_two_devices("graphs", 4);
  compare_two_devices("streams", 2);
  compare_two_devices("meetings", 2);
}

LMI_TEST_MAIN(cmocka_unit_test(agrees_with_the_processor_1), cmocka_unit_test(agrees_with_the_processor_2),
              cmocka_unit_test(agrees_with_the_processor_3), cmocka_unit_test(steps_in_any_portions_are_the_same),
              cmocka_unit_test(names_the_first_value_that_is_not_finite),
              cmocka_unit_test(half_storage_is_as_good_as_a_half), cmocka_unit_test(blocks_agree_with_the_processor),
              cmocka_unit_test(open_faces_agree_with_the_processor), cmocka_unit_test(refuses_what_does_not_fit),
              cmocka_unit_test(refuses_a_device_that_is_not_there),
              cmocka_unit_test(keeps_kernels_and_distrusts_damaged_ones),
              cmocka_unit_test(two_devices_give_what_one_gives))
