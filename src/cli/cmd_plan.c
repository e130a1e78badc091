/* SPDX-License-Identifier: Apache-2.0 */
/* lamina plan: what a case will take, without running it. */
#include <math.h>
#include <string.h>

#include "case_options.h"
#include "lamina/accelerator.h"

struct plan_values {
  lmi_case_options flow;
  bool json;
  const char *machine;
};

static const struct plan_values defaults = {0};

static const lmi_option options[] = {
  LMI_CASE_OPTIONS(struct plan_values, flow),
  LMI_OPTION_TEXT(struct plan_values, machine, "machine", "FILE", "ceilings of this machine (default: machine.json)"),
  LMI_OPTION_FLAG(struct plan_values, json, "json", "print one JSON object"),
  {0}};

static const char *const examples[] = {"lamina plan cases/cavity3d.yaml", "cells, memory, time",
                                       "lamina plan cases/cavity3d.yaml --partitions 4 --layout soa",
                                       "with the messages between four slabs", NULL};

static json_t *messages_json(const lamina_plan *plan)
{
  return json_pack("{s:i, s:I, s:I}", "alpha", plan->alpha, "beta_values", (json_int_t)plan->beta_values, "bytes",
                   (json_int_t)plan->message_bytes);
}

static json_t *predicted_json(const lamina_plan *plan)
{
  if (plan->predicted_mlups > 0)
    return json_pack("{s:f, s:f, s:n}", "mlups", plan->predicted_mlups, "seconds", plan->predicted_seconds, "reason");
  return json_pack("{s:n, s:n, s:s}", "mlups", "seconds", "reason", plan->ceiling_reason);
}

static json_t *warnings_json(const lamina_case *flow, const lamina_plan *plan, const char *device)
{
  json_t *list = json_array();
  for (size_t i = 0; i < lamina_case_warning_count(flow); i++)
    json_array_append_new(list, json_string(lamina_case_warning(flow, i)));
  if (device[0] != '\0')
    json_array_append_new(list, json_string(device));
  if (plan->fitting_cells_x > 0)
    json_array_append_new(list,
                          json_sprintf("does not fit in memory; at most about %lld cells along x fit in this shape",
                                       (long long)plan->fitting_cells_x));
  return list;
}

static json_t *cells_json(const lamina_plan *plan)
{
  json_t *list = json_array();
  for (int l = 0; l < plan->level_count; l++)
    json_array_append_new(list, json_integer((json_int_t)plan->levels[l].cells));
  if (plan->level_count == 0)
    json_array_append_new(list, json_integer((json_int_t)plan->cells));
  return list;
}

static void append_group(json_t *list, const char *name, lamina_index cells, uint64_t bytes)
{
  json_array_append_new(list, json_pack("{s:s, s:I, s:I, s:n, s:s}", "name", name, "cells", (json_int_t)cells, "bytes",
                                        (json_int_t)bytes, "tier", "tier_reason", "placed by the system"));
}

/* Of a level, its blocks away from jumps and those at them. */
static json_t *groups_json(const lamina_plan *plan)
{
  json_t *list = json_array();
  char name[48];
  lamina_index blocks = 0;
  for (int l = 0; l < plan->level_count; l++)
    blocks += plan->levels[l].blocks;
  for (int l = 0; l < plan->level_count; l++) {
    const lamina_level_info *level = &plan->levels[l];
    const uint64_t block_bytes = plan->solver_bytes / (uint64_t)blocks;
    const lamina_index uniform = level->blocks - level->jump_blocks;
    snprintf(name, sizeof name, "level%d/uniform", l);
    append_group(list, name, 64 * uniform, (uint64_t)uniform * block_bytes);
    snprintf(name, sizeof name, "level%d/jump", l);
    append_group(list, name, level->cells - 64 * uniform, (uint64_t)level->jump_blocks * block_bytes);
  }
  if (plan->level_count == 0)
    append_group(list, "all", plan->cells, plan->solver_bytes);
  return list;
}

/* What is known of each body; sizes in metres. */
static json_t *bodies_json(const lamina_case *flow)
{
  json_t *list = json_array();
  const lamina_geometry *geometry = lamina_case_geometry(flow);
  const double h = lamina_case_units(flow)->cell_size;
  lamina_body_info info;
  for (int body = 1; lamina_geometry_get_body(geometry, body, &info); body++) {
    const lamina_index cells = lamina_case_body_cells(flow, body);
    json_array_append_new(list, json_pack("{s:s, s:o, s:o, s:o}", "name", info.name, "solid_cells",
                                          cells >= 0 ? json_integer((json_int_t)cells) : json_null(), "volume_m3",
                                          lmi_json_number(info.volume * h * h * h), "surface_m2",
                                          lmi_json_number(info.surface * h * h)));
  }
  return list;
}

static void print_bodies(const lamina_case *flow)
{
  const lamina_geometry *geometry = lamina_case_geometry(flow);
  const lamina_int3 n = lamina_case_solver_options(flow)->cells;
  lamina_index fluid = n.x * n.y * n.z;
  lamina_body_info info;
  for (int body = 1; lamina_geometry_get_body(geometry, body, &info); body++) {
    const lamina_index cells = lamina_case_body_cells(flow, body);
    if (cells < 0)
      printf("  %s: its cells are counted in the run\n", info.name);
    else
      printf("  %s: %lld solid cells\n", info.name, (long long)cells);
    fluid -= cells > 0 ? cells : 0;
  }
  if (lamina_case_body_cells(flow, 1) >= 0)
    printf("  %lld cells are fluid\n", (long long)fluid);
}

