/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule.h"

#include "message_plan.h"

enum { MAX_COMPONENTS = 32, MAX_PHASES = 3, LAUNCHES_PER_SLAB = 3 };

/* The plan being made: arrays large enough for all steps, filled from the front. */
typedef struct step_plan {
  const lmi_partition *partition;
  const lmi_schedule_options *options;
  lmi_schedule *schedule;
  size_t copies, launches, phases;
  lmi_message_plan messages; /* of the step being planned */
} step_plan;

/* One run of set bits of a component set, from `from` on; count 0 when there is none. */
static lmi_range next_run(uint32_t set, int from)
{
  while (from < MAX_COMPONENTS && !(set >> from & 1u))
    from++;
  int end = from;
  while (end < MAX_COMPONENTS && (set >> end & 1u))
    end++;
  return (lmi_range){.first = from, .count = end - from};
}

/* What crosses the face between a slab and its upper neighbour. */
typedef struct face_traffic {
  const lmi_field *field;
  lmi_halo_access now, before;
  bool whole_plane; /* AoS without in-place slots: the plane goes as it is */
} face_traffic;

static void add_copy(step_plan *plan, const lmi_copy *copy)
{
  if (!lmi_message_plan_take(&plan->messages, copy) && lmi_partition_is_own(plan->partition, copy->source_partition))
    plan->schedule->copies[plan->copies++] = *copy;
}

/* Where an element of a piece lies; NULL in a piece of another rank. */
static char *address_in(const lmi_field_piece *piece, int64_t byte)
{
  return piece->memory != NULL ? (char *)piece->memory + byte : NULL;
}

/* A component run of one stored plane as copies. Both pieces share the request, so ranges pair off one to one. */
static void copy_run(step_plan *plan, const face_traffic *face, lmi_range run, const lmi_field_piece *pieces[2],
                     const int slabs[2], const int64_t planes[2])
{
  lmi_range sources[MAX_COMPONENTS], targets[MAX_COMPONENTS];
  const int first = (int)run.first, count = (int)run.count;
  const int ranges = lmi_layout_ranges(&pieces[0]->layout, planes[0], first, count, face->whole_plane, sources);
  lmi_layout_ranges(&pieces[1]->layout, planes[1], first, count, face->whole_plane, targets);
  const int64_t bytes = (int64_t)face->field->request.element_bytes;
  lmi_message_count *traffic = &plan->schedule->period;
  for (int i = 0; i < ranges; i++) {
    const lmi_copy copy = {
      .target = address_in(pieces[1], targets[i].first * bytes),
      .source = address_in(pieces[0], sources[i].first * bytes),
      .bytes = (size_t)(sources[i].count * bytes),
      .rows = (size_t)sources[i].rows,
      .pitch = (size_t)(sources[i].pitch * bytes),
      .target_partition = slabs[1],
      .source_partition = slabs[0],
    };
    add_copy(plan, &copy);
    traffic->bytes += (double)(sources[i].count * sources[i].rows * bytes);
  }
  traffic->messages += ranges;
  traffic->values +=
    (double)plan->options->cells_per_plane * (face->whole_plane ? face->field->request.components : count);
}

static void copy_components(step_plan *plan, const face_traffic *face, uint32_t set, int source, int64_t source_plane,
                            int target, int64_t target_plane)
{
  const lmi_field_piece *const pieces = face->field->pieces;
  const lmi_field_piece *pair[2] = {&pieces[source], &pieces[target]};
  const int slabs[2] = {source, target};
  const int64_t planes[2] = {source_plane, target_plane};
  for (lmi_range run = next_run(set, 0); run.count > 0; run = next_run(set, (int)(run.first + run.count)))
    copy_run(plan, face, run, pair, slabs, planes);
}

