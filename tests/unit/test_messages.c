/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of the halo exchange: alpha and beta of the papers' tables, and every byte that the host copies. Linked with
 * --wrap=memcpy, so that copies are counted where they are made, not where the library says so. */
#include "support/test.h"

#include <stdatomic.h>

#include "base/base.h"
#include <lamina/grid.h>
#include <lamina/solver.h>

static atomic_ullong copied_bytes, copies;

void *__real_memcpy(void *target, const void *source, size_t bytes);
void *__wrap_memcpy(void *target, const void *source, size_t bytes);

/* In the frames of the last few calls: farther away, other threads' stacks and fields may lie. */
static bool is_on_stack(const void *address)
{
  const char here = 0;
  const intptr_t distance = (const char *)address - &here;
  return distance > -(1 << 12) && distance < 1 << 15;
}

/* The row kernels store what they computed in blocks of a few cells that lie on the stack, and compilers may copy a
 * struct to a variable by memcpy: those are no messages. */
enum { BLOCK_BYTES = 128 };

void *__wrap_memcpy(void *target, const void *source, size_t bytes)
{
  if (is_on_stack(target) || (bytes <= BLOCK_BYTES && is_on_stack(source)))
    return __real_memcpy(target, source, bytes);
  atomic_fetch_add(&copied_bytes, bytes);
  atomic_fetch_add(&copies, 1);
  return __real_memcpy(target, source, bytes);
}

static lamina_context *make_context(void)
{
  const lamina_context_options options = {.threads = 2};
  lamina_context *ctx = NULL;
  assert_int_equal(lamina_context_create(&options, &ctx), LAMINA_OK);
  if (lmi_require_kernels(ctx) != LAMINA_OK)
    LMI_SKIP("%s", lamina_error_message(ctx));
  return ctx;
}

enum { NX = 16, NY = 12, NZ = 9, SLABS = 3 };

static lamina_solver_options periodic_flow(lamina_lattice lattice, lamina_layout layout, lamina_streaming streaming)
{
  lamina_solver_options options = lamina_solver_options_default();
  const bool flat = lattice == LAMINA_D2Q9;
  options.lattice = lattice;
  options.cells = flat ? (lamina_int3){NX, NZ, 1} : (lamina_int3){NX, NY, NZ};
  options.layout = layout;
  options.streaming = streaming;
  options.partitions = SLABS;
  return options;
}

static void expect_table(lamina_lattice lattice, lamina_streaming streaming, lamina_layout layout, int alpha,
                         lamina_index values_per_cell)
{
  lamina_context *ctx = make_context();
  const lamina_solver_options options = periodic_flow(lattice, layout, streaming);
  lamina_solver *solver = NULL;
  lamina_solver_info info;
  assert_int_equal(lamina_solver_create(ctx, &options, &solver), LAMINA_OK);
  lamina_solver_get_info(solver, &info);
  const lamina_index shared = lattice == LAMINA_D2Q9 ? NX : NX * NY;
  if (info.alpha != alpha || info.beta_values != values_per_cell * shared)
    fail_msg("%s %s %s: alpha %d, beta %lld s, not %d, %lld s", lamina_lattice_name(lattice),
             lamina_streaming_name(streaming), lamina_layout_name(layout), info.alpha,
             (long long)(info.beta_values / shared), alpha, (long long)values_per_cell);
  lamina_solver_destroy(solver);
  lamina_context_destroy(ctx);
}

/* Table of section 6.1 of arXiv 2503.07898, in shared cells s of one side: AoS 2 and 2Q s; SoA 2n and 2n s;
 * disaggregated 2 and 2n s, with n = 3, 5, 9 populations across a face. Plane order: as disaggregated. */
