/* SPDX-License-Identifier: Apache-2.0 */
#include "block_schedule.h"

#include "message_plan.h"

enum { MAX_COMPONENTS = 32, SETS_OF_A_FACE = 4, MAX_PHASES = 3 };

typedef struct program_maker {
  const lmi_block_program *program;
  lmi_device *device;
  lmi_schedule *schedule;
  lmi_message_plan messages;
  size_t copies, launches, phases;
} program_maker;

/* A plane of all blocks of a section. */
typedef struct section_plane {
  int part, section, plane;
} section_plane;

/* NULL in a partition of another rank. */
static char *rank_at(const program_maker *maker, section_plane at, int rank, void *const *memory)
{
  const lmk_block_section *s = &maker->program->blocks->parts[at.part].sections[at.section];
  const int64_t element = s->base + rank * s->rank_stride + at.plane * s->plane_stride;
  if (memory[at.part] == NULL)
    return NULL;
  return (char *)memory[at.part] + element * (int64_t)maker->program->element_bytes;
}

static void add_copy(program_maker *maker, const lmi_copy *copy)
{
  const lmi_partition *layers = &maker->program->blocks->layers;
  if (!lmi_message_plan_take(&maker->messages, copy) && lmi_partition_is_own(layers, copy->source_partition))
    maker->schedule->copies[maker->copies++] = *copy;
}

/* Each run of neighbouring components is one range on both sides. */
static void copy_components(program_maker *maker, uint32_t set, section_plane from, section_plane to,
                            void *const *memory)
{
  const lmk_block_section *s = &maker->program->blocks->parts[from.part].sections[from.section];
  lmi_message_count *traffic = &maker->schedule->period;
  for (int first = 0; first < MAX_COMPONENTS; first++) {
    int end = first;
    while (end < MAX_COMPONENTS && (set >> end & 1u) != 0)
      end++;
    if (end == first || s->count == 0)
      continue;
    const int64_t values = (end - first) * s->rank_stride;
    const size_t bytes = (size_t)values * maker->program->element_bytes;
    const lmi_copy copy = {
      .target = rank_at(maker, to, first, memory),
      .source = rank_at(maker, from, first, memory),
      .bytes = bytes,
      .rows = 1,
      .pitch = bytes,
      .target_partition = to.part,
      .source_partition = from.part,
    };
    add_copy(maker, &copy);
    traffic->messages += 1.0;
    traffic->values += (double)values;
    traffic->bytes += (double)bytes;
    first = end;
  }
}

/* As for planes of cells (schedule.c): what the step before wrote in halos goes back to the owners, what this one reads
 * there comes from them. */
static void plan_face(program_maker *maker, size_t step, int lower, int upper)
{
  const lmi_block_program *program = maker->program;
  const lmi_block_part *parts = program->blocks->parts;
  const size_t before = (step + program->step_count - 1) % program->step_count;
  const section_plane top = {lower, parts[lower].upper_boundary, parts[lower].top_plane};
  const section_plane above = {lower, parts[lower].upper_halo, 0};
  const section_plane bottom = {upper, parts[upper].lower_boundary, 0};
  const section_plane below = {upper, parts[upper].lower_halo, 0};
  copy_components(maker, program->halos[before].write_high, above, bottom, program->written_memory[before]);
  copy_components(maker, program->halos[before].write_low, below, top, program->written_memory[before]);
  copy_components(maker, program->halos[step].read_high, bottom, above, program->read_memory[step]);
  copy_components(maker, program->halos[step].read_low, top, below, program->read_memory[step]);
}

/* The rows beside a face between ranks. Inside a rank there is one table for all partitions. */
static void share_rows(program_maker *maker, size_t step, int from, int to, int64_t plane)
{
  const lmi_block_program *program = maker->program;
  for (size_t i = 0; i < program->shared_count; i++) {
    const lmi_shared_rows *rows = &program->shared[i];
    char *at = (char *)rows->first[step % 2] + (size_t)plane * rows->bytes;
    const lmi_copy copy = {.target = at,
                           .source = at,
                           .bytes = rows->bytes,
                           .rows = rows->runs,
                           .pitch = rows->pitch,
                           .target_partition = to,
                           .source_partition = from};
    if (!lmi_message_plan_take(&maker->messages, &copy))
      return;
    maker->schedule->period.messages += 1.0;
    maker->schedule->period.bytes += (double)(rows->runs * rows->bytes);
  }
}

/* The one plane of a slab with the same neighbour on both sides goes there once. */
static void plan_shared(program_maker *maker, size_t step, int lower, int upper)
{
  const lmi_slab *slabs = maker->program->blocks->planes.slabs;
  const lmi_slab *links = &maker->program->blocks->layers.slabs[upper];
  share_rows(maker, step, lower, upper, slabs[lower].first + slabs[lower].planes - 1);
  if (slabs[upper].planes > 1 || links->lower != links->upper)
    share_rows(maker, step, upper, lower, slabs[upper].first);
}

