/* SPDX-License-Identifier: Apache-2.0 */
/* Means and variances of velocity and pressure over the samples of a run, kept as running sums (Welford 1962), so that
 * no sample has to be written down. A checkpoint is accompanied by a file of these sums. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/ranks.h"
#include "io/field_file.h"
#include "io/safe_file.h"
#include "simulation.h"

enum { QUANTITIES = 4 }; /* velocity, pressure */

struct lmi_statistics {
  lmi_due due;
  size_t cells;
  int64_t samples;
  double *mean[QUANTITIES], *square[QUANTITIES]; /* square: sum of squared deviations */
};

/* In front of the sums in their file. */
typedef struct sums_header {
  char magic[8];
  int64_t step, samples, cells;
} sums_header;

static const char SUMS_NAME[] = "statistics.sums";
static const char FIELD_NAME[] = "statistics.vtkhdf";
static const char MAGIC[8] = "LMISUM1";

static size_t sums_bytes(const lmi_statistics *s)
{
  return sizeof(sums_header) + 2 * QUANTITIES * s->cells * sizeof(double);
}

static lamina_status load_sums(lmi_simulation *sim, lmi_statistics *s)
{
  char path[4096], sentence[512], *data = NULL;
  size_t bytes = 0;
  sums_header header;
  LMI_TRY(lmi_simulation_path(sim, SUMS_NAME, path, sizeof path));
  lamina_status status = lmi_file_read_all(sim->ctx, path, sums_bytes(s) + 1, &data, &bytes);
  if (status == LAMINA_ERROR_FILE) {
    snprintf(sentence, sizeof sentence, "%s", lamina_error_message(sim->ctx));
    lamina_error_clear(sim->ctx);
    return lmi_fail(sim->ctx, LAMINA_ERROR_CASE,
                    "%s; the sums of `statistics` lie beside the checkpoint: bring them back, run without --resume, or "
                    "take the key away with --set statistics=null",
                    sentence);
  }
  LMI_TRY(status);
  const bool is_whole = bytes == sums_bytes(s);
  if (is_whole)
    memcpy(&header, data, sizeof header);
  if (!is_whole || memcmp(header.magic, MAGIC, sizeof MAGIC) != 0 || header.cells != (int64_t)s->cells ||
      header.step != lamina_solver_step(sim->solver)) {
    lmi_free(sim->ctx, data);
    return lmi_fail(sim->ctx, LAMINA_ERROR_CASE,
                    "%s does not belong to this checkpoint (step %lld); run without --resume, or take the key "
                    "statistics away",
                    path, (long long)lamina_solver_step(sim->solver));
  }
  s->samples = header.samples;
  const char *at = data + sizeof header;
  for (int k = 0; k < QUANTITIES; k++) {
    memcpy(s->mean[k], at, s->cells * sizeof(double));
    memcpy(s->square[k], at + s->cells * sizeof(double), s->cells * sizeof(double));
    at += 2 * s->cells * sizeof(double);
  }
  lmi_free(sim->ctx, data);
  return LAMINA_OK;
}

lamina_status lmi_statistics_start(lmi_simulation *sim, bool resumes)
{
  const lamina_case *flow = sim->flow;
  const lamina_int3 n = flow->solver.cells;
  if (flow->statistics.where == NULL)
    return LAMINA_OK;
  LMI_TRY(LMI_ALLOC(sim->ctx, 1, &sim->statistics));
  lmi_statistics *s = sim->statistics;
  s->cells = (size_t)(n.x * n.y * n.z);
  for (int k = 0; k < QUANTITIES; k++) {
    LMI_TRY(LMI_ALLOC(sim->ctx, s->cells, &s->mean[k]));
    LMI_TRY(LMI_ALLOC(sim->ctx, s->cells, &s->square[k]));
  }
  lmi_due_start(&s->due, flow, &flow->statistics.every, true, lamina_solver_step(sim->solver));
  return resumes ? load_sums(sim, s) : LAMINA_OK;
}

lamina_index lmi_statistics_next(const lmi_simulation *sim)
{
  return sim->statistics != NULL ? sim->statistics->due.next : INT64_MAX;
}

static void add(lmi_statistics *s, int quantity, size_t cell, double value)
{
  const double before = value - s->mean[quantity][cell];
  s->mean[quantity][cell] += before / (double)s->samples;
  s->square[quantity][cell] += before * (value - s->mean[quantity][cell]);
}

static lamina_status add_plane(lmi_simulation *sim, lamina_index z)
{
  lmi_statistics *s = sim->statistics;
  const lamina_int3 n = sim->flow->solver.cells;
  const lamina_units *units = &sim->flow->units;
  double *values[QUANTITIES];
  for (int k = 0; k < QUANTITIES; k++)
    values[k] = lmi_simulation_plane(sim, k);
  const lamina_fields fields = {.density = values[3], .velocity = {values[0], values[1], values[2]}};
  const size_t cells = (size_t)(n.x * n.y), first = (size_t)z * cells;
  LMI_TRY(lamina_solver_read(sim->solver, (lamina_box){{0, 0, z}, {n.x, n.y, 1}}, &fields));
  for (size_t i = 0; i < cells; i++) {
    for (int k = 0; k < 3; k++)
      add(s, k, first + i, values[k][i] * units->velocity_unit);
    add(s, 3, first + i, (values[3][i] - 1.0) / 3.0 * units->pressure_unit);
  }
  return LAMINA_OK;
}

