/* SPDX-License-Identifier: Apache-2.0 */
/* LBench: background traffic at a chosen level of interference (LoI), after Wahlgren et al., SC23, section 3.3. LoI 100
 * is the greatest traffic this machine's injector reaches on the memory it runs against, with one flop an element; the
 * level is set by the number of threads and by how many flops stand between two accesses.
 *
 *   lamina_injector_calibration *calibration = NULL;
 *   lamina_inject_calibrate(context, &options, &calibration);
 *   lamina_inject_choose(context, calibration, 50.0, 0, &setting);
 *   lamina_inject_run(context, &setting, 60.0, &result);        // stops by itself
 *   lamina_injector_calibration_destroy(context, calibration);
 *
 * Traffic is the injector's own: 8 bytes read and 8 written an element. */
#ifndef LAMINA_INJECT_H
#define LAMINA_INJECT_H

#include <lamina/accelerator.h>
#include <lamina/machine.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lamina_injector_setting {
  int threads;              /* 1 to 4096 */
  double flops_per_element; /* 1 to 100000; a fraction is kept by mixing neighbouring whole numbers */
  uint64_t array_bytes;     /* of all threads together; 0: four times the last-level caches */
  double hold_gb_per_s;     /* lamina_inject_run steers the flops towards this mean traffic; 0: the setting is fixed */
  lamina_placement placement;
} lamina_injector_setting;

typedef struct lamina_injection {
  double seconds, gb_per_s;
  uint64_t array_bytes;
  bool placed;
  /* The same seconds as the memory channels counted them, for the whole machine: above the injector's own when others
   * run. NAN with the reason where there are no such counters. Only of lamina_inject_run. */
  double channel_gb_per_s;
  char channel_reason[160];
} lamina_injection;

LAMINA_API lamina_injector_setting lamina_injector_setting_default(void);

/* Makes traffic for `seconds` (0.001 to 1e7). Blocking. Errors: ARGUMENT, MEMORY. */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_inject_run(lamina_context *context,
                                                            const lamina_injector_setting *setting, double seconds,
                                                            lamina_injection *result);

/* The same beside other work of the caller. start returns when all threads make traffic; they run on the processors
 * that the calling thread may use. stop ends and frees it, and measures from then to now; `result` may be NULL, and so
 * may the injector. Errors of start: ARGUMENT, MEMORY, SYSTEM. */
typedef struct lamina_injector lamina_injector;
LAMINA_API LAMINA_NODISCARD lamina_status lamina_inject_start(lamina_context *context,
                                                              const lamina_injector_setting *setting,
                                                              lamina_injector **injector);
LAMINA_API void lamina_inject_stop(lamina_injector *injector, lamina_injection *result);

/* One measured point. `fitted` is the traffic after the fit that makes it fall with rising flops. */
typedef struct lamina_calibration_point {
  int threads;
  double flops_per_element, gb_per_s, fitted_gb_per_s;
} lamina_calibration_point;

typedef struct lamina_injector_calibration {
  char processor[96], host[65];
  lamina_placement placement;
  uint64_t array_bytes;
  double peak_gb_per_s;             /* LoI 100 */
  lamina_calibration_point *points; /* by threads, then by flops, both rising */
  size_t point_count;
} lamina_injector_calibration;

typedef struct lamina_calibrate_options {
  int most_threads;     /* 0: the context's */
  double seconds;       /* of one point; default 0.3 */
  uint64_t array_bytes; /* as in the setting */
  lamina_placement placement;
  void (*progress)(void *user, const char *text, int done, int total); /* NULL for none */
  void *user;
} lamina_calibrate_options;

LAMINA_API lamina_calibrate_options lamina_calibrate_options_default(void);

/* Sweeps flops for each thread count and fits. Takes seconds x 16 a thread count. Leave the machine alone meanwhile. */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_inject_calibrate(lamina_context *context,
                                                                  const lamina_calibrate_options *options,
                                                                  lamina_injector_calibration **calibration);

/* The setting that reaches `loi` (0 < loi) with the fewest threads, or with `threads` of them when that is not 0. More
 * than the traffic can show (above 100) is expressed by threads: all there are, one flop. Errors: ARGUMENT (not
 * reachable with so few threads: how far it goes). */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_inject_choose(lamina_context *context,
                                                               const lamina_injector_calibration *calibration,
                                                               double loi, int threads,
                                                               lamina_injector_setting *setting);

/* The greatest traffic of this moment (0.35 s), with the setting that made the most when it was calibrated: a machine
 * may be faster or slower today. */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_inject_peak(lamina_context *context,
                                                             const lamina_injector_calibration *calibration,
                                                             double *gb_per_s);

/* Corrects a chosen setting on the machine as it is now: the flops, and where these do not suffice the threads, are
 * steered until the traffic is wanted_gb_per_s within slack_gb_per_s; at most two seconds a thread count, and never
 * more than most_threads (0: as calibrated). *reached_gb_per_s is what was measured last. Do it before the program that
 * is to be disturbed starts. */
typedef struct lamina_settle_options {
  double wanted_gb_per_s, slack_gb_per_s, loi;
  int most_threads;
} lamina_settle_options;
LAMINA_API LAMINA_NODISCARD lamina_status lamina_inject_settle(lamina_context *context,
                                                               const lamina_injector_calibration *calibration,
                                                               const lamina_settle_options *options,
                                                               lamina_injector_setting *setting,
                                                               double *reached_gb_per_s);

/* JSON. load refuses other files and newer formats (CASE). */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_injector_calibration_save(
  lamina_context *context, const lamina_injector_calibration *calibration, const char *path);
LAMINA_API LAMINA_NODISCARD lamina_status lamina_injector_calibration_load(lamina_context *context, const char *path,
                                                                           lamina_injector_calibration **calibration);
LAMINA_API void lamina_injector_calibration_destroy(lamina_context *context, lamina_injector_calibration *calibration);

/* ---- the link of a device ---- */

/* As lamina_inject_calibrate, for the link between a device and the host's memory (lamina/accelerator.h): `threads` of
 * the points are blocks of 256 threads, `processor` is the device's name. options: seconds, array_bytes and progress
 * are used. Errors as lamina_link_injector_create. */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_link_calibrate(lamina_context *context, int ordinal,
                                                                const lamina_calibrate_options *options,
                                                                lamina_injector_calibration **calibration);

typedef struct lamina_link_level {
  double loi, seconds;   /* asked for; above 100: more blocks, one flop */
  int probe_blocks;      /* 0: no probe */
  double *probe_seconds; /* as in lamina_link_run */
  size_t probe_room;
} lamina_link_level;

typedef struct lamina_link_injection {
  double seconds, gb_per_s, peak_gb_per_s; /* the peak of this moment: level 100 */
  double achieved_loi, flops_per_element;
  int blocks;
  size_t probe_count;
} lamina_link_injection;

/* Measures the greatest traffic of this moment, steers the flops until the level is met, and then injects. Stops by
 * itself. Errors: ARGUMENT, DEVICE. */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_link_inject(lamina_context *context, lamina_link_injector *injector,
                                                             const lamina_injector_calibration *calibration,
                                                             const lamina_link_level *level,
                                                             lamina_link_injection *result);

#ifdef __cplusplus
}
#endif

#endif
