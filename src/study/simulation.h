/* SPDX-License-Identifier: Apache-2.0 */
/* One run of a case, from the start or a checkpoint to its end. The parts:
 *   simulation.c          set up, time loop, end
 *   simulation_schedule   which step each output is due
 *   simulation_monitor    what is watched on the way: steady criterion, dissipation; their state in a checkpoint
 *   simulation_output     fields, slices, profiles, series
 *   simulation_levels     fields of a grid of levels, each cell in its size
 *   simulation_compare    against exact solutions
 *   simulation_measure    forces on bodies, probes, ramps of open faces
 *   simulation_statistics means and variances of the field
 *   simulation_order      the same case at several sizes
 *   run_record            result as JSON, run.json */
#ifndef LMI_SIMULATION_H
#define LMI_SIMULATION_H

#include <jansson.h>

#include "base/base.h"
#include "io/case_file.h"
#include "io/case_open.h"
#include "io/profile.h"
#include "io/series.h"

/* A time that comes again and again (or once): `next` is the step it is due, INT64_MAX when it will not come. */
typedef struct lmi_due {
  lmi_case_span span;
  bool repeats;
  int64_t count;
  lamina_index next;
} lmi_due;

void lmi_due_start(lmi_due *due, const lamina_case *flow, const lmi_case_span *span, bool repeats,
                   lamina_index after_step);
/* Moves on behind `step`. */
void lmi_due_advance(lmi_due *due, const lamina_case *flow, lamina_index step);

/* What one entry of `output` needs during the run. */
typedef struct lmi_output_state {
  lmi_due due;
  lmi_series *series;
  lamina_index written_step; /* -1: never */
} lmi_output_state;

enum { LMI_PROBES_MAX = 125 };

/* Rates of change between two looks at the flow. Everything here is in the checkpoint. */
typedef struct lmi_monitor {
  lmi_due steady_due, dissipation_due;
  size_t probe_count;
  lamina_int3 probes[LMI_PROBES_MAX];
  double probe_velocity[LMI_PROBES_MAX][3];
  lamina_index probe_step;            /* -1: no earlier look */
  double steady_change;               /* per L/U, of the reference speed; negative: unknown */
  double energy;                      /* mean u^2/2, lattice, at energy_step */
  lamina_index energy_step;           /* -1: none */
  double peak_dissipation, peak_time; /* U^3/L, L/U */
  double peak_enstrophy_dissipation;  /* from enstrophy, at its own peak */
  double
    start_excess; /* mass beyond density 1, lattice: its differences are exact where those of the mass are rounded */
} lmi_monitor;

/* Sums over samples of the whole field (simulation_statistics.c). */
typedef struct lmi_statistics lmi_statistics;

typedef struct lmi_simulation {
  lamina_context *ctx;
  const lamina_case *flow;
  const lamina_run_options *options;
  lamina_solver *solver;
  lamina_solver_info info;
  lamina_run_result *result;
  size_t reference_capacity, file_capacity;
  lmi_output_state *outputs;  /* one for each of flow->outputs */
  lmi_output_state *measures; /* one for each of flow->forces, then of flow->probes */
  lmi_statistics *statistics; /* NULL: none are taken */
  lmi_due checkpoint_due;
  lmi_monitor monitor;
  bool oscillates;
  bool stopped;       /* the callback said so */
  double *work;       /* LMI_WORK_PLANES planes of plane_cells values */
  size_t plane_cells; /* what the largest output reads at once */
  lamina_totals totals;
  lamina_index totals_step; /* of which `totals` are; -1: of none */
  double loop_start;
  double ceiling_gb_per_s;    /* 0: unknown */
  const char *ceiling_reason; /* why it is unknown */
  double last_call_clock;     /* when progress was last told; then the solver time and step of that moment */
  double last_call_seconds;
  lamina_index last_call_step;
  lamina_index chunk;
} lmi_simulation;

enum { LMI_WORK_PLANES = 8 };

/* Plane i of the work space. */
double *lmi_simulation_plane(const lmi_simulation *sim, int i);

/* "FOLDER/NAME" into buffer (4096 bytes at least are wanted). Errors: FILE when it does not fit. */
LAMINA_NODISCARD lamina_status lmi_simulation_path(const lmi_simulation *sim, const char *name, char *buffer,
                                                   size_t capacity);

/* Remembers a file in the result, once. */
LAMINA_NODISCARD lamina_status lmi_simulation_add_file(lmi_simulation *sim, const char *name);
LAMINA_NODISCARD lamina_status lmi_simulation_add_reference(lmi_simulation *sim, const lamina_run_reference *reference);

double lmi_simulation_time(const lmi_simulation *sim);

/* All ranks take the same way through a run and read the same values; one of them writes what is not a field. */
bool lmi_simulation_writes(const lmi_simulation *sim);

/* Sums over all cells at this step; computed once a step, kept by `sim`. */
LAMINA_NODISCARD lamina_status lmi_simulation_totals(lmi_simulation *sim, const lamina_totals **totals);

