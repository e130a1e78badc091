/* SPDX-License-Identifier: Apache-2.0 */
/* From what kernels declare to operations and halo accesses, which schedule.c turns into transfers and launches. */
#include "grid_internal.h"

/* Components that a kernel reads from the plane below (-1) or above (+1). */
static uint32_t crossing(const lmi_extent *extent, const lamina_argument *argument, int direction)
{
  const uint32_t all = (uint32_t)(((uint64_t)1 << argument->field->components) - 1);
  const uint32_t chosen = direction < 0 ? argument->from_below : argument->from_above;
  for (int n = 0; n < LAMINA_NEIGHBOURS; n++)
    if ((argument->stencil >> n & 1u) && lmi_neighbour(extent, n).dz == direction)
      return chosen != 0 ? chosen : all;
  return 0;
}

static void add_access(const lamina_grid *grid, const lamina_argument *argument, lmi_access *accesses, size_t *count)
{
  const lmi_field *storage = &argument->field->storage;
  lmi_access *access = accesses;
  while (access < accesses + *count && access->field != storage)
    access++;
  if (access == accesses + *count) {
    *access = (lmi_access){.field = storage, .own = LMI_OWN_READ};
    ++*count;
  }
  if (argument->access != LAMINA_READ)
    access->own = LMI_OWN_WRITTEN;
  access->halo.read_low |= crossing(&grid->extent, argument, -1);
  access->halo.read_high |= crossing(&grid->extent, argument, 1);
}

static lmi_operation make_operation(const lamina_kernel *kernel, lmi_access *accesses)
{
  size_t count = 0;
  for (int a = 0; a < kernel->options.argument_count; a++)
    if (kernel->options.arguments[a].field != NULL)
      add_access(kernel->grid, &kernel->options.arguments[a], accesses, &count);
  return (lmi_operation){
    .kernel = kernel->function, .arguments = kernel->arguments, .accesses = accesses, .access_count = count};
}

static lamina_status check_kernels(const lamina_grid *grid, const lamina_kernel *const *kernels, size_t count)
{
  LMI_REQUIRE(grid->ctx, count >= 1, LAMINA_ERROR_ARGUMENT, "a schedule without kernels: at least 1 is needed");
  for (size_t k = 0; k < count; k++) {
    LMI_REQUIRE(grid->ctx, kernels[k] != NULL, LAMINA_ERROR_ARGUMENT, "kernel %zu of the schedule is NULL", k);
    LMI_REQUIRE(grid->ctx, kernels[k]->grid == grid, LAMINA_ERROR_ARGUMENT,
                "kernel %s of the schedule belongs to another grid", kernels[k]->options.text->name);
  }
  return LAMINA_OK;
}

static lamina_status make_plan(lamina_grid *grid, const lamina_kernel *const *kernels, size_t count,
                               const lamina_schedule_options *options, lmi_schedule *plan)
{
  lamina_status status = LAMINA_OK;
  lmi_operation *operations = NULL;
  lmi_access *accesses = NULL;
  const lmi_schedule_options chosen = {
    .overlap = options == NULL || !options->no_overlap,
    .cells_per_plane = grid->extent.nx * grid->extent.ny,
  };
  LMI_TRY_GOTO(status, LMI_ALLOC(grid->ctx, count, &operations), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(grid->ctx, count * LAMINA_MAX_ARGUMENTS, &accesses), cleanup);
  for (size_t k = 0; k < count; k++)
    operations[k] = make_operation(kernels[k], accesses + k * LAMINA_MAX_ARGUMENTS);
  status = lmi_schedule_create(grid->ctx, &grid->partition, operations, count, &chosen, plan);
cleanup:
  lmi_free(grid->ctx, operations);
  lmi_free(grid->ctx, accesses);
  return status;
}

lamina_status lamina_schedule_create(lamina_grid *grid, const lamina_kernel *const *kernels, size_t kernel_count,
                                     const lamina_schedule_options *options, lamina_schedule **schedule)
{
  lamina_status status = LAMINA_OK;
  *schedule = NULL;
  LMI_TRY(check_kernels(grid, kernels, kernel_count));
  lamina_schedule *made = NULL;
  LMI_TRY(LMI_ALLOC(grid->ctx, 1, &made));
  made->grid = grid;
  LMI_TRY_GOTO(status, make_plan(grid, kernels, kernel_count, options, &made->plan), cleanup);
  *schedule = made;
cleanup:
  if (status != LAMINA_OK)
    lamina_schedule_destroy(made);
  return status;
}

void lamina_schedule_destroy(lamina_schedule *schedule)
{
  if (schedule == NULL)
    return;
  lmi_schedule_free(schedule->grid->ctx, &schedule->plan);
  lmi_free(schedule->grid->ctx, schedule);
}

lamina_status lamina_schedule_run(lamina_schedule *schedule, lamina_index periods)
{
  lmi_device *device = schedule->grid->device;
  const lmi_program *program = &schedule->plan.program;
  const lamina_index most = INT64_MAX / (lamina_index)program->step_count;
  LMI_REQUIRE(schedule->grid->ctx, periods >= 0 && periods <= most, LAMINA_ERROR_ARGUMENT,
              "%lld periods: 0 to %lld are possible", (long long)periods, (long long)most);
  lmi_transfers before = {0}, after = {0};
  lmi_fault fault;
  if (device->ops->transfers != NULL)
    device->ops->transfers(device, &before);
  LMI_TRY(device->ops->replay(device, program, 0, periods * (lamina_index)program->step_count, &fault));
  if (device->ops->transfers != NULL)
    device->ops->transfers(device, &after);
  schedule->made.messages += after.messages - before.messages;
  schedule->made.bytes += after.bytes - before.bytes;
  return LAMINA_OK;
}

void lamina_schedule_get_info(const lamina_schedule *schedule, lamina_schedule_info *info)
{
  const lmi_schedule *plan = &schedule->plan;
  const lmi_partition *partition = &schedule->grid->partition;
  int faces = 0;
  for (int p = 0; p < partition->count; p++)
    faces += partition->slabs[p].upper >= 0;
  *info = (lamina_schedule_info){
    .exchanges = plan->exchanges,
    .messages = plan->period.messages,
    .bytes = plan->period.bytes,
    .messages_made = schedule->made.messages,
    .bytes_made = schedule->made.bytes,
  };
  /* A face carries what two neighbours send each other: as much as a slab in the middle sends on its two sides. */
  if (faces > 0 && plan->exchanges > 0) {
    info->alpha = info->messages / (faces * plan->exchanges);
    info->beta_values = plan->period.values / (faces * plan->exchanges);
  }
}