enum { ALL_BLOCKS, PRIVATE_BLOCKS, FACE_BLOCKS };

static void add_launches(program_maker *maker, size_t step, int which)
{
  const lmi_block_program *program = maker->program;
  for (size_t i = 0; i < program->launch_count; i++) {
    const lmi_block_launch *launch = &program->launches[i];
    const bool is_private = launch->section == program->blocks->parts[launch->part].private_section;
    if (launch->count == 0 || (which == PRIVATE_BLOCKS && !is_private) || (which == FACE_BLOCKS && is_private))
      continue;
    maker->schedule->launches[maker->launches++] =
      (lmi_launch){launch->kernel, launch->arguments[step], launch->first, launch->count, launch->part};
  }
}

static void end_phase(program_maker *maker, size_t first_copy, size_t first_launch, lmi_exchange *exchange)
{
  if (maker->copies == first_copy && maker->launches == first_launch && exchange == NULL)
    return;
  maker->schedule->phases[maker->phases++] = (lmi_phase){
    .copies = maker->schedule->copies + first_copy,
    .copy_count = maker->copies - first_copy,
    .launches = maker->schedule->launches + first_launch,
    .launch_count = maker->launches - first_launch,
    .exchange = exchange,
  };
}

/* Whether anything is sent is decided for all ranks alike: it shapes phases, not messages. */
static void plan_settle(program_maker *maker, size_t step)
{
  const lmi_block_program *program = maker->program;
  const size_t launches = maker->launches;
  if (program->settle == NULL)
    return;
  maker->schedule->launches[maker->launches++] =
    (lmi_launch){.kernel = program->settle, .arguments = program->settle_arguments[step], .count = 1};
  end_phase(maker, maker->copies, launches, NULL);
}

static lamina_status plan_step(program_maker *maker, size_t step)
{
  const lmi_partition *layers = &maker->program->blocks->layers;
  const size_t copies = maker->copies, first_phase = maker->phases;
  const double messages = maker->schedule->period.messages;
  plan_settle(maker, step);
  size_t launches = maker->launches;
  lmi_exchange *exchange = NULL;
  lmi_message_plan_begin(&maker->messages);
  for (int p = 0; p < layers->count; p++)
    if (layers->slabs[p].upper >= 0) {
      plan_face(maker, step, p, layers->slabs[p].upper);
      plan_shared(maker, step, p, layers->slabs[p].upper);
    }
  LMI_TRY(lmi_message_plan_end(&maker->messages, maker->device, maker->schedule, &exchange));
  const bool sends = maker->schedule->period.messages > messages;
  maker->schedule->exchanges += sends;
  if (sends && maker->program->overlap)
    add_launches(maker, step, PRIVATE_BLOCKS);
  if (sends) {
    end_phase(maker, copies, launches, exchange);
    launches = maker->launches;
  }
  add_launches(maker, step, sends && maker->program->overlap ? FACE_BLOCKS : ALL_BLOCKS);
  end_phase(maker, maker->copies, launches, NULL);
  maker->schedule->steps[step] = (lmi_step_phases){maker->schedule->phases + first_phase, maker->phases - first_phase};
  return LAMINA_OK;
}

lamina_status lmi_block_schedule_create(lmi_device *device, const lmi_block_program *program, lmi_schedule *schedule)
{
  lamina_status status = LAMINA_OK;
  lamina_context *ctx = device->ctx;
  *schedule = (lmi_schedule){0};
  const size_t steps = program->step_count, faces = (size_t)program->blocks->layers.count;
  const size_t ends = faces * (SETS_OF_A_FACE * MAX_COMPONENTS + 2 * program->shared_count);
  program_maker maker = {
    .program = program, .device = device, .schedule = schedule, .messages = {.partition = &program->blocks->layers}};
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, steps * faces * SETS_OF_A_FACE * MAX_COMPONENTS, &schedule->copies), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, steps * (program->launch_count + 1), &schedule->launches), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, steps * MAX_PHASES, &schedule->phases), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, steps, &schedule->steps), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, steps, &schedule->messages), cleanup);
  if (lamina_rank_count(ctx) > 1)
    LMI_TRY_GOTO(status, LMI_ALLOC(ctx, ends, &maker.messages.list), cleanup);
  for (size_t step = 0; step < steps; step++)
    LMI_TRY_GOTO(status, plan_step(&maker, step), cleanup);
  schedule->program =
    (lmi_program){.steps = schedule->steps, .step_count = steps, .version = 1, .agrees = lamina_rank_count(ctx) > 1};
  schedule->traffic = (lmi_message_count){
    schedule->period.messages / (double)steps,
    schedule->period.values / (double)steps,
    schedule->period.bytes / (double)steps,
  };
cleanup:
  lmi_free(ctx, maker.messages.list);
  if (status != LAMINA_OK)
    lmi_schedule_free(ctx, schedule);
  return status;
}
