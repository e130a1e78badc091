/* SPDX-License-Identifier: Apache-2.0 */
/* Devices with one slab each need no host to wait for one another: after each step a kernel of one thread tells the
 * neighbours, by a number in their memory, and waits for theirs (lmk_meet). Each device then replays a graph of its
 * own, a chain of steps and meetings. Events across devices cost 25 us a step, a meeting a fifth of it
 * (docs/dev/cuda.md).
 *
 * All devices are given as many meetings, in turn, so that none waits for work that was not handed out. */
#include "cuda_internal.h"

static lamina_status check(const lmi_cuda_device *cuda, lmi_cu_result result, const char *what)
{
  return lmi_cuda_check(cuda->base.ctx, &cuda->api, result, what);
}

static lmk_watch *watch_of(const lmi_cuda_device *cuda, int unit)
{
  return (lmk_watch *)(uintptr_t)cuda->units[(unit + cuda->unit_count) % cuda->unit_count].watch;
}

/* Slab u lives on unit u. */
static lamina_status record_one(const lmi_cuda_device *cuda, const lmi_step_phases *step, int u, uint64_t index)
{
  const lmi_cu_stream stream = cuda->units[u].stream;
  const lmk_step *arguments = step->phases[step->phase_count - 1].launches[0].arguments;
  for (size_t p = 0; p < step->phase_count; p++)
    for (size_t i = 0; i < step->phases[p].launch_count; i++)
      if (step->phases[p].launches[i].partition == u)
        arguments = step->phases[p].launches[i].arguments;
  lmk_device_meeting meeting = {
    .own = watch_of(cuda, u),
    .lower = arguments->lower != NULL ? watch_of(cuda, u - 1) : NULL,
    .upper = arguments->upper != NULL ? watch_of(cuda, u + 1) : NULL,
  };
  void *parameters[] = {&meeting};
  LMI_TRY(lmi_cuda_launch_slab(cuda, step, u, index, stream));
  return check(cuda, cuda->api.launch(cuda->sets->meet[u], 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL),
               "meeting the devices beside");
}

static const lmi_step_phases *step_at(const lmi_program *program, int64_t step)
{
  return &program->steps[(size_t)step % program->step_count];
}

lamina_status lmi_cuda_record_meetings(const lmi_cuda_device *cuda, const lmi_program *program, int64_t start,
                                       int64_t count)
{
  for (int64_t s = 0; s < count; s++)
    for (int u = 0; u < cuda->unit_count; u++) {
      LMI_TRY(lmi_cuda_enter(cuda, u));
      LMI_TRY(record_one(cuda, step_at(program, start + s), u, (uint64_t)s));
    }
  for (int u = 0; u < cuda->unit_count; u++) {
    LMI_TRY(lmi_cuda_enter(cuda, u));
    LMI_TRY(lmi_cuda_advance_watch(cuda, u, (uint64_t)count));
  }
  return LAMINA_OK;
}

static lamina_status record_unit(const lmi_cuda_device *cuda, const lmi_program *program, int64_t steps, int u)
{
  for (int64_t s = 0; s < steps; s++)
    LMI_TRY(record_one(cuda, step_at(program, s), u, (uint64_t)s));
  return lmi_cuda_advance_watch(cuda, u, (uint64_t)steps);
}

static lamina_status capture_unit(const lmi_cuda_device *cuda, const lmi_program *program, int64_t steps, int u,
                                  lmi_cu_graph_exec *exec)
{
  const lmi_cu_stream stream = cuda->units[u].stream;
  lmi_cu_graph graph = NULL;
  LMI_TRY(lmi_cuda_enter(cuda, u));
  LMI_TRY(check(cuda, cuda->api.stream_begin_capture(stream, LMI_CU_CAPTURE_RELAXED), "capturing steps"));
  const lamina_status recorded = record_unit(cuda, program, steps, u);
  const lmi_cu_result ended = cuda->api.stream_end_capture(stream, &graph);
  LMI_TRY(recorded);
  LMI_TRY(check(cuda, ended, "capturing steps"));
  return lmi_cuda_instantiate(cuda, graph, exec);
}

lamina_status lmi_cuda_capture_meetings(const lmi_cuda_device *cuda, const lmi_program *program, int64_t steps,
                                        lmi_cuda_capture *capture)
{
  for (int u = 0; u < cuda->unit_count; u++)
    LMI_TRY(capture_unit(cuda, program, steps, u, &capture->exec[u]));
  return LAMINA_OK;
}

lamina_status lmi_cuda_launch_meetings(const lmi_cuda_device *cuda, const lmi_cuda_capture *capture)
{
  for (int u = 0; u < cuda->unit_count; u++) {
    LMI_TRY(lmi_cuda_enter(cuda, u));
    LMI_TRY(check(cuda, cuda->api.graph_launch(capture->exec[u], cuda->units[u].stream), "replaying steps"));
  }
  return LAMINA_OK;
}
