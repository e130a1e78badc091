/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of users on the grid against loops over a plain array, bit for bit: boxes and edges of every kind, random
 * classes, all layouts, types, partitions, threads, with and without overlap, on poisoned memory. */
#include "support/test.h"

#include <lamina/grid.h>
#include <math.h>
#include <stdlib.h>

enum { MOST = 7, SIDE = MOST + 2, CELLS = SIDE * SIDE * SIDE, PERIODS = 2, HEAVY = 1 };

/* A small generator of numbers: the same ones everywhere. */
static uint32_t next_number(uint32_t *state)
{
  *state = *state * 1664525u + 1013904223u;
  return *state >> 12;
}

static int between(uint32_t *state, int low, int high)
{
  return low + (int)(next_number(state) % (uint32_t)(high - low + 1));
}

typedef struct setup {
  lamina_domain domain;
  uint32_t seed;
  int partitions, threads;
  bool no_overlap;
  lamina_layout layout;
  lamina_precision type;
} setup;

/* One number a cell, from its position alone. */
static uint32_t hash(uint32_t seed, lamina_int3 cell)
{
  uint32_t state =
    seed + (uint32_t)(cell.x + 1) * 73856093u + (uint32_t)(cell.y + 1) * 19349663u + (uint32_t)(cell.z + 1) * 83492791u;
  next_number(&state);
  return next_number(&state);
}

/* Every other box is of one class: whole rows then, and bands of them. */
static int class_of(void *user, lamina_int3 cell)
{
  const setup *s = user;
  return s->seed % 2 == 0 && hash(s->seed, cell) % 5 == 0 ? HEAVY : 0;
}

static void start(void *user, lamina_int3 cell, double *components)
{
  const uint32_t number = hash(((const setup *)user)->seed + 7, cell);
  components[0] = (double)(number % 1000) / 1024.0; /* exact in single precision too */
  components[1] = (double)(number / 1000 % 1000) / 1024.0 - 0.5;
}

/* Every neighbour with a weight of its own, so that no two may be mistaken for each other. */
LAMINA_KERNEL(plain, (OLD, NEW, DEPTH), const int depth = (int)LAMINA_VALUE(DEPTH); real sum = 0;
              for (int dz = -depth; dz <= depth; dz++) for (int dy = -1; dy <= 1; dy++) for (int dx = -1; dx <= 1; dx++)
                sum += (real)(LAMINA_NEIGHBOUR(dx, dy, dz) + 1) / 400 * LAMINA_NEAR(OLD, 0, dx, dy, dz);
              LAMINA_OUT(NEW, 0) = sum; LAMINA_OUT(NEW, 1) = LAMINA_NEAR(OLD, 1, 0, -1, 0) - sum / 2;)

LAMINA_KERNEL(heavy, (OLD, NEW),
              LAMINA_OUT(NEW, 0) = LAMINA_IN(OLD, 1) + (real)(LAMINA_X + 2 * LAMINA_Y + 3 * LAMINA_Z) / 32;
              LAMINA_OUT(NEW, 1) = LAMINA_NEAR(OLD, 0, 1, 1, 0);)

LAMINA_KERNEL(halve, (FIELD), LAMINA_OUT(FIELD, 1) = LAMINA_IN(FIELD, 1) / 2;)

LAMINA_KERNEL(total, (FIELD), LAMINA_REDUCE(LAMINA_IN(FIELD, 0) * LAMINA_NEAR(FIELD, 1, 1, 0, 0));)

/* ---- the judge ---- */

typedef struct plain_box {
  const setup *setup;
  double value[2][CELLS];
} plain_box;

static int at(lamina_int3 cell)
{
  return (int)((cell.x + 1) + SIDE * ((cell.y + 1) + SIDE * (cell.z + 1)));
}

