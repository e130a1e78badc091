/* SPDX-License-Identifier: Apache-2.0 */
/* Threads, memory and the replay of programs on the host. Each thread owns a fixed share of the planes of all
 * partitions, so that a plane stays with the core that first touched it. */
#include <omp.h>

#include "cpu.h"
#include "cpu_barrier.h"

typedef struct cpu_device {
  lmi_device base;
  int threads;
  lmi_kernel step, import_planes, export_planes, moments;
  lmi_kernel blocks, block_stream, block_collide, aside, block_import, block_export, block_moments;
  lmi_cpu_cells_kernel *cells_kernels;
  lmi_transfers transfers;
} cpu_device;

static lamina_status cpu_open(lamina_context *ctx, const lmi_device_options *options, lmi_device **device)
{
  *device = NULL;
  cpu_device *made = NULL;
  LMI_TRY(LMI_ALLOC(ctx, 1, &made));
  made->base.ops = &lmi_cpu_ops;
  made->base.ctx = ctx;
  made->threads = options->threads > 0 ? options->threads : lamina_context_thread_count(ctx);
  *device = &made->base;
  return LAMINA_OK;
}

static void cpu_close(lmi_device *device)
{
  if (device == NULL)
    return;
  for (lmi_cpu_cells_kernel *kernel = ((cpu_device *)device)->cells_kernels; kernel != NULL;) {
    lmi_cpu_cells_kernel *next = kernel->next;
    lmi_free(device->ctx, kernel);
    kernel = next;
  }
  lmi_free(device->ctx, device);
}

/* Row ends are gathered as if the cell beyond were there, and then replaced (kernel/rows_host.h): at the first and last
 * row of the memory that reads up to one cell past it, 27 doubles in AoS. */
enum { SLACK_BYTES = 4 * (int)LMI_LINE_BYTES };

static lamina_status cpu_allocate(lmi_device *device, int partition, size_t bytes, void **memory)
{
  (void)partition;
  void *pages = NULL;
  *memory = NULL;
  LMI_REQUIRE(device->ctx, bytes <= SIZE_MAX - 2 * SLACK_BYTES, LAMINA_ERROR_MEMORY, "no memory for %zu bytes", bytes);
  LMI_TRY(lmi_alloc_pages(device->ctx, bytes + 2 * SLACK_BYTES, &pages));
  *memory = (char *)pages + SLACK_BYTES;
  return LAMINA_OK;
}

static void cpu_release(lmi_device *device, int partition, void *memory, size_t bytes)
{
  (void)partition;
  if (memory != NULL)
    lmi_free_pages(device->ctx, (char *)memory - SLACK_BYTES, bytes + 2 * SLACK_BYTES);
}

static lamina_status cpu_dense_kernels(lmi_device *device, const lmi_dense_key *key, lmi_dense_kernels *kernels)
{
  cpu_device *cpu = (cpu_device *)device;
  lmk_update_rows_function *update_rows = lmi_cpu_row_kernel(key);
  LMI_REQUIRE(device->ctx, update_rows != NULL, LAMINA_ERROR_ARGUMENT, "there is no %s collision for %s",
              lamina_collision_name(key->collision), lamina_lattice_name(key->lattice));
  const size_t bytes = key->precision == LAMINA_F64 ? sizeof(double) : sizeof(float);
  cpu->step = (lmi_kernel){.run = lmi_cpu_step, .update_rows = update_rows, .element_bytes = bytes};
  cpu->import_planes = (lmi_kernel){.run = lmi_cpu_import, .element_bytes = bytes};
  cpu->export_planes = (lmi_kernel){.run = lmi_cpu_export, .element_bytes = bytes};
  cpu->moments = (lmi_kernel){.run = lmi_cpu_moments, .element_bytes = bytes};
  *kernels = (lmi_dense_kernels){&cpu->step, &cpu->import_planes, &cpu->export_planes, &cpu->moments};
  return LAMINA_OK;
}