lamina_status lmi_statistics_look(lmi_simulation *sim)
{
  lmi_statistics *s = sim->statistics;
  const lamina_index step = lamina_solver_step(sim->solver);
  if (s == NULL || s->due.next > step)
    return LAMINA_OK;
  lmi_due_advance(&s->due, sim->flow, step);
  if (!lmi_case_span_is_over(&sim->flow->statistics.from, (double)step, lmi_simulation_time(sim)))
    return LAMINA_OK;
  s->samples++;
  for (lamina_index z = 0; z < sim->flow->solver.cells.z; z++)
    LMI_TRY(add_plane(sim, z));
  return LAMINA_OK;
}

static lamina_status put_sums(const lmi_simulation *sim, const lmi_safe_file *file)
{
  const lmi_statistics *s = sim->statistics;
  sums_header header = {.step = lamina_solver_step(sim->solver), .samples = s->samples, .cells = (int64_t)s->cells};
  memcpy(header.magic, MAGIC, sizeof header.magic);
  LMI_TRY(lmi_safe_file_write(file, &header, sizeof header));
  for (int k = 0; k < QUANTITIES; k++) {
    LMI_TRY(lmi_safe_file_write(file, s->mean[k], s->cells * sizeof(double)));
    LMI_TRY(lmi_safe_file_write(file, s->square[k], s->cells * sizeof(double)));
  }
  return LAMINA_OK;
}

static lamina_status save(lmi_simulation *sim)
{
  char path[4096];
  lmi_safe_file file;
  if (!lmi_simulation_writes(sim))
    return LAMINA_OK;
  LMI_TRY(lmi_simulation_path(sim, SUMS_NAME, path, sizeof path));
  LMI_TRY(lmi_safe_file_create(sim->ctx, path, &file));
  const lamina_status status = put_sums(sim, &file);
  if (status == LAMINA_OK)
    return lmi_safe_file_commit(&file);
  lmi_safe_file_discard(&file);
  return status;
}

lamina_status lmi_statistics_save(lmi_simulation *sim)
{
  return sim->statistics == NULL ? LAMINA_OK : lmi_ranks_settle(sim->ctx, save(sim));
}

/* ---- the field file ---- */

static lamina_status write_planes(lmi_simulation *sim, lmi_field_writer *writer)
{
  lmi_statistics *s = sim->statistics;
  const lamina_int3 n = sim->flow->solver.cells;
  const size_t cells = (size_t)(n.x * n.y);
  for (lamina_index z = 0; z < n.z; z++) {
    double *variance[QUANTITIES];
    const size_t first = (size_t)z * cells;
    for (int k = 0; k < QUANTITIES; k++) {
      variance[k] = lmi_simulation_plane(sim, k);
      for (size_t i = 0; i < cells; i++)
        variance[k][i] = s->square[k][first + i] / (double)s->samples;
    }
    const double *const mean[3] = {s->mean[0] + first, s->mean[1] + first, s->mean[2] + first};
    const double *const pressure[1] = {s->mean[3] + first};
    const double *const spread[3] = {variance[0], variance[1], variance[2]};
    const double *const pressure_spread[1] = {variance[3]};
    LMI_TRY(lmi_field_writer_plane(writer, 0, z, mean));
    LMI_TRY(lmi_field_writer_plane(writer, 1, z, pressure));
    LMI_TRY(lmi_field_writer_plane(writer, 2, z, spread));
    LMI_TRY(lmi_field_writer_plane(writer, 3, z, pressure_spread));
  }
  return LAMINA_OK;
}

lamina_status lmi_statistics_write(lmi_simulation *sim)
{
  static const lmi_field_array ARRAYS[] = {{"velocity_mean", "m/s", 3, LAMINA_F64},
                                           {"pressure_mean", "Pa", 1, LAMINA_F64},
                                           {"velocity_variance", "m2/s2", 3, LAMINA_F64},
                                           {"pressure_variance", "Pa2", 1, LAMINA_F64}};
  const lmi_statistics *s = sim->statistics;
  if (s == NULL || s->samples == 0)
    return LAMINA_OK;
  char samples[32], path[4096];
  snprintf(samples, sizeof samples, "%lld", (long long)s->samples);
  const lmi_text_pair attributes[] = {{"title", lamina_case_title(sim->flow)}, {"samples", samples}};
  const double h = sim->flow->units.cell_size;
  const lmi_field_content content = {
    .frame = {.cells = sim->flow->solver.cells,
              .spacing = {h, h, h},
              .time = lmi_simulation_time(sim),
              .step = lamina_solver_step(sim->solver)},
    .arrays = ARRAYS,
    .array_count = LMI_COUNT(ARRAYS),
    .attributes = attributes,
    .attribute_count = LMI_COUNT(attributes),
  };
  lmi_field_writer *writer = NULL;
  LMI_TRY(lmi_simulation_path(sim, FIELD_NAME, path, sizeof path));
  LMI_TRY(lmi_field_writer_create(sim->ctx, path, &content, &writer));
  lamina_status status = lmi_ranks_settle(sim->ctx, write_planes(sim, writer));
  if (status == LAMINA_OK)
    status = lmi_field_writer_finish(writer);
  lmi_field_writer_destroy(writer);
  LMI_TRY(status);
  return lmi_simulation_add_file(sim, FIELD_NAME);
}

void lmi_statistics_free(lmi_simulation *sim)
{
  lmi_statistics *s = sim->statistics;
  if (s == NULL)
    return;
  for (int k = 0; k < QUANTITIES; k++) {
    lmi_free(sim->ctx, s->mean[k]);
    lmi_free(sim->ctx, s->square[k]);
  }
  lmi_free(sim->ctx, s);
  sim->statistics = NULL;
}
