/* SPDX-License-Identifier: Apache-2.0 */
/* Benchmarks of the solver, each held against a ceiling measured in the same run.
 *
 *   lamina_dense_bench bench = lamina_dense_bench_default();
 *   bench.solver.cells = (lamina_int3){256, 256, 256};
 *   lamina_dense_bench_run(context, &bench, &row);
 *   printf("%.0f MLUPS, %.0f %% of the ceiling\n", row.mlups.median, 100 * row.share.median);
 */
#ifndef LAMINA_BENCH_H
#define LAMINA_BENCH_H

#include <lamina/machine.h>
#include <lamina/solver.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A lid-driven cavity: all faces walls, the last one moving along x. */
typedef struct lamina_dense_bench {
  lamina_solver_options solver; /* cells, lattice, ...; faces are set by the benchmark */
  int repetitions;              /* 1 to 1000; default 5 */
  double seconds;               /* of one repetition, about, > 0; default 0.5 */
} lamina_dense_bench;

/* Every repetition times the solver and then the ceiling: as many streams as velocities, of the same element size, read
 * and written in place, on the same threads or device. The speed of a shared machine drifts by more than kernels
 * differ, so the share is the median of the pairs' ratios. */
typedef struct lamina_dense_row {
  lamina_spread mlups;
  lamina_spread ceiling_mlups; /* NAN where it could not be measured; `ceiling_reason` says why */
  lamina_spread share;
  char ceiling_reason[160];
  double gb_per_s;       /* least traffic of the median: 2 Q bytes of storage a cell and step */
  double bytes_per_cell; /* memory of the fields */
  lamina_index steps;    /* of one repetition */
  int threads;
} lamina_dense_row;

LAMINA_API lamina_dense_bench lamina_dense_bench_default(void);

/* Errors: as lamina_solver_create and lamina_solver_run. */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_dense_bench_run(lamina_context *context,
                                                                 const lamina_dense_bench *bench,
                                                                 lamina_dense_row *row);

/* A point of a ping-pong: `messages` messages of `bytes` in all, sent together, took `us`. */
typedef struct lamina_transport_point {
  double messages, bytes, us;
} lamina_transport_point;

enum { LAMINA_TRANSPORT_POINTS = 144 };

/* What a message between two slabs costs: t = setup + bytes / b, and once for each exchange the meeting of the threads.
 * The three constants are fitted over all points; NAN where they say nothing of a number. */
typedef struct lamina_transport {
  char name[16];
  double sync_us;  /* of an exchange, whatever it sends */
  double setup_us; /* of a message */
  double gb_per_s;
  int point_count; /* 0: the constants are all there is */
  lamina_transport_point points[LAMINA_TRANSPORT_POINTS];
} lamina_transport;

/* Microseconds of one exchange: sync + messages setup + bytes / b. A transport changes its protocol with the length of
 * a message, and its b with the cache that holds it all; so the constants are those of the points whose messages are
 * about as long: least squares of relative errors with no constant below 0, a point whose messages are r times as long
 * and have s times as many bytes in all weighing exp(-(ln r / ln 1.15)^2 / 2 - (ln s / ln 1.4)^2 / 2), or with twice
 * these widths, and so on, where no point is near. NAN where there are neither points nor constants. */
LAMINA_API double lamina_transport_time(const lamina_transport *transport, double messages, double bytes);

/* Measures the transport by ping-pong: messages of 1 KiB to 8 MiB, 1 to 18 at a time, through the same replay that
 * carries halos. "threads" of the context; "mpi" where it joined several ranks (lamina/mpi.h): a ring in which all send
 * at the same time, and the agreement that ends a step. Collective. Errors: MEMORY, COMMUNICATION. */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_transport_measure(lamina_context *context,
                                                                   lamina_transport *transport);

/* The same between slabs of one accelerator, from what a copy costs in a captured graph. Errors: UNAVAILABLE, DEVICE.
 */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_transport_measure_device(lamina_context *context, int ordinal,
                                                                          lamina_transport *transport);

/* Halo exchange of a periodic box: the paper's Figure 5 on this machine. */
typedef struct lamina_halo_bench {
  lamina_solver_options solver; /* cells, lattice, layout, partitions, backend ... */
  int repetitions;              /* 1 to 1000; default 5 */
  double seconds;               /* of one repetition, about, > 0; default 0.1 */
} lamina_halo_bench;

typedef struct lamina_halo_row {
  int alpha;                /* messages a partition sends in a step (equation 1) */
  lamina_index beta_values; /* values in them */
  double bytes;             /* bytes in them, with the padding between components */
  double model_us;          /* of one exchange: lamina_transport_time() of alpha messages, times partitions / threads
                               where threads take turns; the points near it are measured anew, in turns with the
                               exchange, and this is the median */
  double measured_us;       /* the exchange alone, without computing */
  lamina_spread model_over_measured; /* of the turns */
  lamina_spread mlups, mlups_no_overlap;
  lamina_index steps;      /* of one repetition */
  int partitions, threads; /* of all ranks; of each */
  int ranks;
} lamina_halo_row;