static void lattice_table_two_grid(void **state)
{
  (void)state;
  static const int all[] = {9, 19, 27}, crossing[] = {3, 5, 9};
  for (int l = 0; l < 3; l++) {
    const lamina_lattice lattice = (lamina_lattice)l;
    expect_table(lattice, LAMINA_TWO_GRID, LAMINA_LAYOUT_AOS, 2, 2 * all[l]);
    expect_table(lattice, LAMINA_TWO_GRID, LAMINA_LAYOUT_SOA, 2 * crossing[l], 2 * crossing[l]);
    expect_table(lattice, LAMINA_TWO_GRID, LAMINA_LAYOUT_DISAGGREGATED, 2, 2 * crossing[l]);
    expect_table(lattice, LAMINA_TWO_GRID, LAMINA_LAYOUT_PLANE, 2, 2 * crossing[l]);
  }
}

/* In place, slots are lent and given back (beyond the paper): the same counts; in AoS the lent slots alone go. */
static void lattice_table_in_place(void **state)
{
  (void)state;
  static const int crossing[] = {3, 5, 9};
  for (int l = 0; l < 3; l++)
    for (int s = LAMINA_ESOTERIC_PULL; s <= LAMINA_AA; s++) {
      const lamina_lattice lattice = (lamina_lattice)l;
      const lamina_streaming streaming = (lamina_streaming)s;
      expect_table(lattice, streaming, LAMINA_LAYOUT_AOS, 2, 2 * crossing[l]);
      expect_table(lattice, streaming, LAMINA_LAYOUT_SOA, 2 * crossing[l], 2 * crossing[l]);
      expect_table(lattice, streaming, LAMINA_LAYOUT_DISAGGREGATED, 2, 2 * crossing[l]);
      expect_table(lattice, streaming, LAMINA_LAYOUT_PLANE, 2, 2 * crossing[l]);
    }
}

/* Bytes between the first and the last element of a message of `values` components of one plane: components lie a
 * skewed plane apart, never more than 10 cache lines beyond their cells (layout.c). */
static void expect_bytes(double bytes, double values, size_t element_bytes, double components)
{
  const double least = values * (double)element_bytes;
  assert_true(bytes >= least);
  assert_true(bytes <= least + components * (10.0 * 64 + (NX + NY) * (double)element_bytes));
}

/* What memcpy moved in the steps is what the messages hold, to the byte: nothing was packed or staged. */
static void the_flow_copies_its_messages_and_nothing_else(void **state)
{
  (void)state;
  static const lamina_layout layouts[] = {LAMINA_LAYOUT_PLANE, LAMINA_LAYOUT_DISAGGREGATED, LAMINA_LAYOUT_SOA};
  for (int s = LAMINA_ESOTERIC_PULL; s <= LAMINA_TWO_GRID; s++)
    for (size_t i = 0; i < LMI_COUNT(layouts); i++) {
      const lamina_solver_options options = periodic_flow(LAMINA_D3Q19, layouts[i], (lamina_streaming)s);
      lamina_context *ctx = make_context();
      lamina_solver *solver = NULL;
      lamina_solver_info info;
      assert_int_equal(lamina_solver_create(ctx, &options, &solver), LAMINA_OK);
      lamina_solver_get_info(solver, &info);
      const unsigned long long bytes = copied_bytes, count = copies;
      assert_int_equal(lamina_solver_run(solver, 10), LAMINA_OK);
      assert_int_equal(copies - count, (unsigned long long)(10 * SLABS * info.alpha));
      expect_bytes((double)(copied_bytes - bytes) / (10 * SLABS), (double)info.beta_values, sizeof(float), 10);
      lamina_solver_destroy(solver);
      lamina_context_destroy(ctx);
    }
}

LAMINA_KERNEL(average, (OLD, NEW),
              for (int c = 0; c < 2; c++)
                LAMINA_OUT(NEW, c) = (real)0.25 * (LAMINA_NEAR(OLD, c, -1, 0, 0) + LAMINA_NEAR(OLD, c, 1, 0, 0) +
                                                   LAMINA_NEAR(OLD, c, 0, -1, 0) + LAMINA_NEAR(OLD, c, 0, 1, 0));)

