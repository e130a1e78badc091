/* SPDX-License-Identifier: Apache-2.0 */
/* The order of convergence of a case: its error against an exact solution at several sizes. The case says by
 * lattice_speed or relaxation_time how the time step follows the cells; with a fixed relaxation time the whole scheme
 * is of second order. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "simulation.h"

static const double DEFAULT_GATE = 0.1;

/* The overrides of the case as separate texts, with room for those that make one size of it. */
enum { MOST_OVERRIDES = 96, OWN_OVERRIDES = 3 };
typedef struct size_case {
  const char *overrides[MOST_OVERRIDES];
  size_t count;
  char cells[96], compare[128], folder[4096];
} size_case;

/* Cuts `lines` into its lines, in place. */
static lamina_status cut_lines(lamina_context *ctx, char *lines, size_case *made)
{
  while (*lines != '\0') {
    LMI_REQUIRE(ctx, made->count < MOST_OVERRIDES - OWN_OVERRIDES, LAMINA_ERROR_ARGUMENT, "more than %d overrides",
                MOST_OVERRIDES - OWN_OVERRIDES);
    made->overrides[made->count++] = lines;
    char *end = strchr(lines, '\n');
    if (end == NULL)
      break;
    *end = '\0';
    lines = end + 1;
  }
  return LAMINA_OK;
}

static long long scaled(lamina_index cells, double scale)
{
  return (long long)fmax(1.0, round((double)cells * scale));
}

static lamina_status make_overrides(const lmi_simulation *sim, const lmi_case_output *output, int64_t size,
                                    size_case *made)
{
  const lamina_int3 n = sim->flow->solver.cells;
  const double scale = (double)size / (double)n.x;
  if (sim->flow->dimension == 2)
    snprintf(made->cells, sizeof made->cells, "domain.cells=[%lld, %lld]", (long long)size, scaled(n.y, scale));
  else
    snprintf(made->cells, sizeof made->cells, "domain.cells=[%lld, %lld, %lld]", (long long)size, scaled(n.y, scale),
             scaled(n.z, scale));
  /* Any error passes here: the fall from one size to the next is judged. */
  snprintf(made->compare, sizeof made->compare, "output=[{compare: %.60s, gate: 1e6}]", output->compare.value);
  made->overrides[made->count++] = made->cells;
  made->overrides[made->count++] = made->compare;
  made->overrides[made->count++] = "checkpoint=null";
  char name[48];
  snprintf(name, sizeof name, "cells-%lld", (long long)size);
  return lmi_simulation_path(sim, name, made->folder, sizeof made->folder);
}

static lamina_status run_size(lmi_simulation *sim, const size_case *made, double *error)
{
  lamina_case *flow = NULL;
  lamina_run_result *result = NULL;
  lamina_run_options options = *sim->options;
  options.folder = made->folder;
  options.resume = false;
  LMI_TRY(lmi_case_load_text(sim->ctx, sim->flow->path, sim->flow->text, made->overrides, made->count, &flow));
  const lamina_status status = lamina_case_run(sim->ctx, flow, &options, &result);
  if (status == LAMINA_OK)
    *error = result->references[0].max_error;
  lamina_run_result_destroy(result);
  lamina_case_destroy(flow);
  return status;
}

static lamina_status measure_size(lmi_simulation *sim, const lmi_case_output *output, int64_t size, double *error)
{
  size_case made = {0};
  char *lines = NULL;
  LMI_TRY(lmi_string_copy(sim->ctx, sim->flow->overrides, &lines));
  lamina_status status = cut_lines(sim->ctx, lines, &made);
  if (status == LAMINA_OK)
    status = make_overrides(sim, output, size, &made);
  if (status == LAMINA_OK)
    status = run_size(sim, &made, error);
  lmi_free(sim->ctx, lines);
  return status;
}

lamina_status lmi_order_measure(lmi_simulation *sim, const lmi_case_output *output)
{
  lamina_run_reference entry = {.gate = output->gate.where != NULL ? output->gate.value : DEFAULT_GATE};
  char errors[96] = "";
  size_t used = 0;
  double before = 0, least = INFINITY;
  for (int i = 0; i < output->size_count; i++) {
    double error = 0;
    LMI_TRY(measure_size(sim, output, output->sizes[i], &error));
    if (i > 0)
      least = fmin(least, log(before / error) / log((double)output->sizes[i] / (double)output->sizes[i - 1]));
    before = error;
    used += (size_t)snprintf(errors + used, sizeof errors - used, "%s%.2e", i > 0 ? ", " : "", error);
    if (used >= sizeof errors)
      used = sizeof errors - 1;
  }
  entry.max_error = fmax(0.0, 2.0 - least);
  entry.passed = entry.max_error <= entry.gate;
  snprintf(entry.name, sizeof entry.name, "%.30s-order", output->compare.value);
  snprintf(entry.text, sizeof entry.text, "%s: errors %s, order at least %.3f (gate %.3g)", entry.name, errors, least,
           2.0 - entry.gate);
  return lmi_simulation_add_reference(sim, &entry);
}
