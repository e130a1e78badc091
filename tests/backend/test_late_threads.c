/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* A hundred runs in which every thread is late at random before and behind each barrier: a copy that is not ordered
 * against the planes that write or read the same values meets them in ever new orders. All layouts, 1 to 8 slabs. */
#include "equal_bits.h"

#include <stdatomic.h>
#include <time.h>

#include "device/cpu/cpu_barrier.h"

enum { RUNS = 100, STEPS = 6, LONGEST_NS = 60000 };

static atomic_uint drawn;
static atomic_ulong late;

/* Each call draws another number, whichever thread makes it. */
static void be_late(void)
{
  unsigned h = atomic_fetch_add_explicit(&drawn, 2654435761u, memory_order_relaxed);
  h ^= h >> 16;
  h *= 0x7feb352du;
  h ^= h >> 15;
  if (h % 8 != 0)
    return;
  const struct timespec delay = {.tv_nsec = (long)(h / 8 % LONGEST_NS)};
  nanosleep(&delay, NULL);
  atomic_fetch_add_explicit(&late, 1, memory_order_relaxed);
}

/* Linked with --wrap: the replay calls the second, which calls what it meant. */
void __real_lmi_cpu_barrier_wait(lmi_cpu_barrier *barrier, int threads);
void __wrap_lmi_cpu_barrier_wait(lmi_cpu_barrier *barrier, int threads);

void __wrap_lmi_cpu_barrier_wait(lmi_cpu_barrier *barrier, int threads)
{
  be_late();
  __real_lmi_cpu_barrier_wait(barrier, threads);
  be_late();
}

static void compare_runs(lamina_lattice lattice, lamina_grid_kind grid)
{
  const bool flat = lamina_lattice_dimension(lattice) == 2;
  const lamina_index planes = grid == LAMINA_GRID_DENSE ? 9 : flat ? 65 : 33; /* at least 8 slabs */
  lamina_solver_options options[2];
  unsigned char *expected[2];
  size_t bytes = 0;
  for (int box = 0; box < 2; box++) {
    options[box] = box_options(lattice, box, true);
    options[box].cells = flat ? (lamina_int3){11, planes, 1} : (lamina_int3){11, 5, planes};
    expected[box] = run_variant(options[box], &judge, STEPS, &bytes);
  }
  atomic_store(&late, 0);
  for (int i = 0; i < RUNS; i++) {
    const variant v = {(lamina_layout)(i % 4), (lamina_streaming)(i % 3), 1 + i % 8, 2 + i % 2, grid};
    unsigned char *found = run_variant(options[i / 8 % 2], &v, STEPS, &bytes);
    if (memcmp(found, expected[i / 8 % 2], bytes) != 0)
      fail_msg("run %d: %s %s, %s, %d slabs, %d threads differs from the judge", i, lamina_lattice_name(lattice),
               lamina_layout_name(v.layout), lamina_streaming_name(v.streaming), v.partitions, v.threads);
    free(found);
  }
  assert_true(atomic_load(&late) > RUNS);
  free(expected[0]);
  free(expected[1]);
}

static void late_threads_change_nothing_on_planes(void **state)
{
  (void)state;
  compare_runs(LAMINA_D3Q19, LAMINA_GRID_DENSE);
}

static void late_threads_change_nothing_in_two_dimensions(void **state)
{
  (void)state;
  compare_runs(LAMINA_D2Q9, LAMINA_GRID_DENSE);
}

static void late_threads_change_nothing_on_blocks(void **state)
{
  (void)state;
  compare_runs(LAMINA_D3Q19, LAMINA_GRID_SPARSE);
}

LMI_TEST_MAIN(cmocka_unit_test(late_threads_change_nothing_on_planes),
              cmocka_unit_test(late_threads_change_nothing_in_two_dimensions),
              cmocka_unit_test(late_threads_change_nothing_on_blocks))
