/* SPDX-License-Identifier: Apache-2.0 */
/* Replaying a program. Each partition has two streams: kernels on one, messages on the other, so that private planes
 * run while messages fly. Phases become events: messages wait for the kernels of both their ends, kernels of the next
 * phase wait for the messages. Whole periods are captured once as graphs, of many steps and of one period, and
 * launched again and again: setting up a message then costs a fifth (docs/dev/cuda.md). */
#include "cuda_internal.h"

/* Steps between two looks at the watch: their launches hide the wait, and after a fault the rest is idle. */
enum { CHUNK_STEPS = 1024, LONG_PERIODS = 8 };

static lamina_status check(const lmi_cuda_device *cuda, lmi_cu_result result, const char *what)
{
  return lmi_cuda_check(cuda->base.ctx, &cuda->api, result, what);
}

/* ---- streams ---- */

static lamina_status make_lane(lmi_cuda_device *cuda, int p)
{
  const lmi_cuda_api *api = &cuda->api;
  lmi_cuda_lane *lane = &cuda->lanes[p];
  lane->unit = lmi_cuda_unit_of(cuda, p);
  LMI_TRY(lmi_cuda_enter(cuda, lane->unit));
  LMI_TRY(check(cuda, api->stream_create(&lane->compute, LMI_CU_STREAM_NON_BLOCKING), "making a stream"));
  LMI_TRY(check(cuda, api->stream_create(&lane->copy, LMI_CU_STREAM_NON_BLOCKING), "making a stream"));
  LMI_TRY(check(cuda, api->event_create(&lane->computed, LMI_CU_EVENT_DISABLE_TIMING), "making an event"));
  return check(cuda, api->event_create(&lane->copied, LMI_CU_EVENT_DISABLE_TIMING), "making an event");
}

static int partitions_of(const lmi_program *program)
{
  int most = 0;
  for (size_t s = 0; s < program->step_count; s++)
    for (size_t p = 0; p < program->steps[s].phase_count; p++) {
      const lmi_phase *phase = &program->steps[s].phases[p];
      for (size_t i = 0; i < phase->launch_count; i++)
        most = phase->launches[i].partition > most ? phase->launches[i].partition : most;
      for (size_t i = 0; i < phase->copy_count; i++)
        most = phase->copies[i].source_partition > most ? phase->copies[i].source_partition : most;
    }
  return most + 1;
}

static lamina_status require_lanes(lmi_cuda_device *cuda, const lmi_program *program)
{
  const int count = partitions_of(program);
  if (cuda->lane_count == count)
    return LAMINA_OK;
  lmi_cuda_free_lanes(cuda);
  LMI_TRY(LMI_ALLOC(cuda->base.ctx, (size_t)count, &cuda->lanes));
  cuda->lane_count = count;
  for (int p = 0; p < count; p++)
    LMI_TRY(make_lane(cuda, p));
  LMI_TRY(lmi_cuda_enter(cuda, 0));
  return check(cuda, cuda->api.event_create(&cuda->fork, LMI_CU_EVENT_DISABLE_TIMING), "making an event");
}

void lmi_cuda_free_lanes(lmi_cuda_device *cuda)
{
  const lmi_cuda_api *api = &cuda->api;
  for (int p = 0; p < cuda->lane_count; p++) {
    lmi_cuda_lane *lane = &cuda->lanes[p];
    if (lmi_cuda_enter(cuda, lane->unit) != LAMINA_OK)
      continue;
    if (lane->copied != NULL)
      (void)api->event_destroy(lane->copied);
    if (lane->computed != NULL)
      (void)api->event_destroy(lane->computed);
    if (lane->copy != NULL)
      (void)api->stream_destroy(lane->copy);
    if (lane->compute != NULL)
      (void)api->stream_destroy(lane->compute);
  }
  if (cuda->fork != NULL)
    (void)api->event_destroy(cuda->fork);
  cuda->fork = NULL;
  lmi_free(cuda->base.ctx, cuda->lanes);
  cuda->lanes = NULL;
  cuda->lane_count = 0;
}

/* ---- recording steps onto streams, for now or for a graph ---- */

static lamina_status wait_for(const lmi_cuda_device *cuda, lmi_cu_stream stream, lmi_cu_event event)
{
  return check(cuda, cuda->api.stream_wait(stream, event, 0), "ordering streams");
}

