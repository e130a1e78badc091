/* SPDX-License-Identifier: Apache-2.0 */
/* The scheduling study (Wahlgren et al., SC23, section 7.2): how long a job takes when its neighbours at the memory
 * pool are anybody (the level of interference is drawn from 0 to 50 % every minute), and when the scheduler keeps jobs
 * that disturb much away from it (0 to 20 %).
 *
 *   lamina_sensitivity_curve curve;
 *   lamina_sensitivity_curve_read(context, "solver.json", 50, &curve);     // lamina interfere --json
 *   lamina_scheduling_plan plan = lamina_scheduling_plan_default();
 *   plan.curve = &curve;
 *   lamina_scheduling *result = NULL;
 *   lamina_scheduling_model(context, &plan, &result);
 *   lamina_scheduling_destroy(context, result);
 *
 * The model integrates progress: at level L the job advances S(L) seconds of undisturbed work a second. Equal seeds
 * give equal results on every machine. */
#ifndef LAMINA_SCHEDULING_H
#define LAMINA_SCHEDULING_H

#include <lamina/interference.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { LAMINA_CURVE_POINTS = 65 };

/* X(name, loss at level 50 in percent, text) */
#define LAMINA_SCHEDULING_EXAMPLE_LIST(X)                \
  X("hypre", 15, "algebraic multigrid, bound by memory") \
  X("nekrs", 13, "spectral elements, bound by memory")   \
  X("hpl", 4, "dense factorisation, bound by the processor")

/* S over the level of interference, straight between its points. */
typedef struct lamina_sensitivity_curve {
  char name[128];                            /* of the program, or the example */
  char source[256];                          /* file, or what an example was made from */
  double share;                              /* percent in the pool; NAN: one memory */
  double seconds;                            /* of the undisturbed program; NAN: an example */
  double coefficient_median, coefficient_q3; /* NAN: not known */
  size_t count;
  double levels[LAMINA_CURVE_POINTS], performance[LAMINA_CURVE_POINTS]; /* levels rise from 0 */
} lamina_sensitivity_curve;

/* The curve of one share out of a file of `lamina interfere --json`; share NAN: the only one. Points that were not
 * measured are left out. Errors: FILE, CASE (no such file of ours, newer, no such share: which there are). */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_sensitivity_curve_read(lamina_context *context, const char *path,
                                                                        double share, lamina_sensitivity_curve *curve);

/* One of LAMINA_SCHEDULING_EXAMPLE_LIST: the loss at level 50 that the paper's text states for half of the footprint in
 * the pool, on a straight line (the paper's plots are not numbers). Errors: ARGUMENT (which there are). */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_sensitivity_curve_example(lamina_context *context, const char *name,
                                                                           lamina_sensitivity_curve *curve);

/* S at a level; NAN beyond the last point: nothing was measured there. */
LAMINA_API double lamina_sensitivity_curve_at(const lamina_sensitivity_curve *curve, double level);

typedef struct lamina_scheduling_plan {
  const lamina_sensitivity_curve *curve; /* of the model */
  double work_seconds;                   /* of the undisturbed job; 0: the curve's */
  double step_seconds;                   /* between two draws; default 60 */
  double random[2], aware[2];            /* levels that are drawn evenly; defaults 0 to 50, 0 to 20 */
  int runs;                              /* of each policy, 1 to 1000000; default 100 */
  uint64_t seed;                         /* default 1 */
} lamina_scheduling_plan;

LAMINA_API lamina_scheduling_plan lamina_scheduling_plan_default(void);

typedef struct lamina_policy_result {
  double low, high; /* levels */
  lamina_five_numbers seconds;
  double mean_seconds, mean_level;
  double *runs; /* seconds of each, in the order of the draws */
} lamina_policy_result;

typedef struct lamina_scheduling {
  bool is_live;
  char name[128];
  double work_seconds, step_seconds;
  int runs;
  uint64_t seed;
  lamina_policy_result random, aware;
  double speedup_percent;   /* 100 (mean random / mean aware - 1) */
  double q3_change_percent; /* 100 (q3 aware / q3 random - 1): negative is better */
  char remark[LAMINA_REASON_BYTES];
} lamina_scheduling;

/* Both policies see the same random numbers, scaled to their levels. Errors: ARGUMENT (also a policy that goes beyond
 * the curve), MEMORY. */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_scheduling_model(lamina_context *context,
                                                                  const lamina_scheduling_plan *plan,
                                                                  lamina_scheduling **result);

/* The same by running a program beside the injector: one run of each policy in turn, A B A B. `state` (may be NULL) is
 * a file that takes each run when it is done; what it has already is not run again, so an aborted study goes on.
 * Errors: as lamina_interference_run; CASE (a state file of another study). */
typedef struct lamina_live_plan {
  char *const *argv;
  const lamina_injector_calibration *calibration;
  int injector_threads; /* 0: a quarter of the processors, at least one */
  const char *output, *state;
  void (*progress)(void *user, const char *text, int done, int total);
  void *user;
} lamina_live_plan;
LAMINA_API LAMINA_NODISCARD lamina_status lamina_scheduling_live(lamina_context *context,
                                                                 const lamina_scheduling_plan *plan,
                                                                 const lamina_live_plan *live, int *exit_code,
                                                                 lamina_scheduling **result);

LAMINA_API void lamina_scheduling_destroy(lamina_context *context, lamina_scheduling *result);

/* The level of step `step` of run `run` between low and high: what both of the above draw. */
LAMINA_API double lamina_scheduling_level(uint64_t seed, int run, int64_t step, double low, double high);

/* ---- results out ---- */

LAMINA_API LAMINA_NODISCARD lamina_status lamina_scheduling_print(lamina_context *context,
                                                                  const lamina_scheduling *result,
                                                                  const lamina_sensitivity_curve *curve,
                                                                  lamina_interference_form form, FILE *stream);
LAMINA_API LAMINA_NODISCARD lamina_status lamina_scheduling_plot(lamina_context *context,
                                                                 const lamina_scheduling *result, const char *path);

/* Two files in a folder, made if missing: slurm.conf.part with a pool's budget of disturbance as a licence, and
 * job.sbatch.part with what this job takes of it (docs/user/memory.md). */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_scheduling_save_slurm(lamina_context *context,
                                                                       const lamina_scheduling *result,
                                                                       const lamina_sensitivity_curve *curve,
                                                                       const char *folder);

#ifdef __cplusplus
}
#endif

#endif
