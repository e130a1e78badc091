/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/level_slab.h"
#include "io/level_file.h"
#include "simulation.h"

bool lmi_writes_levels(const lamina_case *flow, const lmi_case_output *output)
{
  return flow->solver.grid == LAMINA_GRID_LEVELS && output->cells.value == 0;
}

typedef struct level_output {
  lmi_simulation *sim;
  lmi_level_writer *writer;
  lmi_level_slab *slab;
  const lmi_array *which;
  size_t count;
  double *density, *pressure, *velocity[3]; /* of one plane of the finest level */
} level_output;

/* Lattice units to SI. */
static void convert(const level_output *out, int64_t cells)
{
  const lamina_units *units = &out->sim->flow->units;
  for (int64_t i = 0; i < cells; i++) {
    for (int a = 0; a < 3; a++)
      out->velocity[a][i] *= units->velocity_unit;
    out->pressure[i] = (out->density[i] - 1.0) / 3.0 * units->pressure_unit;
    out->density[i] *= units->density;
  }
}

static lamina_status write_plane(const level_output *out, int level, int64_t place, int64_t cells)
{
  const lamina_fields fields = {.density = out->density,
                                .velocity = {out->velocity[0], out->velocity[1], out->velocity[2]}};
  lmi_level_slab_plane(out->slab, level, place, &fields);
  convert(out, cells);
  for (size_t k = 0; k < out->count; k++) {
    const double *const velocity[3] = {out->velocity[0], out->velocity[1], out->velocity[2]};
    const double *const scalar[1] = {out->which[k] == LMI_ARRAY_PRESSURE ? out->pressure : out->density};
    LMI_TRY(
      lmi_level_writer_plane(out->writer, level, k, place, out->which[k] == LMI_ARRAY_VELOCITY ? velocity : scalar));
  }
  return LAMINA_OK;
}

static lamina_status write_slabs(level_output *out, const lmi_levels *levels)
{
  for (int64_t index = 0; index < lmi_level_slab_count(out->slab); index++) {
    LMI_TRY(lmi_level_slab_read(out->slab, index));
    for (int level = 0; level < levels->count; level++) {
      const int64_t *cells = levels->level[level].cells, planes = INT64_C(1) << (levels->count - 1 - level);
      for (int64_t place = index * planes; place < (index + 1) * planes; place++)
        LMI_TRY(write_plane(out, level, place, cells[0] * cells[1]));
    }
  }
  return LAMINA_OK;
}

lamina_status lmi_level_fields_write(lmi_simulation *sim, const char *path, const lmi_field_content *content,
                                     const lmi_array *which, size_t count)
{
  lmi_field_content written = *content;
  const lmi_levels *levels = lmi_solver_levels(sim->solver);
  level_output out = {.sim = sim, .which = which, .count = count};
  lamina_status status = LAMINA_OK;
  written.array_count = count;
  out.density = lmi_simulation_plane(sim, 0);
  out.pressure = lmi_simulation_plane(sim, 1);
  for (int a = 0; a < 3; a++)
    out.velocity[a] = lmi_simulation_plane(sim, 2 + a);
  LMI_TRY_GOTO(status, lmi_level_slab_create(sim->solver, &out.slab), cleanup);
  LMI_TRY_GOTO(status, lmi_level_writer_create(sim->ctx, path, &written, levels, &out.writer), cleanup);
  LMI_TRY_GOTO(status, write_slabs(&out, levels), cleanup);
  status = lmi_level_writer_finish(out.writer);
cleanup:
  lmi_level_writer_destroy(out.writer);
  lmi_level_slab_destroy(out.slab);
  return status;
}
