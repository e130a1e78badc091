/* SPDX-License-Identifier: Apache-2.0 */
/* How much memory and time a case will take on this machine. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "flow/flow.h"
#include "lamina/tiers.h"
#include "memory/limits.h"
#include "simulation.h"

/* Program, libraries, threads' stacks and the buffers of file formats. */
static const uint64_t FIXED_BYTES = 48u << 20;

static lamina_index greatest(lamina_index a, lamina_index b)
{
  return a > b ? a : b;
}

size_t lmi_case_plane_cells(const lamina_case *flow)
{
  const lamina_int3 n = flow->solver.cells;
  const lamina_index longest = greatest(n.x, greatest(n.y, n.z));
  lamina_index cells = flow->statistics.where != NULL ? n.x * n.y : n.x;
  for (size_t i = 0; i < flow->output_count; i++) {
    const lmi_case_output *output = &flow->outputs[i];
    if (output->kind == LMI_OUTPUT_FIELDS)
      cells = greatest(cells, n.x * n.y);
    else if (output->kind == LMI_OUTPUT_SLICE)
      cells = greatest(cells, output->axis == 0 ? n.y * n.z : output->axis == 1 ? n.x * n.z : n.x * n.y);
    else if (output->kind == LMI_OUTPUT_PROFILE)
      cells = greatest(cells, 4 * longest);
  }
  return (size_t)cells;
}

/* Beside the solver's. */
static uint64_t other_bytes(const lamina_case *flow, const lamina_solver_options *options, double cells_scale)
{
  const lamina_int3 n = options->cells;
  const double work = (double)lmi_case_plane_cells(flow) * LMI_WORK_PLANES * sizeof(double) * cells_scale;
  const double statistics =
    flow->statistics.where != NULL ? (double)n.x * (double)n.y * (double)n.z * 8.0 * sizeof(double) : 0.0;
  return (uint64_t)(work + statistics) + FIXED_BYTES;
}

