/* SPDX-License-Identifier: Apache-2.0 */
/* How much a program suffers from others at a shared memory, and how much it disturbs them (Wahlgren et al., SC23,
 * section 6): the sensitivity curve S(LoI) = T(0) / T(LoI), and the interference coefficient, the slow-down of the
 * injector's reference beside the program.
 *
 *   lamina_interference_plan plan = lamina_interference_plan_default();
 *   plan.argv = argv;
 *   plan.calibration = calibration;                        // lamina_inject_calibrate, or loaded
 *   lamina_interference *result = NULL;
 *   lamina_interference_run(context, &plan, &result);
 *   lamina_interference_destroy(context, result);
 *
 * The program runs many times: with each level in each of `runs` rounds, so that a machine that drifts harms all levels
 * alike. It gets some processors, the injector others; shares of the footprint are placed in the pool by taking the
 * local node's memory away (docs/theory/memory-analysis.md). */
#ifndef LAMINA_INTERFERENCE_H
#define LAMINA_INTERFERENCE_H

#include <stdio.h>

#include <lamina/inject.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { LAMINA_REASON_BYTES = 192 };

/* Quartiles by linear interpolation between order statistics (type 7 of Hyndman and Fan 1996). */
typedef struct lamina_five_numbers {
  double min, q1, median, q3, max;
} lamina_five_numbers;

/* Sorts the values; NAN for none of them. */
LAMINA_API lamina_five_numbers lamina_five_numbers_of(double *values, size_t count);

typedef struct lamina_interference_plan {
  char *const *argv; /* NULL-terminated */
  const lamina_injector_calibration *calibration;
  const double *levels;      /* percent, 0 to 100; 0 is measured in any case. NULL: 0, 10, ... 50 */
  size_t level_count;        /* at most 64 */
  const double *shares;      /* percent of the footprint in the pool, above 0, at most 99. NULL: 25, 50, 75 */
  size_t share_count;        /* at most 16 */
  int runs;                  /* of each point, 1 to 1000; default 5 */
  int injector_threads;      /* 0: a quarter of the processors, at least one */
  int local_node, pool_node; /* LAMINA_NODE_ANY: the first node of the fastest tier, and of the next one */
  const char *output;        /* file that takes what the program prints; NULL: it is dropped */
  void (*progress)(void *user, const char *text, int done, int total); /* NULL for none */
  void *user;
} lamina_interference_plan;

LAMINA_API lamina_interference_plan lamina_interference_plan_default(void);

/* One level at one share. performance is the median of T(0) over the median of T(LoI), low and high its 95 % interval
 * by a bootstrap over the rounds (NAN for one round; at level 0 the scatter of the undisturbed runs). NAN in all three:
 * not measured, see reason. */
typedef struct lamina_sensitivity_point {
  double share;          /* asked, percent; NAN: this machine cannot place shares */
  double achieved_share; /* of a run that was watched; NAN as above */
  double loi;            /* asked, percent of the greatest traffic of that moment */
  double achieved_loi;   /* before the program started: median of the rounds; NAN at 0 */
  double beside_loi;     /* what the injector still reached beside the program; NAN at 0 */
  double seconds;        /* median */
  double performance, low, high;
  char reason[LAMINA_REASON_BYTES];
} lamina_sensitivity_point;

typedef struct lamina_coefficient_point {
  double seconds, coefficient;
} lamina_coefficient_point;

/* The coefficient while the program was in one of its phases (lamina/phase.h). */
typedef struct lamina_coefficient_phase {
  char name[64]; /* "" outside of phases */
  lamina_five_numbers coefficient;
  size_t sample_count;
} lamina_coefficient_phase;

typedef struct lamina_interference {
  char *program; /* the command line */
  char processor[96];
  lamina_sensitivity_point *points; /* by share, then by level, rising */
  size_t point_count;
  int runs, exit_code;                    /* the program's, the same in all runs */
  char share_reason[LAMINA_REASON_BYTES]; /* why there are no shares; "" where there are */
  char remark[LAMINA_REASON_BYTES];       /* what weakens the numbers; "" for nothing */
  double peak_gb_per_s;                   /* level 100, median of the rounds */
  int program_processors, injector_threads;

  lamina_five_numbers coefficient, idle; /* slow-down of the probe; the same on the idle machine, whose median is 1 */
  size_t sample_count;
  double idle_piece_seconds;
  lamina_coefficient_point *series; /* over the time of one run, at most 200 points, each a median */
  size_t series_count;
  lamina_coefficient_phase *phases; /* in the order in which they came; none of a program without markers */
  size_t phase_count;
} lamina_interference;

/* Errors: ARGUMENT (plan), UNAVAILABLE (no processor is left for the injector), SYSTEM (the program cannot start, ended
 * by a signal, or ends differently from run to run; exit_code says how in *exit_code), FILE (output). */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_interference_run(lamina_context *context,
                                                                  const lamina_interference_plan *plan, int *exit_code,
                                                                  lamina_interference **result);
LAMINA_API void lamina_interference_destroy(lamina_context *context, lamina_interference *result);

/* ---- results out ---- */

typedef enum lamina_interference_form { LAMINA_INTERFERENCE_TEXT, LAMINA_INTERFERENCE_JSON } lamina_interference_form;

LAMINA_API LAMINA_NODISCARD lamina_status lamina_interference_print(lamina_context *context,
                                                                    const lamina_interference *result,
                                                                    lamina_interference_form form, FILE *stream);

/* PATH.svg by gnuplot; its data and script stay beside it as PATH.dat and PATH.gp. UNAVAILABLE when gnuplot is not
 * installed: both of these are written then. `path` has no ending. */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_interference_plot(lamina_context *context,
                                                                   const lamina_interference *result, const char *path);

#ifdef __cplusplus
}
#endif

#endif