LAMINA_API lamina_halo_bench lamina_halo_bench_default(void);

/* Collective. Errors: as lamina_solver_create and lamina_solver_run; ARGUMENT for fewer than 2 partitions in all, or
 * more than 1 on one of several ranks. */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_halo_bench_run(lamina_context *context, const lamina_halo_bench *bench,
                                                                const lamina_transport *transport,
                                                                lamina_halo_row *row);

/* A lid-driven cavity with refined walls: Table 5 of arXiv 2503.07898. Level l begins at distance thresholds[l] from
 * the walls, in half widths of the box; thresholds[0] is 0. */
typedef struct lamina_level_distribution {
  const char *name; /* "512x3": cells across and levels, as in the table */
  lamina_index cells;
  int levels;
  double thresholds[LAMINA_MAX_LEVELS];
} lamina_level_distribution;

/* Those of the table, by index from 0; NULL behind the last. */
LAMINA_API const lamina_level_distribution *lamina_level_distribution_get(size_t index);

typedef struct lamina_level_bench {
  lamina_solver_options
    solver; /* cells, lattice, collision, precision, backend, levels; grid, faces, refinement are set here */
  double thresholds[LAMINA_MAX_LEVELS];
  int repetitions; /* 1 to 1000; default 5 */
  double seconds;  /* of one repetition, about, > 0; default 0.5 */
  bool one_by_one; /* only one scheme in memory at a time; then gains compare medians instead of neighbours in time */
} lamina_level_bench;

enum { LAMINA_LEVEL_SCHEMES = 5 };

/* Updates are counted as the paper does: cells of a level times its own steps. Each repetition times all schemes
 * and then the ceiling, so that shares and gains are medians of ratios of neighbours in time. */
typedef struct lamina_level_row {
  lamina_level_info levels[LAMINA_MAX_LEVELS];
  lamina_spread mlups[LAMINA_LEVEL_SCHEMES]; /* by lamina_level_scheme */
  lamina_spread
    share[LAMINA_LEVEL_SCHEMES];            /* of the ceiling; NAN where that could not be measured: `ceiling_reason` */
  lamina_spread gain[LAMINA_LEVEL_SCHEMES]; /* over the baseline */
  lamina_spread ceiling_mlups;
  char ceiling_reason[160];
  double bytes_per_cell; /* fields and tables, of a cell that belongs to a level */
  lamina_index steps;    /* of one repetition, of the finest level */
  int threads;
} lamina_level_row;

LAMINA_API lamina_level_bench lamina_level_bench_default(void);

/* The cells of each level, `levels` having room for all of them, without a measurement. Errors: as lamina_levels_plan.
 */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_level_bench_plan(lamina_context *context,
                                                                  const lamina_level_bench *bench,
                                                                  lamina_level_info *levels);

/* Errors: as lamina_solver_create and lamina_solver_run. */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_level_bench_run(lamina_context *context,
                                                                 const lamina_level_bench *bench,
                                                                 lamina_level_row *row);

/* The ways to keep boundary cells apart (arXiv 2503.07898, section 4): a channel of blocks with a regularized inlet at
 * x = 0 and an outlet at its end, once for each grouping. */
typedef struct lamina_register_bench {
  lamina_solver_options solver; /* cells, lattice, collision, precision, streaming; grid and faces are set */
  int repetitions;              /* 1 to 1000; default 5 */
  double seconds;               /* of one repetition, about, > 0; default 0.2 */
} lamina_register_bench;

typedef struct lamina_register_row {
  lamina_spread mlups;
  lamina_spread to_memory;      /* ratio to the memory grouping in the same repetition */
  double model_extra_bytes;     /* beyond the memory grouping, the paper's Table 2 (popcount: 12 bytes a block) */
  double allocated_extra_bytes; /* the same, as allocated: every array that belongs to boundary cells */
  lamina_index blocks, special_blocks;
  lamina_index steps; /* of one repetition */
  int threads;
} lamina_register_row;

LAMINA_API lamina_register_bench lamina_register_bench_default(void);

/* One row for each grouping, in the order of LAMINA_GROUPING_LIST; `rows` has room for all. The groupings take turns,
 * so that a machine whose speed drifts treats them alike. Errors: as lamina_solver_create and lamina_solver_run. */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_register_bench_run(lamina_context *context,
                                                                    const lamina_register_bench *bench,
                                                                    lamina_register_row *rows);

/* Two layouts of the same periodic box in turn, on the partitions of bench->solver (0 or 1: what a layout costs where
 * nothing is sent). `ratio` is that of the pairs. Collective. */
typedef struct lamina_layout_pair {
  lamina_layout first, second;
  lamina_spread mlups_first, mlups_second, ratio; /* first over second */
} lamina_layout_pair;

LAMINA_API LAMINA_NODISCARD lamina_status lamina_layout_pair_run(lamina_context *context,
                                                                 const lamina_halo_bench *bench, lamina_layout first,
                                                                 lamina_layout second, lamina_layout_pair *pair);

#ifdef __cplusplus
}
#endif

#endif