static lamina_status mark(const lmi_cuda_device *cuda, lmi_cu_event event, lmi_cu_stream stream)
{
  return check(cuda, cuda->api.event_record(event, stream), "marking a stream");
}

static lamina_status issue_copy(const lmi_cuda_device *cuda, const lmi_copy *copy, lmi_cu_stream stream)
{
  const lmi_cu_address target = (lmi_cu_address)(uintptr_t)copy->target;
  const lmi_cu_address source = (lmi_cu_address)(uintptr_t)copy->source;
  if (copy->rows == 1)
    return check(cuda, cuda->api.copy_on_device(target, source, copy->bytes, stream), "sending a message");
  const lmi_cu_copy_2d rows = {
    .source_type = LMI_CU_MEMORY_UNIFIED,
    .source_device = source,
    .source_pitch = copy->pitch,
    .target_type = LMI_CU_MEMORY_UNIFIED,
    .target_device = target,
    .target_pitch = copy->pitch,
    .bytes = copy->bytes,
    .rows = copy->rows,
  };
  return check(cuda, cuda->api.copy_rows(&rows, stream), "sending a message of rows");
}

static bool is_same_pair(const lmi_copy *a, const lmi_copy *b)
{
  return a->source_partition == b->source_partition && a->target_partition == b->target_partition;
}

/* On the sender's copy stream, after what both ends computed so far. */
static lamina_status record_copies(const lmi_cuda_device *cuda, const lmi_phase *phase)
{
  for (size_t i = 0; i < phase->copy_count; i++) {
    const lmi_copy *copy = &phase->copies[i];
    const lmi_cuda_lane *from = &cuda->lanes[copy->source_partition], *to = &cuda->lanes[copy->target_partition];
    if (i == 0 || !is_same_pair(copy, copy - 1)) {
      LMI_TRY(lmi_cuda_enter(cuda, from->unit));
      LMI_TRY(wait_for(cuda, from->copy, from->computed));
      LMI_TRY(wait_for(cuda, from->copy, to->computed));
    }
    LMI_TRY(issue_copy(cuda, copy, from->copy));
  }
  return LAMINA_OK;
}

/* What computes next on either end of a message does so after it. */
static lamina_status join_copies(const lmi_cuda_device *cuda, const lmi_phase *phase)
{
  for (size_t i = 0; i < phase->copy_count; i++) {
    const lmi_copy *copy = &phase->copies[i];
    if (i + 1 < phase->copy_count && is_same_pair(copy, copy + 1))
      continue;
    const lmi_cuda_lane *from = &cuda->lanes[copy->source_partition], *to = &cuda->lanes[copy->target_partition];
    LMI_TRY(mark(cuda, from->copied, from->copy));
    LMI_TRY(wait_for(cuda, from->compute, from->copied));
    LMI_TRY(wait_for(cuda, to->compute, from->copied));
  }
  return LAMINA_OK;
}

/* Reads what all partitions left, and decides what all do next. */
static lamina_status record_settle(const lmi_cuda_device *cuda, const lmi_launch *launch, uint64_t step)
{
  const lmi_cuda_lane *first = &cuda->lanes[0];
  LMI_TRY(lmi_cuda_enter(cuda, first->unit));
  for (int p = 1; p < cuda->lane_count; p++)
    LMI_TRY(wait_for(cuda, first->compute, cuda->lanes[p].computed));
  LMI_TRY(lmi_cuda_launch_step(cuda, launch, step, first->compute));
  LMI_TRY(mark(cuda, first->computed, first->compute));
  for (int p = 1; p < cuda->lane_count; p++)
    LMI_TRY(wait_for(cuda, cuda->lanes[p].compute, first->computed));
  return LAMINA_OK;
}

static lamina_status record_launches(const lmi_cuda_device *cuda, const lmi_phase *phase, uint64_t step)
{
  if (phase->launch_count == 1 && phase->launches[0].kernel->role == LMI_CUDA_SETTLE)
    return record_settle(cuda, &phase->launches[0], step);
  for (size_t i = 0; i < phase->launch_count; i++) {
    const lmi_cuda_lane *lane = &cuda->lanes[phase->launches[i].partition];
    LMI_TRY(lmi_cuda_enter(cuda, lane->unit));
    LMI_TRY(lmi_cuda_launch_step(cuda, &phase->launches[i], step, lane->compute));
  }
  return LAMINA_OK;
}