/* Change of the mass since the start of the flow, relative. */
double lmi_simulation_mass_drift(const lmi_simulation *sim, const lamina_totals *totals);

/* ---- outputs ---- */

/* Opens series and writes what belongs to the start. `resume_step` < 0: a fresh run. Collective, as the next. */
LAMINA_NODISCARD lamina_status lmi_outputs_start(lmi_simulation *sim, lamina_index resume_step);
/* Writes what is due at this step. `is_end`: also what waits for the end. */
LAMINA_NODISCARD lamina_status lmi_outputs_write(lmi_simulation *sim, bool is_end);
/* The next step at which one of them is due. */
lamina_index lmi_outputs_next(const lmi_simulation *sim);
/* Closes series; the status of the first that fails. */
LAMINA_NODISCARD lamina_status lmi_outputs_finish(lmi_simulation *sim);

/* ---- forces, probes, ramps ---- */

/* As lmi_outputs_*, for the keys `forces` and `probes`. */
LAMINA_NODISCARD lamina_status lmi_measures_start(lmi_simulation *sim, lamina_index resume_step);
LAMINA_NODISCARD lamina_status lmi_measures_write(lmi_simulation *sim, bool is_end);
lamina_index lmi_measures_next(const lmi_simulation *sim);
LAMINA_NODISCARD lamina_status lmi_measures_finish(lmi_simulation *sim);
/* After finish: means and what was expected, from the files. */
LAMINA_NODISCARD lamina_status lmi_measures_sum_up(lmi_simulation *sim);

/* Open faces whose strength still changes at a step, and their strength for the next one. */
bool lmi_ramps_are_on(const lmi_simulation *sim, lamina_index step);
LAMINA_NODISCARD lamina_status lmi_ramps_set(lmi_simulation *sim);

/* ---- statistics of the field ---- */

LAMINA_NODISCARD lamina_status lmi_statistics_start(lmi_simulation *sim, bool resumes);
lamina_index lmi_statistics_next(const lmi_simulation *sim);
/* Takes a sample where one is due. */
LAMINA_NODISCARD lamina_status lmi_statistics_look(lmi_simulation *sim);
/* Beside a checkpoint: without it a run could not go on to the same means. */
LAMINA_NODISCARD lamina_status lmi_statistics_save(lmi_simulation *sim);
/* statistics.vtkhdf */
LAMINA_NODISCARD lamina_status lmi_statistics_write(lmi_simulation *sim);
void lmi_statistics_free(lmi_simulation *sim);

/* ---- comparisons ---- */

LAMINA_NODISCARD lamina_status lmi_compare_exact(lmi_simulation *sim, const lmi_case_output *output);

/* What an exact solution needs of the case; called before anything runs. Errors: CASE. */
LAMINA_NODISCARD lamina_status lmi_compare_check(const lamina_case *flow);

/* Runs the case at the sizes of an `order` output, below the folder of this run, and judges how far the order of
 * convergence stays below two. */
LAMINA_NODISCARD lamina_status lmi_order_measure(lmi_simulation *sim, const lmi_case_output *output);

/* ---- monitor ---- */

LAMINA_NODISCARD lamina_status lmi_monitor_start(lmi_simulation *sim);
LAMINA_NODISCARD lamina_status lmi_monitor_look(lmi_simulation *sim);
lamina_index lmi_monitor_next(const lmi_simulation *sim);
bool lmi_monitor_is_steady(const lmi_simulation *sim);
/* To and from the text kept in a checkpoint. */
LAMINA_NODISCARD lamina_status lmi_monitor_save(const lmi_simulation *sim, char **text);
LAMINA_NODISCARD lamina_status lmi_monitor_load(lmi_simulation *sim, const char *text);

/* ---- record ---- */

/* Fills result->json and writes run.json. */
LAMINA_NODISCARD lamina_status lmi_run_record_write(lmi_simulation *sim);

/* The measured bandwidth ceiling for this case's solver out of a machine file, in GB/s; 0 with a reason when there is
 * none. */
LAMINA_NODISCARD lamina_status lmi_case_ceiling(lamina_context *ctx, const lamina_case *flow, const char *machine_file,
                                                double *gb_per_s, const char **reason);

/* Memory: the estimate, what is free, and what would fit. */
LAMINA_NODISCARD lamina_status lmi_case_memory(lamina_context *ctx, const lamina_case *flow, lamina_plan *plan);

/* Number of work-space values of a run of this case. */
size_t lmi_case_plane_cells(const lamina_case *flow);

/* ---- fields on levels (simulation_levels.c) ---- */

/* Does this entry of `output` write each cell in its own size? */
bool lmi_writes_levels(const lamina_case *flow, const lmi_case_output *output);

struct lmi_field_content;

/* `which` says what the first `count` arrays of `content` are; those are written. */
LAMINA_NODISCARD lamina_status lmi_level_fields_write(lmi_simulation *sim, const char *path,
                                                      const struct lmi_field_content *content, const lmi_array *which,
                                                      size_t count);

#endif