static lamina_index seen(const setup *s, int axis, lamina_index i, lamina_index n)
{
  if (s->domain.edge[axis] == LAMINA_EDGE_FIXED)
    return i;
  return i < 0 ? i + n : i >= n ? i - n : i;
}

static double near(const plain_box *box, int c, lamina_int3 cell, int dx, int dy, int dz)
{
  const lamina_int3 n = box->setup->domain.cells;
  const lamina_int3 place = {seen(box->setup, 0, cell.x + dx, n.x), seen(box->setup, 1, cell.y + dy, n.y),
                             box->setup->domain.dimension == 2 ? 0 : seen(box->setup, 2, cell.z + dz, n.z)};
  return box->value[c][at(place)];
}

/* The arithmetic of the kernels above, each operation rounded to the type. */
#define JUDGE_STEP(name, real)                                                                          \
  static void name(const plain_box *old, plain_box *new, lamina_int3 cell)                              \
  {                                                                                                     \
    const int depth = old->setup->domain.dimension - 2;                                                 \
    real sum = 0;                                                                                       \
    for (int dz = -depth; dz <= depth; dz++)                                                            \
      for (int dy = -1; dy <= 1; dy++)                                                                  \
        for (int dx = -1; dx <= 1; dx++)                                                                \
          sum += (real)(LAMINA_NEIGHBOUR(dx, dy, dz) + 1) / 400 * (real)near(old, 0, cell, dx, dy, dz); \
    real first = sum, second = (real)near(old, 1, cell, 0, -1, 0) - sum / 2;                            \
    if (class_of((void *)(uintptr_t)old->setup, cell) == HEAVY) {                                       \
      first = (real)near(old, 1, cell, 0, 0, 0) + (real)(cell.x + 2 * cell.y + 3 * cell.z) / 32;        \
      second = (real)near(old, 0, cell, 1, 1, 0);                                                       \
    }                                                                                                   \
    new->value[0][at(cell)] = (double)first;                                                            \
    new->value[1][at(cell)] = (double)(real)(second / 2);                                               \
  }
JUDGE_STEP(judge_f32, float)
JUDGE_STEP(judge_f64, double)

typedef void judge_function(const plain_box *old, plain_box *new, lamina_int3 cell);

static void start_box(const setup *s, plain_box *box)
{
  box->setup = s;
  const int depth = s->domain.dimension - 2;
  const lamina_int3 n = s->domain.cells;
  for (lamina_index z = -depth; z < n.z + depth; z++)
    for (lamina_index y = -1; y <= n.y; y++)
      for (lamina_index x = -1; x <= n.x; x++) {
        double values[2];
        start((void *)(uintptr_t)s, (lamina_int3){x, y, z}, values);
        for (int c = 0; c < 2; c++)
          box->value[c][at((lamina_int3){x, y, z})] = values[c];
      }
}

/* Advances and returns the reduction of the last state: along rows, rows of a plane, then planes (the last axis). */
static double judge(const setup *s, plain_box *result)
{
  static plain_box boxes[2];
  judge_function *const step = s->type == LAMINA_F64 ? judge_f64 : judge_f32;
  const lamina_int3 n = s->domain.cells;
  double sum = 0.0, plane = 0.0;
  for (int i = 0; i < 2; i++)
    start_box(s, &boxes[i]);
  for (int i = 0; i < 4 * PERIODS; i++)
    for (lamina_index z = 0; z < n.z; z++)
      for (lamina_index y = 0; y < n.y; y++)
        for (lamina_index x = 0; x < n.x; x++)
          step(&boxes[i % 2], &boxes[1 - i % 2], (lamina_int3){x, y, z});
  for (lamina_index z = 0; z < n.z; z++) {
    for (lamina_index y = 0; y < n.y; y++) {
      for (lamina_index x = 0; x < n.x; x++) {
        const lamina_int3 cell = {x, y, z};
        const double a = near(&boxes[0], 0, cell, 0, 0, 0), b = near(&boxes[0], 1, cell, 1, 0, 0);
        plane += s->type == LAMINA_F64 ? a * b : (double)((float)a * (float)b);
      }
      if (s->domain.dimension == 2) {
        sum += plane;
        plane = 0.0;
      }
    }
    sum += plane;
    plane = 0.0;
  }
  *result = boxes[0];
  return sum;
}