static lamina_status mark_lanes(const lmi_cuda_device *cuda)
{
  for (int p = 0; p < cuda->lane_count; p++)
    LMI_TRY(mark(cuda, cuda->lanes[p].computed, cuda->lanes[p].compute));
  return LAMINA_OK;
}

/* Messages of other ranks leave when all that was recorded so far is done. */
static lamina_status start_exchange(const lmi_cuda_device *cuda, lmi_exchange *exchange)
{
  for (int p = 0; p < cuda->lane_count; p++) {
    LMI_TRY(lmi_cuda_enter(cuda, cuda->lanes[p].unit));
    LMI_TRY(check(cuda, cuda->api.event_synchronize(cuda->lanes[p].computed), "waiting for what is sent"));
  }
  return exchange->ops->start(exchange);
}

/* With an exchange it is not only recorded: the host waits for messages while the phase's planes are computed. */
static lamina_status record_step(const lmi_cuda_device *cuda, const lmi_step_phases *step, uint64_t index)
{
  for (size_t p = 0; p < step->phase_count; p++) {
    const lmi_phase *phase = &step->phases[p];
    if (phase->exchange != NULL)
      LMI_TRY(start_exchange(cuda, phase->exchange));
    LMI_TRY(record_copies(cuda, phase));
    LMI_TRY(record_launches(cuda, phase, index));
    LMI_TRY(join_copies(cuda, phase));
    LMI_TRY(mark_lanes(cuda));
    if (phase->exchange != NULL)
      LMI_TRY(phase->exchange->ops->finish(phase->exchange));
  }
  return LAMINA_OK;
}

/* A step whose kernels store into their neighbours: whole slabs, each after the last step of the slabs beside it. */
static lamina_status record_direct_step(const lmi_cuda_device *cuda, const lmi_step_phases *step, uint64_t index)
{
  const int count = cuda->lane_count;
  for (int p = 0; p < count; p++) {
    LMI_TRY(lmi_cuda_enter(cuda, cuda->lanes[p].unit));
    LMI_TRY(lmi_cuda_launch_slab(cuda, step, p, index, cuda->lanes[p].compute));
  }
  LMI_TRY(mark_lanes(cuda));
  for (int p = 0; p < count; p++) {
    LMI_TRY(wait_for(cuda, cuda->lanes[p].compute, cuda->lanes[(p + 1) % count].computed));
    LMI_TRY(wait_for(cuda, cuda->lanes[p].compute, cuda->lanes[(p + count - 1) % count].computed));
  }
  return LAMINA_OK;
}

/* The first launch tells; a program of messages alone has none. */
static const lmi_kernel *first_kernel(const lmi_program *program)
{
  for (size_t p = 0; p < program->steps[0].phase_count; p++)
    if (program->steps[0].phases[p].launch_count > 0)
      return program->steps[0].phases[p].launches[0].kernel;
  return NULL;
}

static bool is_direct(const lmi_program *program)
{
  const lmi_kernel *kernel = first_kernel(program);
  return kernel != NULL && kernel->direct;
}

static bool is_joined(const lmi_program *program)
{
  const lmi_kernel *kernel = first_kernel(program);
  return kernel != NULL && kernel->joined;
}

/* Steps are single launches: slabs that are joined, or one alone. */
static bool is_chain(const lmi_cuda_device *cuda, const lmi_program *program)
{
  const lmi_kernel *kernel = first_kernel(program);
  return is_joined(program) || (kernel != NULL && !kernel->is_blocks && cuda->lane_count == 1);
}

static bool is_meeting(const lmi_cuda_device *cuda, const lmi_program *program)
{
  return cuda->meetings && cuda->unit_count > 1 && cuda->lane_count == cuda->unit_count && is_direct(program);
}

static lamina_status advance_watches(const lmi_cuda_device *cuda, uint64_t steps)
{
  for (int u = 0; u < cuda->unit_count; u++) {
    LMI_TRY(lmi_cuda_enter(cuda, u));
    LMI_TRY(lmi_cuda_advance_watch(cuda, u, steps));
  }
  return LAMINA_OK;
}

