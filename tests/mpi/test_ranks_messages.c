/* SPDX-License-Identifier: Apache-2.0 */
/* Messages between ranks leave the field's own memory and arrive in it: linked with --wrap=memcpy, which counts every
 * byte that the library copies on the host. */
#include "ranks_case.h"

#include <stdatomic.h>

#include "base/ranks.h"
#include "flow/solver_internal.h"

static atomic_ullong copied_bytes;

void *__real_memcpy(void *target, const void *source, size_t bytes);
void *__wrap_memcpy(void *target, const void *source, size_t bytes);

static bool is_on_stack(const void *address)
{
  const char here = 0;
  const intptr_t distance = (const char *)address - &here;
  return distance > -(1 << 20) && distance < 1 << 20;
}

/* Row kernels store blocks of a few cells from the stack: those are no messages. */
enum { BLOCK_BYTES = 128 };

void *__wrap_memcpy(void *target, const void *source, size_t bytes)
{
  if (bytes > BLOCK_BYTES || !is_on_stack(source))
    atomic_fetch_add(&copied_bytes, bytes);
  return __real_memcpy(target, source, bytes);
}

enum { NX = 16, NY = 12, STEPS = 10 };

typedef struct traffic {
  lmi_transfers made;
  unsigned long long copied;
} traffic;

static traffic run(lamina_lattice lattice, lamina_layout layout, lamina_streaming streaming, int partitions)
{
  lamina_context *ctx = make_context(1, true);
  lamina_solver_options options = lamina_solver_options_default();
  const bool flat = lattice == LAMINA_D2Q9;
  options.lattice = lattice;
  options.cells = flat ? (lamina_int3){NX, 24, 1} : (lamina_int3){NX, NY, 24};
  options.layout = layout;
  options.streaming = streaming;
  options.partitions = partitions;
  lamina_solver *solver = NULL;
  traffic t = {0};
  assert_int_equal(lamina_solver_create(ctx, &options, &solver), LAMINA_OK);
  lmi_device *device = solver->flow->device;
  lmi_transfers before;
  device->ops->transfers(device, &before);
  const unsigned long long copied = atomic_load(&copied_bytes);
  const uint64_t allocations = lmi_allocation_count(ctx);
  assert_int_equal(lamina_solver_run(solver, STEPS), LAMINA_OK);
  assert_int_equal(lmi_allocation_count(ctx), allocations);
  t.copied = atomic_load(&copied_bytes) - copied;
  device->ops->transfers(device, &t.made);
  t.made.messages -= before.messages;
  t.made.bytes -= before.bytes;
  lamina_solver_destroy(solver);
  lamina_context_destroy(ctx);
  return t;
}

/* Per step: n populations up and n down from each rank, one message each in the disaggregated layouts, n in SoA. */
static void nothing_is_copied_on_the_host(void **state)
{
  (void)state;
  static const int crossing[] = {3, 5, 9};
  for (int lattice = 0; lattice < 3; lattice++)
    for (int layout = 0; layout < 4; layout++)
      for (int streaming = 0; streaming < 3; streaming++) {
        const traffic t = run((lamina_lattice)lattice, (lamina_layout)layout, (lamina_streaming)streaming, 1);
        assert_int_equal(t.copied, 0);
        if (layout == LAMINA_LAYOUT_PLANE || layout == LAMINA_LAYOUT_DISAGGREGATED)
          assert_int_equal(t.made.messages, 2 * STEPS);
        if (layout == LAMINA_LAYOUT_SOA)
          assert_int_equal(t.made.messages, (uint64_t)(2 * crossing[lattice] * STEPS));
      }
}

/* Two slabs a rank: one face inside, which the host copies, and two outside. */
static void copies_inside_a_rank_and_messages_outside_add_up(void **state)
{
  (void)state;
  const traffic one = run(LAMINA_D3Q19, LAMINA_LAYOUT_PLANE, LAMINA_TWO_GRID, 1);
  const traffic two = run(LAMINA_D3Q19, LAMINA_LAYOUT_PLANE, LAMINA_TWO_GRID, 2);
  assert_int_equal(two.made.messages, 2 * one.made.messages);
  assert_int_equal(two.made.bytes, 2 * one.made.bytes);
  assert_int_equal(two.copied, one.made.bytes);
}

LMI_RANKS_MAIN(cmocka_unit_test(nothing_is_copied_on_the_host),
               cmocka_unit_test(copies_inside_a_rank_and_messages_outside_add_up))