/* What the operation before wrote in halos goes back to the owners, what this one reads there comes from them. */
static void plan_face(step_plan *plan, const face_traffic *face, int lower, int upper)
{
  const int64_t low = face->field->request.low_planes;
  const int64_t top = low + plan->partition->slabs[lower].planes; /* stored plane of the lower slab's upper halo */
  copy_components(plan, face, face->before.write_high, lower, top, upper, low);
  copy_components(plan, face, face->before.write_low, upper, low - 1, lower, top - 1);
  copy_components(plan, face, face->now.read_high, upper, low, lower, top);
  copy_components(plan, face, face->now.read_low, lower, top - 1, upper, low - 1);
}

/* The halo access of the operation before `index` to the same field. */
static lmi_halo_access access_before(const lmi_operation *operations, size_t count, size_t index,
                                     const lmi_field *field)
{
  const lmi_operation *before = &operations[(index + count - 1) % count];
  for (size_t i = 0; i < before->access_count; i++)
    if (before->accesses[i].field == field)
      return before->accesses[i].halo;
  return (lmi_halo_access){0};
}

/* Takes out of `access` what an earlier operation of the period fetched and none wrote since. */
static void drop_valid(const lmi_operation *operations, size_t index, const lmi_field *field, lmi_halo_access *access)
{
  while (index-- > 0)
    for (size_t i = 0; i < operations[index].access_count; i++) {
      const lmi_access *earlier = &operations[index].accesses[i];
      if (earlier->field != field)
        continue;
      if (earlier->own != LMI_OWN_READ)
        return;
      access->read_low &= ~earlier->halo.read_low;
      access->read_high &= ~earlier->halo.read_high;
    }
}

static void plan_copies(step_plan *plan, const lmi_operation *operations, size_t count, size_t index)
{
  const lmi_operation *operation = &operations[index];
  for (size_t i = 0; i < operation->access_count; i++) {
    face_traffic face = {.field = operation->accesses[i].field, .now = operation->accesses[i].halo};
    face.before = access_before(operations, count, index, face.field);
    drop_valid(operations, index, face.field, &face.now);
    const uint32_t written = face.now.write_low | face.now.write_high | face.before.write_low | face.before.write_high;
    face.whole_plane = face.field->request.layout == LAMINA_LAYOUT_AOS && written == 0;
    for (int p = 0; p < plan->partition->count; p++)
      if (plan->partition->slabs[p].upper >= 0)
        plan_face(plan, &face, p, plan->partition->slabs[p].upper);
  }
}

static void add_launch(step_plan *plan, const lmi_operation *operation, int p, int64_t first, int64_t count)
{
  if (count > 0 && lmi_partition_is_own(plan->partition, p))
    plan->schedule->launches[plan->launches++] =
      (lmi_launch){operation->kernel, operation->arguments[p], first, count, p};
}

/* All planes at once, where nothing is sent. */
static void plan_whole(step_plan *plan, const lmi_operation *operation)
{
  for (int p = 0; p < plan->partition->count; p++)
    add_launch(plan, operation, p, 0, plan->partition->slabs[p].planes);
}

/* Planes that touch no halo and no lent slot. A slab without a neighbour on a side has no boundary plane there. */
static void plan_private(step_plan *plan, const lmi_operation *operation)
{
  for (int p = 0; p < plan->partition->count; p++) {
    const lmi_slab *slab = &plan->partition->slabs[p];
    const int64_t low = slab->lower >= 0, high = slab->upper >= 0;
    add_launch(plan, operation, p, low, slab->planes - low - high);
  }
}

static void plan_boundary(step_plan *plan, const lmi_operation *operation)
{
  for (int p = 0; p < plan->partition->count; p++) {
    const lmi_slab *slab = &plan->partition->slabs[p];
    if (slab->lower >= 0)
      add_launch(plan, operation, p, 0, 1);
    if (slab->upper >= 0 && (slab->planes > 1 || slab->lower < 0))
      add_launch(plan, operation, p, slab->planes - 1, 1);
  }
}

static void end_phase(step_plan *plan, size_t first_copy, size_t first_launch, lmi_exchange *exchange)
{
  if (plan->copies == first_copy && plan->launches == first_launch && exchange == NULL)
    return;
  plan->schedule->phases[plan->phases++] = (lmi_phase){
    .copies = plan->schedule->copies + first_copy,
    .copy_count = plan->copies - first_copy,
    .launches = plan->schedule->launches + first_launch,
    .launch_count = plan->launches - first_launch,
    .exchange = exchange,
  };
}