/* The first device's own stream goes on when those of the others are done. */
static lamina_status gather_units(const lmi_cuda_device *cuda)
{
  for (int u = 1; u < cuda->unit_count; u++) {
    LMI_TRY(lmi_cuda_enter(cuda, u));
    LMI_TRY(mark(cuda, cuda->units[u].done, cuda->units[u].stream));
  }
  LMI_TRY(lmi_cuda_enter(cuda, 0));
  for (int u = 1; u < cuda->unit_count; u++)
    LMI_TRY(wait_for(cuda, cuda->units[0].stream, cuda->units[u].done));
  return LAMINA_OK;
}

/* And those of the others when it is. */
static lamina_status scatter_units(const lmi_cuda_device *cuda)
{
  LMI_TRY(lmi_cuda_enter(cuda, 0));
  LMI_TRY(mark(cuda, cuda->fork, cuda->units[0].stream));
  for (int u = 1; u < cuda->unit_count; u++)
    LMI_TRY(wait_for(cuda, cuda->units[u].stream, cuda->fork));
  return LAMINA_OK;
}

/* From the first device's own stream to all others. */
static lamina_status fork_lanes(const lmi_cuda_device *cuda)
{
  LMI_TRY(scatter_units(cuda));
  for (int p = 0; p < cuda->lane_count; p++)
    LMI_TRY(wait_for(cuda, cuda->lanes[p].compute, cuda->fork));
  return mark_lanes(cuda);
}

/* Back to it; and each device's own stream waits for its partitions. */
static lamina_status join_lanes(const lmi_cuda_device *cuda)
{
  for (int p = 0; p < cuda->lane_count; p++)
    for (int u = 0; u < cuda->unit_count; u++)
      if (u == 0 || u == cuda->lanes[p].unit)
        LMI_TRY(wait_for(cuda, cuda->units[u].stream, cuda->lanes[p].computed));
  return LAMINA_OK;
}

static const lmi_step_phases *step_at(const lmi_program *program, int64_t step)
{
  return &program->steps[(size_t)step % program->step_count];
}

/* A chain of launches on the device's own stream, without an event. */
static lamina_status record_chain(const lmi_cuda_device *cuda, const lmi_program *program, int64_t start, int64_t count)
{
  const lmi_cu_stream stream = cuda->units[0].stream;
  LMI_TRY(lmi_cuda_enter(cuda, 0));
  for (int64_t s = 0; s < count; s++)
    LMI_TRY(lmi_cuda_launch_joined(cuda, step_at(program, start + s), (uint64_t)s, stream));
  return lmi_cuda_advance_watch(cuda, 0, (uint64_t)count);
}

static lamina_status record_steps(const lmi_cuda_device *cuda, const lmi_program *program, int64_t start, int64_t count)
{
  const bool direct = is_direct(program);
  if (is_meeting(cuda, program))
    return lmi_cuda_record_meetings(cuda, program, start, count);
  if (is_chain(cuda, program))
    return record_chain(cuda, program, start, count);
  LMI_TRY(fork_lanes(cuda));
  for (int64_t s = 0; s < count; s++) {
    const lmi_step_phases *step = step_at(program, start + s);
    LMI_TRY(direct ? record_direct_step(cuda, step, (uint64_t)s) : record_step(cuda, step, (uint64_t)s));
  }
  LMI_TRY(join_lanes(cuda));
  LMI_TRY(advance_watches(cuda, (uint64_t)count));
  return gather_units(cuda);
}

/* Planes that were set since the last replay are not in the halos yet: the messages of the first step bring them. What
 * they send back to its owner is there already, the same values. */
static lamina_status fill_halos(const lmi_cuda_device *cuda, const lmi_program *program, int64_t start)
{
  const lmi_step_phases *step = &program->steps[(size_t)start % program->step_count];
  LMI_TRY(fork_lanes(cuda));
  for (size_t p = 0; p < step->phase_count; p++) {
    LMI_TRY(record_copies(cuda, &step->phases[p]));
    LMI_TRY(join_copies(cuda, &step->phases[p]));
    LMI_TRY(mark_lanes(cuda));
  }
  LMI_TRY(join_lanes(cuda));
  LMI_TRY(gather_units(cuda));
  return scatter_units(cuda);
}

/* ---- graphs ---- */

void lmi_cuda_drop_captures(lmi_cuda_device *cuda)
{
  for (int i = 0; i < LMI_CUDA_CAPTURES; i++) {
    for (int u = 0; u < LMI_CUDA_MAX_UNITS; u++)
      if (cuda->captures[i].exec[u] != NULL)
        (void)cuda->api.graph_exec_destroy(cuda->captures[i].exec[u]);
    cuda->captures[i] = (lmi_cuda_capture){0};
  }
  cuda->captured_steps = NULL;
}

