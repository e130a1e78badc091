/* SPDX-License-Identifier: Apache-2.0 */
/* Case files: a flow in SI units as YAML, checked, planned and run. The keys stand in docs/user/case-file.md.
 *
 *   lamina_case *flow = NULL;
 *   lamina_case_load(context, "cases/cavity2d.yaml", NULL, 0, &flow);
 *   lamina_run_options options = lamina_run_options_default();
 *   options.folder = "out";
 *   lamina_run_result *result = NULL;
 *   lamina_case_run(context, flow, &options, &result);
 *   printf("%s\n", result->json);
 *   lamina_run_result_destroy(result);
 *   lamina_case_destroy(flow);
 *
 * A case belongs to the context it was loaded with. */
#ifndef LAMINA_CASE_H
#define LAMINA_CASE_H

#include <stdbool.h>
#include <stddef.h>

#include <lamina/geometry.h>
#include <lamina/solver.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lamina_case lamina_case;

/* Reads and checks a case file. `overrides` are "key.path=value" texts laid over it, checked like the file ("null" as
 * the value takes a key away); copied. Errors: CASE (file, line, value, what is allowed), FILE (cannot be read),
 * MEMORY. On failure *flow is NULL. */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_case_load(lamina_context *context, const char *path,
                                                           const char *const *overrides, size_t override_count,
                                                           lamina_case **flow);
LAMINA_API void lamina_case_destroy(lamina_case *flow);

LAMINA_API const char *lamina_case_title(const lamina_case *flow);

/* Threads the case asks for; 0: it does not say. The caller makes the context with them. */
LAMINA_API int lamina_case_threads(const lamina_case *flow);

/* The same flow in lattice units, as it will be given to lamina_solver_create. */
LAMINA_API const lamina_solver_options *lamina_case_solver_options(const lamina_case *flow);

/* How SI and lattice units belong together. value_si = value_lattice * (the unit). */
typedef struct lamina_units {
  double cell_size;         /* m */
  double time_step;         /* s */
  double velocity_unit;     /* m/s: cell_size / time_step */
  double acceleration_unit; /* m/s2 */
  double pressure_unit;     /* Pa for a pressure of one in lattice units */
  double density;           /* kg/m3 */
  double reference_length;  /* m */
  double reference_speed;   /* m/s */
  double viscosity;         /* m2/s */
  double reynolds;
  double lattice_speed; /* the reference speed in lattice units */
  double lattice_viscosity;
  double tau, omega;
  double mach;          /* of the fastest speed the case names */
  double cell_reynolds; /* of that speed and one cell */
} lamina_units;

LAMINA_API const lamina_units *lamina_case_units(const lamina_case *flow);

/* Steps the run will take at most. */
LAMINA_API lamina_index lamina_case_steps(const lamina_case *flow);

/* The bodies of the case, in cells and numbered in its order; NULL without any. Lives as long as the case. */
LAMINA_API const lamina_geometry *lamina_case_geometry(const lamina_case *flow);

/* Solid cells of a body (numbered from 1); -1 where there is no such body, or where so many cells are not counted
 * before the run. */
LAMINA_API lamina_index lamina_case_body_cells(const lamina_case *flow, int body);

/* What may spoil the run though it is allowed: each one sentence with the number to change. */
LAMINA_API size_t lamina_case_warning_count(const lamina_case *flow);
LAMINA_API const char *lamina_case_warning(const lamina_case *flow, size_t index);

/* ---- plan ---- */

typedef struct lamina_plan {
  lamina_index cells, steps; /* cells of the box, or of all levels */
  uint64_t solver_bytes;     /* the fields of the solver */
  uint64_t total_bytes;      /* with work space for outputs, program and libraries */
  uint64_t available_bytes;  /* what machine and cgroup leave free; 0: unknown */
  char limited_by[24];       /* "host", "cgroup v2"; "" when unknown */
  lamina_index
    fitting_cells_x;        /* cells along x that would fit (same shape); 0 when it fits as it is or that is unknown */
  int alpha;                /* messages of a partition in one step; 0 with one partition */
  lamina_index beta_values; /* values in them */
  uint64_t message_bytes;
  double bytes_per_update;                   /* least memory traffic of a cell and step */
  double ceiling_gb_per_s;                   /* measured bandwidth of streams in place; 0: unknown */
  const char *ceiling_reason;                /* why it is unknown; NULL when it is known */
  double predicted_mlups, predicted_seconds; /* at that ceiling; 0: unknown */
  double updates_per_step;                   /* cells a step updates */
  int dimension;
  int level_count; /* 0 unless the grid is one of levels */
  lamina_level_info levels[LAMINA_MAX_LEVELS];
} lamina_plan;