static lamina_status cpu_block_kernels(lmi_device *device, const lmi_dense_key *key, lmi_block_kernels *kernels)
{
  cpu_device *cpu = (cpu_device *)device;
  lmk_update_run_function *update_run = lmi_cpu_run_kernel(key);
  LMI_REQUIRE(device->ctx, update_run != NULL, LAMINA_ERROR_ARGUMENT, "there is no %s collision for %s",
              lamina_collision_name(key->collision), lamina_lattice_name(key->lattice));
  const size_t bytes = key->precision == LAMINA_F64 ? sizeof(double) : sizeof(float);
  cpu->blocks = (lmi_kernel){.run = lmi_cpu_blocks,
                             .element_bytes = bytes,
                             .update_blocks = lmi_cpu_block_kernel(key),
                             .update_run = update_run};
  cpu->block_stream = cpu->block_collide = cpu->blocks;
  cpu->block_stream.part = LMK_STREAM_ONLY;
  cpu->block_collide.part = LMK_COLLIDE_ONLY;
  cpu->aside = (lmi_kernel){.run = lmi_cpu_aside, .element_bytes = bytes};
  cpu->block_import = (lmi_kernel){.run = lmi_cpu_block_import, .element_bytes = bytes};
  cpu->block_export = (lmi_kernel){.run = lmi_cpu_block_export, .element_bytes = bytes};
  cpu->block_moments = (lmi_kernel){.run = lmi_cpu_block_moments, .element_bytes = bytes};
  *kernels = (lmi_block_kernels){
    .step = &cpu->blocks,
    .special = &cpu->blocks,
    .jump = &cpu->blocks,
    .stream = &cpu->block_stream,
    .collide = &cpu->block_collide,
    .aside = &cpu->aside,
    .import_planes = &cpu->block_import,
    .export_planes = &cpu->block_export,
    .moments = &cpu->block_moments,
  };
  return LAMINA_OK;
}

static lamina_status cpu_cells_kernel(lmi_device *device, const lamina_kernel_text *text, lamina_precision type,
                                      const lmi_kernel **kernel)
{
  cpu_device *cpu = (cpu_device *)device;
  lmi_cpu_cells_kernel *made = NULL;
  *kernel = NULL;
  LMI_TRY(LMI_ALLOC(device->ctx, 1, &made));
  made->base.run = lmi_cpu_cells;
  made->run_cells = type == LAMINA_F64 ? text->run_f64 : text->run_f32;
  made->next = cpu->cells_kernels;
  cpu->cells_kernels = made;
  *kernel = &made->base;
  return LAMINA_OK;
}

/* The first fault in the order partition, plane: the same one for any number of threads and phases. */
static void keep_first_fault(const lmi_fault *mine, lmi_fault *fault)
{
  if (!mine->found)
    return;
  const bool earlier =
    mine->partition < fault->partition || (mine->partition == fault->partition && mine->plane < fault->plane);
  if (!fault->found || earlier)
    *fault = *mine;
}

/* MPI moves large messages only while it is called: the thread that talks to it looks in this often on its way through
 * its share. */
enum { LOOKS = 8 };

static int64_t run_launch(const lmi_launch *launch, int64_t first, int64_t count, lmi_exchange *exchange)
{
  if (exchange == NULL)
    return launch->kernel->run(launch->kernel, launch->arguments, first, count);
  const int64_t end = first + count, piece = count / LOOKS > 0 ? count / LOOKS : 1;
  int64_t bad = -1;
  for (int64_t z = first; z < end; z += piece) {
    const int64_t found = launch->kernel->run(launch->kernel, launch->arguments, z, end - z < piece ? end - z : piece);
    bad = bad < 0 ? found : bad;
    exchange->ops->advance(exchange);
  }
  return bad;
}

/* A launch of so many planes or blocks a thread is dealt on its own: launches of one phase may cost differently an
 * item, as those of plain and special blocks do. Shorter ones are counted through in order. */
enum { ALONE_FROM = 16 };

static bool is_dealt_alone(const lmi_launch *launch, int threads)
{
  return launch->count >= (int64_t)ALONE_FROM * threads;
}

/* Runs this thread's share of all launches. `exchange`: what this thread looks after meanwhile, or NULL. */
static void run_share(const lmi_phase *phase, lmi_exchange *exchange, int thread, int threads, int64_t step,
                      lmi_fault *fault)
{
  int64_t total = 0, before = 0;
  for (size_t i = 0; i < phase->launch_count; i++)
    total += is_dealt_alone(&phase->launches[i], threads) ? 0 : phase->launches[i].count;
  const int64_t begin = total * thread / threads, end = total * (thread + 1) / threads;
  for (size_t i = 0; i < phase->launch_count; i++) {
    const lmi_launch *launch = &phase->launches[i];
    int64_t from = launch->count * thread / threads, to = launch->count * (thread + 1) / threads;
    if (!is_dealt_alone(launch, threads)) {
      from = begin > before ? begin - before : 0;
      to = end - before < launch->count ? end - before : launch->count;
      before += launch->count;
    }
    if (from >= to)
      continue;
    const int64_t bad = run_launch(launch, launch->first + from, to - from, exchange);
    if (bad >= 0)
      keep_first_fault(&(lmi_fault){true, step, launch->partition, bad}, fault);
  }
}