static json_t *plan_json(const lamina_case *flow, const lamina_plan *plan, const char *device)
{
  const lamina_units *u = lamina_case_units(flow);
  return json_pack("{s:o, s:I, s:o, s:I, s:o, s:o, s:o, s:o, s:o, s:{s:f, s:f, s:f, s:f, s:f, s:f, s:f}}",
                   "cells_per_level", cells_json(plan), "steps", (json_int_t)plan->steps, "groups", groups_json(plan),
                   "total_bytes", (json_int_t)plan->total_bytes, "available_bytes",
                   plan->available_bytes > 0 ? json_integer((json_int_t)plan->available_bytes) : json_null(),
                   "messages", messages_json(plan), "predicted", predicted_json(plan), "warnings",
                   warnings_json(flow, plan, device), "bodies", bodies_json(flow), "units", "cell_size_m", u->cell_size,
                   "time_step_s", u->time_step, "reynolds", u->reynolds, "tau", u->tau, "mach", u->mach,
                   "lattice_speed", u->lattice_speed, "cell_reynolds", u->cell_reynolds);
}

static void print_levels(const lamina_plan *plan)
{
  if (plan->level_count > 0)
    printf("  level      cells  of box    blocks  at walls  at jumps    tau\n");
  double box = 0;
  const double ratio = plan->dimension == 2 ? 4.0 : 8.0;
  for (int l = 0; l < plan->level_count; l++)
    box += (double)plan->levels[l].cells * pow(ratio, l);
  for (int l = 0; l < plan->level_count; l++) {
    const lamina_level_info *level = &plan->levels[l];
    printf("  %5d %10lld %6.1f %% %9lld %9lld %9lld %6.4f\n", l, (long long)level->cells,
           100.0 * (double)level->cells * pow(ratio, l) / box, (long long)level->blocks, (long long)level->wall_blocks,
           (long long)level->jump_blocks, 1.0 / level->omega);
  }
}

static void print_plan(const lamina_case *flow, const lamina_plan *plan, const char *device)
{
  char solver[32], total[32], available[32], duration[32];
  lmi_print_units(stdout, flow);
  printf("  %lld cells, %lld steps\n", (long long)plan->cells, (long long)plan->steps);
  print_levels(plan);
  print_bodies(flow);
  printf("  memory %s for the cells, %s in all", lmi_format_bytes((double)plan->solver_bytes, solver),
         lmi_format_bytes((double)plan->total_bytes, total));
  if (plan->available_bytes > 0)
    printf(", %s available (%s)", lmi_format_bytes((double)plan->available_bytes, available), plan->limited_by);
  printf("\n");
  if (device[0] != '\0')
    printf("  warning: %s\n", device);
  if (plan->fitting_cells_x > 0)
    printf("  warning: does not fit; at most about %lld cells along x fit in this shape\n",
           (long long)plan->fitting_cells_x);
  if (plan->alpha > 0)
    printf("  a slab sends %d messages with %lld values (%lld bytes) in one step\n", plan->alpha,
           (long long)plan->beta_values, (long long)plan->message_bytes);
  if (plan->predicted_mlups > 0)
    printf("  at the ceiling of this machine (%.1f GB/s): %.0f MLUPS, %s\n", plan->ceiling_gb_per_s,
           plan->predicted_mlups, lmi_format_duration(plan->predicted_seconds, duration));
  else
    printf("  time not predicted: %s\n", plan->ceiling_reason);
}

/* A case for another machine can be planned here, but not run. */
static void warn_of_device(const lmi_call *call, const lamina_case *flow, char *warning, size_t size)
{
  const lamina_solver_options *solver = lamina_case_solver_options(flow);
  lamina_accelerator device;
  if (solver->backend != LAMINA_BACKEND_CUDA)
    return;
  const int count = solver->device_count > 0 ? solver->device_count : 1;
  for (int i = 0; i < count && warning[0] == '\0'; i++)
    if (lamina_accelerator_read(call->ctx, solver->devices[i], &device) != LAMINA_OK)
      snprintf(warning, size, "does not run on this machine: %s", lamina_error_message(call->ctx));
  lamina_error_clear(call->ctx);
}

static lamina_status plan_run(lmi_call *call)
{
  const struct plan_values *values = call->values;
  lamina_case *flow = NULL;
  lamina_plan plan = {0};
  char device[640] = "";
  lamina_status status = lmi_load_case(call, call->arguments[0], &values->flow, &flow);
  if (status == LAMINA_OK)
    status = lamina_case_plan(call->ctx, flow, lmi_machine_file(values->machine), &plan);
  if (status == LAMINA_OK)
    warn_of_device(call, flow, device, sizeof device);
  if (status == LAMINA_OK && values->json)
    status = lmi_print_json(call, plan_json(flow, &plan, device));
  else if (status == LAMINA_OK)
    print_plan(flow, &plan, device);
  lamina_case_destroy(flow);
  return status;
}

const lmi_command lmi_command_plan = {
  .name = "plan",
  .summary = "says what a case will take, without running it",
  .group = LMI_GROUP_SIMULATE,
  .arguments = "CASE.yaml",
  .least = 1,
  .most = 1,
  .options = options,
  LMI_VALUES(defaults),
  .examples = examples,
  .run = plan_run,
};