/* One Jacobi step on a vector field, run ten times; the messages counted in three ways. */
static void run_jacobi(lamina_layout layout, uint32_t components, lamina_schedule_info *info)
{
  const lamina_domain domain = lamina_domain_box(2, (lamina_int3){NX, NZ, 1});
  const lamina_grid_options options = {.stencil = LAMINA_STENCIL_5, .partitions = SLABS};
  const lamina_field_options vector = {.name = "u", .components = 2, .type = LAMINA_F64, .layout = layout};
  lamina_context *ctx = make_context();
  lamina_grid *grid = NULL;
  lamina_field *u[2] = {NULL, NULL};
  lamina_kernel *kernel = NULL;
  lamina_schedule *schedule = NULL;
  assert_int_equal(lamina_grid_create(ctx, &domain, &options, &grid), LAMINA_OK);
  assert_int_equal(lamina_field_create(grid, &vector, &u[0]), LAMINA_OK);
  assert_int_equal(lamina_field_create(grid, &vector, &u[1]), LAMINA_OK);
  const lamina_kernel_options step = {.text = &average,
                                      .arguments = {{u[0], LAMINA_READ, LAMINA_STENCIL_5, components, components, 0},
                                                    {.field = u[1], .access = LAMINA_WRITE}},
                                      .argument_count = 2};
  assert_int_equal(lamina_kernel_create(grid, &step, &kernel), LAMINA_OK);
  assert_int_equal(lamina_schedule_create(grid, (const lamina_kernel *const[]){kernel}, 1, NULL, &schedule), LAMINA_OK);
  const unsigned long long bytes = copied_bytes, count = copies;
  assert_int_equal(lamina_schedule_run(schedule, 10), LAMINA_OK);
  lamina_schedule_get_info(schedule, info);
  assert_int_equal(copies - count, info->messages_made);
  assert_int_equal(copied_bytes - bytes, info->bytes_made);
  assert_true((double)info->bytes_made == 10 * info->bytes);
  assert_true((double)info->messages_made == 10 * SLABS * info->alpha);
  lamina_schedule_destroy(schedule);
  lamina_kernel_destroy(kernel);
  lamina_field_destroy(u[0]);
  lamina_field_destroy(u[1]);
  lamina_grid_destroy(grid);
  lamina_context_destroy(ctx);
}

/* Table 1 of the paper: beta = 2 d_x elements, which are vectors of two values. */
static void jacobi_table(void **state)
{
  (void)state;
  static const struct {
    lamina_layout layout;
    double alpha;
  } rows[] = {
    {LAMINA_LAYOUT_AOS, 2}, {LAMINA_LAYOUT_SOA, 4}, {LAMINA_LAYOUT_DISAGGREGATED, 2}, {LAMINA_LAYOUT_PLANE, 2}};
  for (size_t i = 0; i < LMI_COUNT(rows); i++) {
    lamina_schedule_info info;
    run_jacobi(rows[i].layout, 0, &info);
    assert_true(info.alpha == rows[i].alpha);
    assert_true(info.beta_values == 2 * NX * 2);
    expect_bytes(info.bytes / SLABS, info.beta_values, sizeof(double), 4);
  }
}

/* Only the components that a kernel declares to read across go across. */
static void one_component_alone_crosses(void **state)
{
  (void)state;
  lamina_schedule_info info;
  run_jacobi(LAMINA_LAYOUT_SOA, 1u << 1, &info);
  assert_true(info.alpha == 2);
  assert_true(info.beta_values == 2 * NX);
}

LMI_TEST_MAIN(cmocka_unit_test(lattice_table_two_grid), cmocka_unit_test(lattice_table_in_place),
              cmocka_unit_test(the_flow_copies_its_messages_and_nothing_else), cmocka_unit_test(jacobi_table),
              cmocka_unit_test(one_component_alone_crosses))