static void run_copies(const lmi_phase *phase, int thread, int threads, lmi_transfers *made)
{
  for (size_t i = (size_t)thread; i < phase->copy_count; i += (size_t)threads) {
    const lmi_copy *copy = &phase->copies[i];
    for (size_t row = 0; row < copy->rows; row++)
      memcpy((char *)copy->target + row * copy->pitch, (const char *)copy->source + row * copy->pitch, copy->bytes);
    made->messages++;
    made->bytes += copy->rows * copy->bytes;
  }
}

/* What the threads of a replay share. */
typedef struct replay_team {
  const lmi_program *program;
  lmi_cpu_barrier barrier;
  lmi_fault *fault;
  lamina_status status; /* of thread 0, which alone talks to other ranks */
} replay_team;

static void run_phase(replay_team *team, const lmi_phase *phase, int thread, int threads, int64_t step,
                      lmi_transfers *made)
{
  lmi_exchange *exchange = thread == 0 ? phase->exchange : NULL;
  lmi_fault mine = {0};
  if (exchange != NULL && team->status == LAMINA_OK)
    team->status = exchange->ops->start(exchange);
  run_copies(phase, thread, threads, made);
  run_share(phase, exchange, thread, threads, step, &mine);
  if (mine.found) {
#pragma omp critical(lamina_cpu_fault)
    keep_first_fault(&mine, team->fault);
  }
  if (exchange != NULL && team->status == LAMINA_OK) {
    team->status = exchange->ops->finish(exchange);
    made->messages += exchange->messages;
    made->bytes += exchange->bytes;
  }
  lmi_cpu_barrier_wait(&team->barrier, threads);
}

static lamina_status replay(lmi_device *device, const lmi_program *program, int64_t start, int64_t count, int wanted,
                            lmi_fault *fault)
{
  cpu_device *cpu = (cpu_device *)device;
  replay_team team = {.program = program, .fault = fault, .status = LAMINA_OK};
  *fault = (lmi_fault){0};
#pragma omp parallel num_threads(wanted)
  {
    const int thread = omp_get_thread_num(), threads = omp_get_num_threads();
    lmi_transfers made = {0};
    bool stop = false;
    for (int64_t s = 0; s < count && !stop; s++) {
      const lmi_step_phases *step = &program->steps[(size_t)(start + s) % program->step_count];
      for (size_t p = 0; p < step->phase_count; p++)
        run_phase(&team, &step->phases[p], thread, threads, s, &made);
      if (program->agrees && thread == 0 && team.status == LAMINA_OK)
        team.status = lmi_agree_on_fault(device->ctx, s, fault);
      if (program->agrees)
        lmi_cpu_barrier_wait(&team.barrier, threads);
      stop = fault->found || team.status != LAMINA_OK;
      lmi_cpu_barrier_wait(&team.barrier, threads);
    }
#pragma omp critical(lamina_cpu_transfers)
    {
      cpu->transfers.messages += made.messages;
      cpu->transfers.bytes += made.bytes;
    }
  }
  return team.status;
}

static lamina_status cpu_replay(lmi_device *device, const lmi_program *program, int64_t start, int64_t count,
                                lmi_fault *fault)
{
  return replay(device, program, start, count, ((const cpu_device *)device)->threads, fault);
}

static void cpu_transfers(const lmi_device *device, lmi_transfers *transfers)
{
  *transfers = ((const cpu_device *)device)->transfers;
}

static lamina_status cpu_run_planes(lmi_device *device, const lmi_launch *launch, size_t bytes_per_plane)
{
  (void)bytes_per_plane;
  const lmi_phase phase = {.launches = launch, .launch_count = 1};
  const lmi_step_phases step = {&phase, 1};
  const lmi_program program = {.steps = &step, .step_count = 1};
  const int threads = ((const cpu_device *)device)->threads;
  lmi_fault fault;
  return replay(device, &program, 0, 1, launch->count < threads ? (int)launch->count : threads, &fault);
}

const lmi_device_ops lmi_cpu_ops = {
  .name = "cpu",
  .open = cpu_open,
  .close = cpu_close,
  .allocate = cpu_allocate,
  .release = cpu_release,
  .dense_kernels = cpu_dense_kernels,
  .block_kernels = cpu_block_kernels,
  .crosses_jumps = true,
  .cells_kernel = cpu_cells_kernel,
  .replay = cpu_replay,
  .transfers = cpu_transfers,
  .run_planes = cpu_run_planes,
};
