/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Much of everything, and large programs of others: minutes under the tracer. */
#define _GNU_SOURCE
#include "traced.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void a_thousand_children_are_a_thousand_profiles(void **state)
{
  (void)state;
  size_t count;
  traced_target("fork1000");
  assert_int_equal(traced.wait_status, 0);
  (void)lamina_profile_processes(traced.profile, &count);
  assert_int_equal(count, 1001);
}

/* 10 million blocks of 16 bytes, all alive: 480 MB in the program under Valgrind's allocator. The tracer may add its
 * list of blocks (32 bytes each, and a table to find them), and must not grow with what was freed. */
static void ten_million_blocks_are_one_object(void **state)
{
  (void)state;
  struct rusage usage;
  traced_target("blocks10m");
  assert_int_equal(traced.wait_status, 0);
  const lamina_profile_object *blocks = traced_object("allocate_many_blocks");
  assert_int_equal(blocks->blocks, 10000000);
  assert_int_equal(blocks->bytes_peak, 160000000);
  assert_int_equal(blocks->accesses, 4 * 10000000); /* two words written, two read */
  assert_int_equal(getrusage(RUSAGE_CHILDREN, &usage), 0);
  assert_true(usage.ru_maxrss < 1800 * 1024);
}

LMI_TEST_MAIN(cmocka_unit_test_teardown(a_thousand_children_are_a_thousand_profiles, traced_close),
              cmocka_unit_test_teardown(ten_million_blocks_are_one_object, traced_close))