/* The largest number of cells along x, in the same shape, that fits. */
static lamina_index fitting_cells_x(const lamina_case *flow, uint64_t available)
{
  const lamina_int3 n = flow->solver.cells;
  lamina_index low = 0, high = n.x;
  while (low + 1 < high) {
    const lamina_index middle = low + (high - low) / 2;
    const double scale = (double)middle / (double)n.x;
    lamina_solver_options options = flow->solver;
    options.cells.x = middle;
    options.cells.y = greatest(1, (lamina_index)round((double)n.y * scale));
    options.cells.z = flow->dimension == 2 ? 1 : greatest(1, (lamina_index)round((double)n.z * scale));
    options.partitions = 0;
    if (lamina_solver_memory_estimate(&options) + other_bytes(flow, &options, scale * scale) <= available)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/* How many cells there are, and how many of them a step updates. */
static lamina_status count_cells(lamina_context *ctx, const lamina_case *flow, lamina_plan *plan)
{
  const lamina_int3 n = flow->solver.cells;
  plan->cells = n.x * n.y * n.z;
  plan->updates_per_step = (double)plan->cells;
  if (flow->solver.grid != LAMINA_GRID_LEVELS)
    return LAMINA_OK;
  LMI_TRY(lamina_levels_plan(ctx, &flow->solver, plan->levels));
  plan->level_count = flow->solver.levels;
  plan->cells = 0;
  plan->updates_per_step = 0;
  for (int l = 0; l < plan->level_count; l++) {
    plan->cells += plan->levels[l].cells;
    plan->updates_per_step += (double)plan->levels[l].cells / (double)(INT64_C(1) << l);
  }
  return LAMINA_OK;
}

lamina_status lmi_case_memory(lamina_context *ctx, const lamina_case *flow, lamina_plan *plan)
{
  LMI_TRY(lmi_case_place_refusal(flow, lmi_solver_estimate(ctx, &flow->solver, &plan->solver_bytes)));
  LMI_TRY(count_cells(ctx, flow, plan));
  plan->steps = flow->last_step;
  plan->total_bytes = plan->solver_bytes + other_bytes(flow, &flow->solver, 1.0);
  if (flow->solver.backend == LAMINA_BACKEND_CUDA) /* the fields lie on the device, which is asked when they are made */
    return LAMINA_OK;
  lmi_memory_limits limits = {0};
  LMI_TRY(lmi_memory_limits_read(ctx, "", &limits));
  plan->available_bytes = limits.available_bytes;
  if (limits.available_bytes > 0)
    snprintf(plan->limited_by, sizeof plan->limited_by, "%s", limits.ruled_by);
  if (limits.available_bytes > 0 && plan->total_bytes > limits.available_bytes)
    plan->fitting_cells_x = fitting_cells_x(flow, limits.available_bytes);
  return LAMINA_OK;
}

/* ---- the ceiling of this machine ---- */

/* The greatest measured bandwidth of streams updated in place in this precision, with at most so many threads. */
static double stream_bandwidth(const lamina_machine *machine, int element_bytes, int threads)
{
  double greatest_gb_per_s = 0;
  for (size_t i = 0; i < machine->bandwidth_count; i++) {
    const lamina_bandwidth_row *row = &machine->bandwidth[i];
    if (row->streams >= 9 && row->element_bytes == element_bytes && row->threads <= threads)
      greatest_gb_per_s = fmax(greatest_gb_per_s, row->gb_per_s.median);
  }
  return greatest_gb_per_s;
}

lamina_status lmi_case_ceiling(lamina_context *ctx, const lamina_case *flow, const char *machine_file, double *gb_per_s,
                               const char **reason)
{
  *gb_per_s = 0;
  *reason = "no machine file; `lamina machine` makes one";
  if (flow->solver.backend == LAMINA_BACKEND_CUDA)
    *reason = "a machine file holds no ceilings of GPUs; `lamina bench dense --backend cuda` measures them";
  if (machine_file == NULL || flow->solver.backend == LAMINA_BACKEND_CUDA)
    return LAMINA_OK;
  lamina_machine *machine = NULL;
  LMI_TRY(lamina_machine_load(ctx, machine_file, &machine));
  *gb_per_s = stream_bandwidth(machine, flow->solver.precision == LAMINA_F64 ? 8 : 4, lamina_context_thread_count(ctx));
  *reason = *gb_per_s > 0
              ? NULL
              : "the machine file holds no bandwidth of streams in place; make it again with `lamina machine`";
  lamina_machine_destroy(ctx, machine);
  return LAMINA_OK;
}

lamina_status lamina_case_plan(lamina_context *context, const lamina_case *flow, const char *machine_file,
                               lamina_plan *plan)
{
  *plan = (lamina_plan){.dimension = flow->dimension};
  LMI_TRY(lmi_case_memory(context, flow, plan));
  LMI_TRY(lmi_compare_check(flow));
  const lamina_solver_options *options = &flow->solver;
  const lamina_int3 n = options->cells;
  const int q = lamina_lattice_velocities(options->lattice);
  const int crossing = q == 9 ? 3 : q == 19 ? 5 : 9;
  const bool is_half = options->storage == LAMINA_STORAGE_F16;
  const uint64_t value_bytes = is_half ? 2 : options->precision == LAMINA_F64 ? 8 : 4;
  const lamina_index plane = flow->dimension == 2 ? n.x : n.x * n.y;
  plan->bytes_per_update = 2.0 * q * (double)value_bytes;
  /* Table of lbm-spec 2.7: what a slab sends to both neighbours in one step. */
  if (options->partitions > 1) {
    const bool is_aos = options->layout == LAMINA_LAYOUT_AOS;
    plan->alpha = options->layout == LAMINA_LAYOUT_SOA ? 2 * crossing : 2;
    plan->beta_values = 2 * plane * (is_aos ? q : crossing);
    plan->message_bytes = (uint64_t)plan->beta_values * value_bytes;
  }
  LMI_TRY(lmi_case_ceiling(context, flow, machine_file, &plan->ceiling_gb_per_s, &plan->ceiling_reason));
  if (plan->ceiling_gb_per_s > 0) {
    plan->predicted_mlups = plan->ceiling_gb_per_s * 1e3 / plan->bytes_per_update;
    plan->predicted_seconds = plan->updates_per_step * (double)plan->steps / (plan->predicted_mlups * 1e6);
  }
  return LAMINA_OK;
}