/* ---- the library ---- */

typedef struct made {
  lamina_context *ctx;
  lamina_grid *grid;
  lamina_field *field[2];
  lamina_kernel *kernels[7];
  lamina_schedule *schedule;
} made;

static void make_grid(const setup *s, made *m)
{
  const lamina_context_options context = {.threads = s->threads};
  assert_int_equal(lamina_context_create(&context, &m->ctx), LAMINA_OK);
  const lamina_property property = {"kind", class_of, (void *)(uintptr_t)s, 2};
  const lamina_grid_options options = {
    .stencil = s->domain.dimension == 2 ? LAMINA_STENCIL_9 : LAMINA_STENCIL_27,
    .partitions = s->partitions,
    .properties = &property,
    .property_count = 1,
    .backend = LAMINA_BACKEND_CHECK,
  };
  assert_int_equal(lamina_grid_create(m->ctx, &s->domain, &options, &m->grid), LAMINA_OK);
  assert_int_equal(lamina_grid_check(m->grid), LAMINA_OK);
  for (int i = 0; i < 2; i++) {
    const lamina_field_options field = {.name = "u", .components = 2, .type = s->type, .layout = s->layout};
    assert_int_equal(lamina_field_create(m->grid, &field, &m->field[i]), LAMINA_OK);
    assert_int_equal(lamina_field_fill(m->field[i], start, (void *)(uintptr_t)s), LAMINA_OK);
  }
}

static void make_kernels(const setup *s, made *m)
{
  const uint32_t stencil = s->domain.dimension == 2 ? LAMINA_STENCIL_9 : LAMINA_STENCIL_27;
  for (int i = 0; i < 2; i++) {
    const lamina_argument old = {.field = m->field[i], .stencil = stencil};
    const lamina_argument new = {.field = m->field[1 - i], .access = LAMINA_WRITE};
    const lamina_argument own = {.field = m->field[1 - i], .access = LAMINA_READ_WRITE};
    const lamina_argument depth = {.value = s->domain.dimension - 2};
    const lamina_kernel_options options[3] = {
      {.text = &plain, .arguments = {old, new, depth}, .argument_count = 3, .serves = {1u << 0}},
      {.text = &heavy, .arguments = {old, new}, .argument_count = 2, .serves = {1u << HEAVY}},
      {.text = &halve, .arguments = {own}, .argument_count = 1},
    };
    for (int k = 0; k < 3; k++)
      assert_int_equal(lamina_kernel_create(m->grid, &options[k], &m->kernels[3 * i + k]), LAMINA_OK);
  }
  const lamina_kernel_options sum = {.text = &total,
                                     .arguments = {{.field = m->field[0], .stencil = LAMINA_STENCIL_BIT(1, 0, 0)}},
                                     .argument_count = 1,
                                     .reduction = LAMINA_REDUCE_SUM};
  assert_int_equal(lamina_kernel_create(m->grid, &sum, &m->kernels[6]), LAMINA_OK);
}

static void unmake(made *m)
{
  lamina_schedule_destroy(m->schedule);
  for (int k = 0; k < 7; k++)
    lamina_kernel_destroy(m->kernels[k]);
  for (int i = 0; i < 2; i++)
    lamina_field_destroy(m->field[i]);
  lamina_grid_destroy(m->grid);
  lamina_context_destroy(m->ctx);
}