/* Runs nothing and allocates nothing of size. `machine_file` is what `lamina machine` wrote, NULL: no
 * prediction. Errors: CASE (a comparison that does not fit the flow), FILE and CASE (a machine file that cannot be
 * read). */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_case_plan(lamina_context *context, const lamina_case *flow,
                                                           const char *machine_file, lamina_plan *plan);

/* ---- run ---- */

typedef struct lamina_run_progress {
  lamina_index step, steps; /* done, and at most */
  double time;              /* s, of the flow */
  double elapsed_seconds;   /* wall clock since the loop began */
  double mlups;             /* million cell updates per second since the last call; 0 before the first chunk ended */
  double gb_per_s;          /* least memory traffic at that speed */
  double share;             /* of the measured ceiling; negative when that is unknown */
  double seconds_left;      /* estimate; negative when unknown */
  double steady_change; /* last change per L/U relative to the speed; negative when the case has no steady criterion */
} lamina_run_progress;

/* Called several times a second from the thread of the caller. Returning false ends the run cleanly after a checkpoint.
 */
typedef bool lamina_run_callback(void *user, const lamina_run_progress *progress);

typedef struct lamina_run_options {
  const char *folder;            /* of the outputs, made where missing; default "out" */
  bool resume;                   /* go on from folder/checkpoint.h5 */
  const char *machine_file;      /* what `lamina machine` wrote; NULL: shares stay unknown */
  lamina_run_callback *progress; /* NULL: none */
  void *progress_user;
} lamina_run_options;

LAMINA_API lamina_run_options lamina_run_options_default(void);

/* One comparison of the run with a published or exact result. */
typedef struct lamina_run_reference {
  char name[48];
  double max_error, gate;
  bool passed;
  char text[224]; /* the same as a sentence */
} lamina_run_reference;

/* Of a series of samples; NAN where it is not known. */
typedef struct lamina_run_mean {
  double mean;
  double error; /* standard error of the mean, with the correlation of the samples */
  double low, high;
} lamina_run_mean;

/* What a series of forces on a body says. Coefficients are force / (density speed^2 area / 2). */
typedef struct lamina_run_force {
  char body[64];
  double area;   /* m2; in two dimensions m2 per metre of depth */
  double speed;  /* m/s */
  double length; /* m, of the Strouhal number */
  size_t samples;
  lamina_run_mean drag, lift;
  double strouhal, strouhal_error; /* of the lift; NAN: it does not oscillate */
} lamina_run_force;

typedef struct lamina_run_result {
  lamina_index cells;
  lamina_index first_step, last_step; /* this run advanced from the one to the other */
  double flow_time;                   /* s, at the end */
  double seconds;                     /* wall clock in the time loop without outputs */
  double mlups, gb_per_s;
  double ceiling_mlups, share;  /* 0 and 0: unknown */
  double mass_drift;            /* relative, since the start of the flow */
  double max_speed;             /* m/s, at the end */
  uint64_t peak_bytes;          /* most memory the process held */
  bool wants_steady, is_steady; /* the case has a steady criterion, and it was met */
  bool was_interrupted;
  lamina_run_reference *references;
  size_t reference_count;
  lamina_run_force *forces;
  size_t force_count;
  char **files; /* written, in order */
  size_t file_count;
  char *json;              /* the object of `lamina run --json` */
  lamina_context *context; /* must outlive this */
} lamina_run_result;

/* Checks that memory suffices, runs, writes the outputs and run.json. Blocking. Collective: one set of outputs, and the
 * result and its status on every rank; progress is asked on each, and one that says no stops all.
 * Errors: MEMORY (with the estimate, before anything is allocated), FILE, CASE (a checkpoint of another case), DIVERGED
 * (step, cell and the number to change), CHECK (a comparison missed its gate), INTERRUPTED (the callback said so; a
 * checkpoint was written). With CHECK and INTERRUPTED *result is given too; otherwise it is NULL. */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_case_run(lamina_context *context, const lamina_case *flow,
                                                          const lamina_run_options *options,
                                                          lamina_run_result **result);
LAMINA_API void lamina_run_result_destroy(lamina_run_result *result);

#ifdef __cplusplus
}
#endif

#endif