/* Whether anything is sent is decided for all ranks alike: it shapes phases, not messages. */
static lamina_status plan_step(step_plan *plan, const lmi_operation *operations, size_t count, size_t index)
{
  lmi_exchange *exchange = NULL;
  const size_t first_phase = plan->phases, copies = plan->copies;
  size_t launches = plan->launches;
  const double messages = plan->schedule->period.messages;
  lmi_message_plan_begin(&plan->messages);
  plan_copies(plan, operations, count, index);
  LMI_TRY(
    lmi_message_plan_end(&plan->messages, operations[index].accesses[0].field->device, plan->schedule, &exchange));
  const bool sends = plan->schedule->period.messages > messages;
  plan->schedule->exchanges += sends;
  if (sends && plan->options->overlap) {
    plan_private(plan, &operations[index]);
    end_phase(plan, copies, launches, exchange);
    launches = plan->launches;
    plan_boundary(plan, &operations[index]);
  } else {
    end_phase(plan, copies, launches, exchange);
    plan_whole(plan, &operations[index]);
  }
  end_phase(plan, plan->copies, launches, NULL);
  plan->schedule->steps[index] = (lmi_step_phases){plan->schedule->phases + first_phase, plan->phases - first_phase};
  return LAMINA_OK;
}

/* At most: every component of every access, fetched and pushed on both sides of each face. */
static size_t copy_bound(const lmi_partition *partition, const lmi_operation *operations, size_t count)
{
  size_t accesses = 0;
  for (size_t i = 0; i < count; i++)
    accesses += operations[i].access_count;
  return accesses * (size_t)partition->count * 4 * MAX_COMPONENTS;
}

lamina_status lmi_schedule_create(lamina_context *ctx, const lmi_partition *partition, const lmi_operation *operations,
                                  size_t operation_count, const lmi_schedule_options *options, lmi_schedule *schedule)
{
  lamina_status status = LAMINA_OK;
  *schedule = (lmi_schedule){0};
  step_plan made = {
    .partition = partition, .options = options, .schedule = schedule, .messages = {.partition = partition}};
  const size_t launches = operation_count * (size_t)partition->count * LAUNCHES_PER_SLAB;
  const size_t copies = copy_bound(partition, operations, operation_count);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, copies, &schedule->copies), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, operation_count, &schedule->messages), cleanup);
  if (lamina_rank_count(ctx) > 1)
    LMI_TRY_GOTO(status, LMI_ALLOC(ctx, copies, &made.messages.list), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, launches, &schedule->launches), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, operation_count * MAX_PHASES, &schedule->phases), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, operation_count, &schedule->steps), cleanup);

  for (size_t i = 0; i < operation_count; i++)
    LMI_TRY_GOTO(status, plan_step(&made, operations, operation_count, i), cleanup);
  schedule->program = (lmi_program){.steps = schedule->steps,
                                    .step_count = operation_count,
                                    .version = 1,
                                    .agrees = options->stops_on_fault && lamina_rank_count(ctx) > 1};
  schedule->traffic = (lmi_message_count){
    schedule->period.messages / (double)operation_count,
    schedule->period.values / (double)operation_count,
    schedule->period.bytes / (double)operation_count,
  };
cleanup:
  lmi_free(ctx, made.messages.list);
  if (status != LAMINA_OK)
    lmi_schedule_free(ctx, schedule);
  return status;
}

void lmi_schedule_free(lamina_context *ctx, lmi_schedule *schedule)
{
  for (size_t i = 0; i < schedule->message_sets; i++)
    lmi_exchange_destroy(schedule->messages[i]);
  lmi_free(ctx, schedule->messages);
  lmi_free(ctx, schedule->copies);
  lmi_free(ctx, schedule->launches);
  lmi_free(ctx, schedule->phases);
  lmi_free(ctx, schedule->steps);
  *schedule = (lmi_schedule){0};
}