lamina_status lmi_cuda_instantiate(const lmi_cuda_device *cuda, lmi_cu_graph graph, lmi_cu_graph_exec *exec)
{
  const lmi_cu_result made = cuda->api.graph_instantiate(exec, graph, 0);
  (void)cuda->api.graph_destroy(graph);
  return check(cuda, made, "making a graph of steps");
}

static lamina_status capture_steps(lmi_cuda_device *cuda, const lmi_program *program, int64_t steps,
                                   lmi_cuda_capture *capture)
{
  const lmi_cuda_api *api = &cuda->api;
  const lmi_cu_stream main_stream = cuda->units[0].stream;
  lmi_cu_graph graph = NULL;
  capture->steps = steps;
  if (is_meeting(cuda, program))
    return lmi_cuda_capture_meetings(cuda, program, steps, capture);
  LMI_TRY(lmi_cuda_enter(cuda, 0));
  LMI_TRY(check(cuda, api->stream_begin_capture(main_stream, LMI_CU_CAPTURE_RELAXED), "capturing steps"));
  const lamina_status recorded = record_steps(cuda, program, 0, steps);
  const lmi_cu_result ended = api->stream_end_capture(main_stream, &graph);
  LMI_TRY(recorded);
  LMI_TRY(check(cuda, ended, "capturing steps"));
  return lmi_cuda_instantiate(cuda, graph, &capture->exec[0]);
}

static bool is_captured(const lmi_cuda_device *cuda, const lmi_program *program)
{
  return cuda->captured_steps == program->steps && cuda->captured_version == program->version;
}

static lamina_status capture_periods(lmi_cuda_device *cuda, const lmi_program *program)
{
  lmi_cuda_drop_captures(cuda);
  const int64_t period = (int64_t)program->step_count;
  LMI_TRY(capture_steps(cuda, program, LONG_PERIODS * period, &cuda->captures[0]));
  LMI_TRY(capture_steps(cuda, program, period, &cuda->captures[1]));
  cuda->captured_steps = program->steps;
  cuda->captured_version = program->version;
  return LAMINA_OK;
}

/* Captures anew when arguments changed. A driver that captures nothing across devices is not asked again. */
static lamina_status require_captures(lmi_cuda_device *cuda, const lmi_program *program)
{
  if (is_captured(cuda, program))
    return LAMINA_OK;
  const lamina_status status = capture_periods(cuda, program);
  if (status == LAMINA_OK || cuda->unit_count == 1)
    return status;
  lmi_cuda_drop_captures(cuda);
  lamina_error_clear(cuda->base.ctx);
  cuda->graphs = false;
  return LAMINA_OK;
}

static lamina_status launch_captures(const lmi_cuda_device *cuda, bool meeting, int64_t *start, int64_t *count)
{
  for (int i = 0; i < LMI_CUDA_CAPTURES; i++) {
    const lmi_cuda_capture *capture = &cuda->captures[i];
    for (; *count >= capture->steps; *count -= capture->steps, *start += capture->steps)
      LMI_TRY(meeting
                ? lmi_cuda_launch_meetings(cuda, capture)
                : check(cuda, cuda->api.graph_launch(capture->exec[0], cuda->units[0].stream), "replaying steps"));
  }
  return meeting ? LAMINA_OK : scatter_units(cuda);
}

/* ---- the watch ---- */

static lamina_status reset_watches(const lmi_cuda_device *cuda)
{
  for (int u = 0; u < cuda->unit_count; u++) {
    const lmi_cuda_unit *unit = &cuda->units[u];
    LMI_TRY(lmi_cuda_enter(cuda, u));
    LMI_TRY(check(cuda, cuda->api.set_bytes(unit->watch, 0, sizeof(uint64_t), unit->stream), "resetting the watch"));
    LMI_TRY(check(cuda,
                  cuda->api.set_bytes(unit->watch + offsetof(lmk_watch, fault), 0xff, sizeof(uint64_t), unit->stream),
                  "resetting the watch"));
  }
  return LAMINA_OK;
}

