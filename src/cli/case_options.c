/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <unistd.h>

#include "base/ranks.h"
#include "case_options.h"

enum { MOST_OVERRIDES = LMI_MAX_WORDS + 8, OVERRIDE_BYTES = 160 };

/* The texts for lamina_case_load: what --set gave, then the short forms. */
typedef struct override_list {
  size_t count;
  const char *texts[MOST_OVERRIDES];
  char made[8][OVERRIDE_BYTES];
  size_t made_count;
} override_list;

static void add_text(override_list *list, const char *key, const char *value)
{
  if (value == NULL)
    return;
  char *text = list->made[list->made_count++];
  snprintf(text, OVERRIDE_BYTES, "%s=%s", key, value);
  list->texts[list->count++] = text;
}

static void add_number(override_list *list, const char *key, int64_t value)
{
  char number[24];
  snprintf(number, sizeof number, "%lld", (long long)value);
  if (value > 0)
    add_text(list, key, number);
}

static void collect(const lmi_case_options *options, override_list *list)
{
  *list = (override_list){0};
  for (size_t i = 0; i < options->set.count; i++)
    list->texts[list->count++] = options->set.words[i];
  add_text(list, "--backend", options->backend);
  if (options->devices != NULL) {
    char devices[OVERRIDE_BYTES - 16];
    snprintf(devices, sizeof devices, "[%.100s]", options->devices);
    add_text(list, "--devices", devices);
  }
  add_text(list, "--layout", options->layout);
  add_text(list, "--streaming", options->streaming);
  add_number(list, "--threads", options->threads);
  add_number(list, "--partitions", options->partitions);
}

/* Fewer cells than this a thread, and waiting for each other costs more than the threads bring, above all on a busy
 * machine. */
static const lamina_index CELLS_PER_THREAD = 16384;

/* What the case asks for, or what is usable as far as it pays. */
static int threads_for(const lamina_case *flow, int usable, int ranks)
{
  const int asked = lamina_case_threads(flow);
  const lamina_int3 n = lamina_case_solver_options(flow)->cells;
  const lamina_index paying = n.x * n.y * n.z / ranks / CELLS_PER_THREAD;
  if (asked > 0)
    return asked;
  return paying >= usable ? usable : paying > 1 ? (int)paying : 1;
}

/* More threads than processors wait for each other: allowed, and slow beyond what one expects. */
static void warn_of_crowd(const lmi_call *call, int threads)
{
  const long processors = sysconf(_SC_NPROCESSORS_ONLN);
  const int ranks = lmi_local_rank_count(call->ctx);
  if (processors <= 0 || (long)threads * ranks <= processors || lamina_rank(call->ctx) > 0)
    return;
  if (ranks > 1)
    fprintf(stderr,
            "lamina: warning: %d ranks of %d threads on %ld processors wait for each other; take at most %ld in all\n",
            ranks, threads, processors, processors);
  else
    fprintf(stderr, "lamina: warning: %d threads on %ld processors wait for each other; take at most %ld\n", threads,
            processors, processors);
}

lamina_status lmi_load_case(lmi_call *call, const char *path, const lmi_case_options *options, lamina_case **flow)
{
  override_list overrides;
  collect(options, &overrides);
  *flow = NULL;
  LMI_TRY(lmi_call_open(call, (int)options->threads));
  LMI_TRY(lamina_case_load(call->ctx, path, overrides.texts, overrides.count, flow));
  const int threads = threads_for(*flow, lamina_context_thread_count(call->ctx), lamina_rank_count(call->ctx));
  warn_of_crowd(call, threads);
  lmi_set_thread_count(call->ctx, threads);
  return LAMINA_OK;
}

void lmi_print_units(FILE *stream, const lamina_case *flow)
{
  const lamina_units *u = lamina_case_units(flow);
  const lamina_solver_options *o = lamina_case_solver_options(flow);
  const lamina_index steps = lamina_case_steps(flow);
  fprintf(stream, "%s\n", lamina_case_title(flow));
  fprintf(stream, "  %lld x %lld x %lld cells of %.4g m, %s %s %s, %s %s, %s\n", (long long)o->cells.x,
          (long long)o->cells.y, (long long)o->cells.z, u->cell_size, lamina_lattice_name(o->lattice),
          lamina_collision_name(o->collision), lamina_precision_name(o->precision),
          o->grid == LAMINA_GRID_DENSE ? lamina_layout_name(o->layout) : lamina_grid_kind_name(o->grid),
          o->grid == LAMINA_GRID_DENSE ? "layout" : "grid", lamina_streaming_name(o->streaming));
  fprintf(stream, "  time step %.4g s, 1 s = %.6g steps, at most %lld steps = %.6g s\n", u->time_step,
          1.0 / u->time_step, (long long)steps, (double)steps * u->time_step);
  fprintf(stream, "  Re %.6g, viscosity %.4g m2/s, speed %.4g m/s over %.4g m, density %.4g kg/m3\n", u->reynolds,
          u->viscosity, u->reference_speed, u->reference_length, u->density);
  fprintf(stream, "  lattice: speed %.4g, viscosity %.4g, tau %.5g, omega %.5g, Mach %.3f, Re of a cell %.3g\n",
          u->lattice_speed, u->lattice_viscosity, u->tau, u->omega, u->mach, u->cell_reynolds);
  for (size_t i = 0; i < lamina_case_warning_count(flow); i++)
    fprintf(stream, "  warning: %s\n", lamina_case_warning(flow, i));
}

const char *lmi_machine_file(const char *given)
{
  if (given != NULL)
    return given;
  return access("machine.json", R_OK) == 0 ? "machine.json" : NULL;
}

const char *lmi_format_duration(double seconds, char *buffer)
{
  const long long whole = (long long)fmin(fmax(seconds, 0.0), 1e15);
  if (seconds < 60)
    snprintf(buffer, 32, "%.1f s", seconds);
  else if (seconds < 3600)
    snprintf(buffer, 32, "%lld min %lld s", whole / 60, whole % 60);
  else if (seconds < 48 * 3600)
    snprintf(buffer, 32, "%lld h %lld min", whole / 3600, whole / 60 % 60);
  else
    snprintf(buffer, 32, "%.3g days", seconds / 86400);
  return buffer;
}