static void compare(const setup *s, const made *m, const plain_box *expected)
{
  static double values[MOST * MOST * MOST];
  const lamina_int3 n = s->domain.cells;
  for (int c = 0; c < 2; c++) {
    assert_int_equal(lamina_field_read(m->field[0], c, (lamina_int3){0, 0, 0}, n, values), LAMINA_OK);
    for (lamina_index i = 0; i < n.x * n.y * n.z; i++) {
      const lamina_int3 cell = {i % n.x, i / n.x % n.y, i / (n.x * n.y)};
      if (memcmp(&values[i], &expected->value[c][at(cell)], sizeof(double)) != 0)
        fail_msg("seed %u, %dD %lldx%lldx%lld, edges %d%d%d, %s %s, %d partitions, component %d of (%lld,%lld,%lld): "
                 "%.17g, not %.17g",
                 (unsigned)s->seed, s->domain.dimension, (long long)n.x, (long long)n.y, (long long)n.z,
                 (int)s->domain.edge[0], (int)s->domain.edge[1], (int)s->domain.edge[2], lamina_layout_name(s->layout),
                 lamina_precision_name(s->type), s->partitions, c, (long long)cell.x, (long long)cell.y,
                 (long long)cell.z, values[i], expected->value[c][at(cell)]);
    }
  }
}

static void run_setup(const setup *s, const plain_box *expected, double sum)
{
  made m = {0};
  lamina_schedule_info info;
  make_grid(s, &m);
  make_kernels(s, &m);
  const lamina_schedule_options options = {.no_overlap = s->no_overlap};
  const lamina_kernel *period[13];
  for (int k = 0; k < 13; k++)
    period[k] = m.kernels[k == 12 ? 6 : k % 6];
  assert_int_equal(lamina_schedule_create(m.grid, period, 13, &options, &m.schedule), LAMINA_OK);
  assert_int_equal(lamina_schedule_run(m.schedule, PERIODS), LAMINA_OK);
  compare(s, &m, expected);
  const double result = lamina_kernel_result(m.kernels[6]);
  assert_memory_equal(&result, &sum, sizeof sum);
  lamina_schedule_get_info(m.schedule, &info);
  assert_true((double)info.bytes_made == PERIODS * info.bytes);
  assert_true((double)info.messages_made == PERIODS * info.messages);
  /* The second kernel of each of the four rounds reads a halo that is still valid. */
  assert_int_equal(info.exchanges, info.messages > 0 ? 4 : 0);
  unmake(&m);
}

static setup random_setup(uint32_t seed)
{
  uint32_t state = seed;
  setup s = {.seed = seed, .domain = {.dimension = between(&state, 2, 3)}};
  s.domain.cells = (lamina_int3){between(&state, 1, MOST), between(&state, 1, MOST), 1};
  if (s.domain.dimension == 3)
    s.domain.cells.z = between(&state, 1, MOST);
  for (int axis = 0; axis < 3; axis++)
    s.domain.edge[axis] = (lamina_edge)between(&state, 0, 1);
  s.type = (lamina_precision)between(&state, 0, 1);
  return s;
}

static void equal_plain_loops_bit_for_bit(void **state)
{
  (void)state;
  static plain_box expected;
  for (uint32_t seed = 1; seed <= 40; seed++) {
    setup s = random_setup(seed);
    const double sum = judge(&s, &expected);
    const lamina_int3 n = s.domain.cells;
    const int most = (int)(s.domain.dimension == 2 ? n.y : n.z);
    for (int layout = LAMINA_LAYOUT_PLANE; layout <= LAMINA_LAYOUT_AOS; layout++)
      for (s.partitions = 1; s.partitions <= most; s.partitions++) {
        s.layout = (lamina_layout)layout;
        s.threads = 1 + (s.partitions + layout) % 3;
        s.no_overlap = (s.partitions + layout + (int)seed) % 2 == 0;
        run_setup(&s, &expected, sum);
      }
  }
}

LMI_TEST_MAIN(cmocka_unit_test(equal_plain_loops_bit_for_bit))