/* Blocking. The first fault of all devices. */
static lamina_status read_watches(const lmi_cuda_device *cuda, int64_t before, lmi_fault *fault)
{
  uint64_t first = UINT64_MAX;
  for (int u = 0; u < cuda->unit_count; u++) {
    const lmi_cuda_unit *unit = &cuda->units[u];
    lmk_watch watch;
    LMI_TRY(lmi_cuda_enter(cuda, u));
    LMI_TRY(check(cuda, cuda->api.copy_to_host(&watch, unit->watch, sizeof watch, unit->stream), "reading the watch"));
    LMI_TRY(check(cuda, cuda->api.stream_synchronize(unit->stream), "running steps"));
    LMI_REQUIRE(cuda->base.ctx, watch.lost == 0, LAMINA_ERROR_DEVICE,
                "device %d waited for the devices beside it in vain (step %llu since it was opened)", unit->ordinal,
                (unsigned long long)watch.lost);
    first = watch.fault < first ? watch.fault : first;
  }
  if (first == UINT64_MAX)
    return LAMINA_OK;
  const uint64_t plane_mask = ((uint64_t)1 << LMK_FAULT_PARTITION_SHIFT) - 1;
  const uint64_t partition_mask = LMI_CUDA_MAX_PARTITIONS - 1;
  *fault = (lmi_fault){
    .found = true,
    .step = before + (int64_t)(first >> LMK_FAULT_STEP_SHIFT),
    .partition = (int)(first >> LMK_FAULT_PARTITION_SHIFT & partition_mask),
    .plane = (int64_t)(first & plane_mask),
  };
  return LAMINA_OK;
}

/* An odd start is brought to the period's beginning, whole periods are graphs, the rest is recorded as it comes. A few
 * steps are not worth a capture. */
static lamina_status run_chunk(lmi_cuda_device *cuda, const lmi_program *program, int64_t start, int64_t count)
{
  const int64_t period = (int64_t)program->step_count;
  int64_t lead = (period - start % period) % period;
  const bool is_worth_it = count - lead >= LONG_PERIODS * period || (is_captured(cuda, program) && count > lead);
  if (cuda->graphs && is_worth_it)
    LMI_TRY(require_captures(cuda, program));
  if (!cuda->graphs || !is_worth_it)
    lead = count;
  LMI_TRY(gather_units(cuda));
  if (lead > 0)
    LMI_TRY(record_steps(cuda, program, start, lead));
  start += lead;
  count -= lead;
  if (count == 0)
    return LAMINA_OK;
  LMI_TRY(launch_captures(cuda, is_meeting(cuda, program), &start, &count));
  return count > 0 ? record_steps(cuda, program, start, count) : LAMINA_OK;
}

/* Steps of several ranks, one by one: after each all agree on the first fault. */
static lamina_status replay_with_ranks(lmi_cuda_device *cuda, const lmi_program *program, int64_t start, int64_t count,
                                       lmi_fault *fault)
{
  for (int64_t s = 0; s < count && !fault->found; s++) {
    LMI_TRY(reset_watches(cuda));
    LMI_TRY(gather_units(cuda));
    LMI_TRY(fork_lanes(cuda));
    LMI_TRY(record_step(cuda, step_at(program, start + s), 0));
    LMI_TRY(join_lanes(cuda));
    LMI_TRY(gather_units(cuda));
    LMI_TRY(read_watches(cuda, s, fault));
    LMI_TRY(lmi_agree_on_fault(cuda->base.ctx, s, fault));
  }
  return LAMINA_OK;
}

lamina_status lmi_cuda_replay(lmi_device *device, const lmi_program *program, int64_t start, int64_t count,
                              lmi_fault *fault)
{
  lmi_cuda_device *cuda = (lmi_cuda_device *)device;
  *fault = (lmi_fault){0};
  LMI_TRY(require_lanes(cuda, program));
  LMI_TRY(lmi_cuda_prepare_blocks(cuda, program));
  if (program->agrees)
    return replay_with_ranks(cuda, program, start, count, fault);
  if (is_direct(program) && !is_joined(program))
    LMI_TRY(fill_halos(cuda, program, start));
  for (int64_t done = 0; done < count && !fault->found; done += CHUNK_STEPS) {
    const int64_t here = count - done < CHUNK_STEPS ? count - done : CHUNK_STEPS;
    LMI_TRY(reset_watches(cuda));
    LMI_TRY(run_chunk(cuda, program, start + done, here));
    LMI_TRY(read_watches(cuda, done, fault));
  }
  return LAMINA_OK;
}
