/* SPDX-License-Identifier: Apache-2.0 */
/* Follows a kernel text: what the emulated driver finds in a module. All threads of a launch run one after the other,
 * forwards or backwards: a step in place must not care. `run` returns 1 when a thread would have to wait. */
typedef struct emulated_entry {
  const char *name;
  int (*run)(void **arguments, const int *grid, const int *block, int backwards);
  size_t bytes[4];
} emulated_entry;

#define EMULATED_THREADS(call)                                                                                         \
  const int threads = block[0] * block[1] * block[2];                                                                  \
  const int64_t total = (int64_t)threads * grid[0] * grid[1] * grid[2];                                                \
  emulated_grid = (emulated_index){grid[0], grid[1], grid[2]};                                                         \
  for (int64_t n = 0; n < total; n++) {                                                                                \
    const int64_t at = backwards ? total - 1 - n : n;                                                                  \
    const int t = (int)(at % threads);                                                                                 \
    const int64_t b = at / threads;                                                                                    \
    emulated_thread = (emulated_index){t % block[0], t / block[0] % block[1], t / block[0] / block[1]};                \
    emulated_block = (emulated_index){(int)(b % grid[0]), (int)(b / grid[0] % grid[1]), (int)(b / grid[0] / grid[1])}; \
    call;                                                                                                              \
  }

#define EMULATED_KERNEL(name, type)                                                         \
  static int run_##name(void **arguments, const int *grid, const int *block, int backwards) \
  {                                                                                         \
    const type *argument = arguments[0];                                                    \
    emulated_waits = 0;                                                                     \
    EMULATED_THREADS(name(*argument))                                                       \
    return emulated_waits;                                                                  \
  }

/* One whose threads meet once: the threads of a thread block twice each, thread block after thread block. */
#define EMULATED_MEETING(name, type)                                                        \
  static int run_##name(void **arguments, const int *grid, const int *block, int backwards) \
  {                                                                                         \
    const type *argument = arguments[0];                                                    \
    for (int n = 0; n < grid[0]; n++) {                                                     \
      emulated_block = (emulated_index){backwards ? grid[0] - 1 - n : n, 0, 0};             \
      for (emulated_is_past = 0; emulated_is_past < 2; emulated_is_past++)                  \
        for (int t = 0; t < block[0]; t++) {                                                \
          emulated_thread = (emulated_index){backwards ? block[0] - 1 - t : t, 0, 0};       \
          name(*argument);                                                                  \
        }                                                                                   \
    }                                                                                       \
    return 0;                                                                               \
  }

#ifdef LMK_LINK_TEXT
static int run_lmk_link_sweep(void **arguments, const int *grid, const int *block, int backwards)
{
  EMULATED_THREADS(lmk_link_sweep(*(double **)arguments[0], *(const int64_t *)arguments[1],
                                  *(const int32_t *)arguments[2], *(const double *)arguments[3]))
  return 0;
}

const emulated_entry emulated_entries[] = {
  {"lmk_link_sweep", run_lmk_link_sweep, {sizeof(double *), sizeof(int64_t), sizeof(int32_t), sizeof(double)}},
  {0, 0, {0}},
};
#else
#ifdef LMK_TOTALS_TEXT
EMULATED_KERNEL(lmk_sum_columns, lmk_device_totals)
EMULATED_KERNEL(lmk_sum_segments, lmk_device_totals)
#else
#ifdef LMK_BLOCK_TEXT
EMULATED_MEETING(lmk_block_step_simple, lmk_device_block_step)
EMULATED_MEETING(lmk_block_step_any, lmk_device_block_step)
#if LMK_SPECIAL
EMULATED_MEETING(lmk_block_settle, lmk_device_settle)
#else
EMULATED_KERNEL(lmk_block_import, lmk_device_block_planes)
EMULATED_KERNEL(lmk_block_export, lmk_device_block_planes)
EMULATED_KERNEL(lmk_block_moments, lmk_device_block_planes)
#endif
#else
EMULATED_KERNEL(lmk_step_even, lmk_device_step)
EMULATED_KERNEL(lmk_step_odd, lmk_device_step)
EMULATED_KERNEL(lmk_import_planes, lmk_device_planes)
EMULATED_KERNEL(lmk_export_planes, lmk_device_planes)
EMULATED_KERNEL(lmk_moments, lmk_device_planes)
#endif
EMULATED_KERNEL(lmk_meet, lmk_device_meeting)

static int run_lmk_watch_advance(void **arguments, const int *grid, const int *block, int backwards)
{
  (void)grid;
  (void)block;
  (void)backwards;
  lmk_watch_advance(*(lmk_watch **)arguments[0], *(const uint64_t *)arguments[1]);
  return 0;
}
#endif

const emulated_entry emulated_entries[] = {
#ifdef LMK_TOTALS_TEXT
  {"lmk_sum_columns", run_lmk_sum_columns, {sizeof(lmk_device_totals), 0}},
  {"lmk_sum_segments", run_lmk_sum_segments, {sizeof(lmk_device_totals), 0}},
#else
#ifdef LMK_BLOCK_TEXT
  {"lmk_block_step_simple", run_lmk_block_step_simple, {sizeof(lmk_device_block_step), 0}},
  {"lmk_block_step_any", run_lmk_block_step_any, {sizeof(lmk_device_block_step), 0}},
#if LMK_SPECIAL
  {"lmk_block_settle", run_lmk_block_settle, {sizeof(lmk_device_settle), 0}},
#else
  {"lmk_block_import", run_lmk_block_import, {sizeof(lmk_device_block_planes), 0}},
  {"lmk_block_export", run_lmk_block_export, {sizeof(lmk_device_block_planes), 0}},
  {"lmk_block_moments", run_lmk_block_moments, {sizeof(lmk_device_block_planes), 0}},
#endif
#else
  {"lmk_step_even", run_lmk_step_even, {sizeof(lmk_device_step), 0}},
  {"lmk_step_odd", run_lmk_step_odd, {sizeof(lmk_device_step), 0}},
  {"lmk_import_planes", run_lmk_import_planes, {sizeof(lmk_device_planes), 0}},
  {"lmk_export_planes", run_lmk_export_planes, {sizeof(lmk_device_planes), 0}},
  {"lmk_moments", run_lmk_moments, {sizeof(lmk_device_planes), 0}},
#endif
  {"lmk_meet", run_lmk_meet, {sizeof(lmk_device_meeting), 0}},
  {"lmk_watch_advance", run_lmk_watch_advance, {sizeof(lmk_watch *), sizeof(uint64_t)}},
#endif
  {0, 0, {0, 0}},
};
#endif
