/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <lamina/version.h>

#include "base/ranks.h"
#include "flow/solver_internal.h"
#include "io/field_file.h"
#include "io/image.h"
#include "simulation.h"

static const double PI = 3.14159265358979323846;

/* ---- reading cells in SI ---- */

/* `values` gets the scalar of a box of at most plane_cells cells; the planes 0 to 3 of the work space are used. */
static lamina_status read_scalar(const lmi_simulation *sim, lamina_box box, lmi_scalar scalar, double *values)
{
  const lamina_units *units = &sim->flow->units;
  const size_t count = (size_t)(box.count.x * box.count.y * box.count.z);
  double *density = lmi_simulation_plane(sim, 0);
  double *u[3] = {lmi_simulation_plane(sim, 1), lmi_simulation_plane(sim, 2), lmi_simulation_plane(sim, 3)};
  const lamina_fields fields = {.density = density, .velocity = {u[0], u[1], u[2]}};
  LMI_TRY(lamina_solver_read(sim->solver, box, &fields));
  for (size_t i = 0; i < count; i++)
    switch (scalar) {
    case LMI_SCALAR_PRESSURE: values[i] = (density[i] - 1.0) / 3.0 * units->pressure_unit; break;
    case LMI_SCALAR_DENSITY: values[i] = density[i] * units->density; break;
    case LMI_SCALAR_VELOCITY_X:
    case LMI_SCALAR_VELOCITY_Y:
    case LMI_SCALAR_VELOCITY_Z: values[i] = u[scalar - LMI_SCALAR_VELOCITY_X][i] * units->velocity_unit; break;
    default: values[i] = sqrt(u[0][i] * u[0][i] + u[1][i] * u[1][i] + u[2][i] * u[2][i]) * units->velocity_unit;
    }
  return LAMINA_OK;
}

static lamina_index along(lamina_int3 n, int axis)
{
  return axis == 0 ? n.x : axis == 1 ? n.y : n.z;
}

static void set_along(lamina_int3 *n, int axis, lamina_index value)
{
  *(axis == 0 ? &n->x : axis == 1 ? &n->y : &n->z) = value;
}

/* ---- fields ---- */

/* In three dimensions planes of the file are planes of slabs: each rank reads and writes its own. */
static lamina_status read_field_plane(const lmi_simulation *sim, lamina_box box, const lamina_fields *fields)
{
  return sim->flow->dimension == 3 ? lmi_solver_read_own(sim->solver, box, fields)
                                   : lamina_solver_read(sim->solver, box, fields);
}

static void planes_to_write(const lmi_simulation *sim, lamina_index *first, lamina_index *count)
{
  *first = 0;
  *count = 1;
  if (sim->flow->dimension == 3)
    lmi_solver_own_planes(sim->solver, first, count);
}

/* Which body has each cell of plane z, 0 in the fluid: the array behind the others. */
static lamina_status write_body_plane(const lmi_simulation *sim, lmi_field_writer *writer, size_t array, lamina_index z)
{
  const lamina_int3 cells = sim->flow->solver.cells;
  uint8_t *marks = (uint8_t *)lmi_simulation_plane(sim, 6);
  double *body = lmi_simulation_plane(sim, 7);
  const lamina_box box = {{0, 0, z}, {cells.x, cells.y, 1}};
  if (sim->flow->dimension == 3)
    LMI_TRY(lmi_solver_read_own_marks(sim->solver, box, marks));
  else
    LMI_TRY(lamina_solver_read_marks(sim->solver, box, marks));
  if (sim->flow->dimension == 2 && !lmi_simulation_writes(sim))
    return LAMINA_OK;
  for (lamina_index i = 0; i < cells.x * cells.y; i++)
    body[i] = marks[i];
  return lmi_field_writer_plane(writer, array, z, (const double *const[]){body});
}

static lamina_status write_field_planes(const lmi_simulation *sim, lmi_field_writer *writer, const lmi_array *arrays,
                                        size_t count)
{
  lamina_index first = 0, planes = 0;
  planes_to_write(sim, &first, &planes);
  const lamina_int3 cells = sim->flow->solver.cells;
  const lamina_units *units = &sim->flow->units;
  double *values[4];
  for (int i = 0; i < 4; i++)
    values[i] = lmi_simulation_plane(sim, i);
  const size_t plane = (size_t)(cells.x * cells.y);
  for (lamina_index z = first; z < first + planes; z++) {
    const lamina_fields fields = {.density = values[3], .velocity = {values[0], values[1], values[2]}};
    LMI_TRY(read_field_plane(sim, (lamina_box){{0, 0, z}, {cells.x, cells.y, 1}}, &fields));
    if (sim->flow->geometry != NULL)
      LMI_TRY(write_body_plane(sim, writer, count, z));
    if (sim->flow->dimension == 2 && !lmi_simulation_writes(sim))
      continue;
    double *pressure = lmi_simulation_plane(sim, 4);
    for (size_t i = 0; i < plane; i++) {
      for (int a = 0; a < 3; a++)
        values[a][i] *= units->velocity_unit;
      pressure[i] = (values[3][i] - 1.0) / 3.0 * units->pressure_unit;
      values[3][i] *= units->density;
    }
    for (size_t k = 0; k < count; k++) {
      const double *const velocity[3] = {values[0], values[1], values[2]};
      const double *const scalar[1] = {arrays[k] == LMI_ARRAY_PRESSURE ? pressure : values[3]};
      LMI_TRY(lmi_field_writer_plane(writer, k, z, arrays[k] == LMI_ARRAY_VELOCITY ? velocity : scalar));
    }
  }
  return LAMINA_OK;
}

/* The index of the files of one output: "fields" of "fields-00000100.vtkhdf" and of a single "fields.vtkhdf". */
static void film_base(const lmi_case_output *output, const char *name, char *base, size_t capacity)
{
  const char *end = strrchr(name, output->at_end ? '.' : '-');
  snprintf(base, capacity, "%.*s", end != NULL ? (int)(end - name) : (int)strlen(name), name);
}

static lamina_status add_to_film(lmi_simulation *sim, const lmi_case_output *output, const char *name,
                                 const lmi_field_content *content)
{
  const bool has_levels = lmi_writes_levels(sim->flow, output);
  char base[160], index[200], list[200], path[4096];
  film_base(output, name, base, sizeof base);
  snprintf(index, sizeof index, "%s.xmf", base);
  snprintf(list, sizeof list, "%s.vtkhdf.series", base);
  LMI_TRY(lmi_simulation_path(sim, base, path, sizeof path));
  if (lmi_simulation_writes(sim))
    LMI_TRY(has_levels ? lmi_field_list_add(sim->ctx, path, name, content->frame.time)
                       : lmi_field_series_add(sim->ctx, path, name, content));
  if (!has_levels)
    LMI_TRY(lmi_simulation_add_file(sim, index));
  return lmi_simulation_add_file(sim, list);
}

/* A fresh run begins its index anew; an older run's files may still lie in the folder. */
static lamina_status forget_film(const lmi_simulation *sim, const lmi_case_output *output, const char *name)
{
  char base[160], list[200], path[4096];
  film_base(output, name, base, sizeof base);
  snprintf(list, sizeof list, "%s.vtkhdf.series", base);
  LMI_TRY(lmi_simulation_path(sim, list, path, sizeof path));
  if (lmi_simulation_writes(sim) && remove(path) != 0 && errno != ENOENT)
    return lmi_fail_errno(sim->ctx, LAMINA_ERROR_FILE, errno, "cannot remove %s", path);
  return LAMINA_OK;
}

static lamina_status write_box(lmi_simulation *sim, const char *path, const lmi_field_content *content,
                               const lmi_array *which, size_t count)
{
  lmi_field_writer *writer = NULL;
  LMI_TRY(lmi_field_writer_create(sim->ctx, path, content, &writer));
  lamina_status status = lmi_ranks_settle(sim->ctx, write_field_planes(sim, writer, which, count));
  if (status == LAMINA_OK)
    status = lmi_field_writer_finish(writer);
  lmi_field_writer_destroy(writer);
  return status;
}

static lamina_status write_fields(lmi_simulation *sim, const lmi_case_output *output, const char *name)
{
  static const lmi_field_array KNOWN[LMI_ARRAY_COUNT] = {
    [LMI_ARRAY_VELOCITY] = {"velocity", "m/s", 3, LAMINA_F32},
    [LMI_ARRAY_PRESSURE] = {"pressure", "Pa", 1, LAMINA_F32},
    [LMI_ARRAY_DENSITY] = {"density", "kg/m3", 1, LAMINA_F32},
  };
  lmi_field_array arrays[LMI_ARRAY_COUNT + 1];
  lmi_array which[LMI_ARRAY_COUNT];
  size_t count = 0;
  for (int i = 0; i < LMI_ARRAY_COUNT; i++)
    if (output->arrays[i]) {
      which[count] = (lmi_array)i;
      arrays[count] = KNOWN[i];
      arrays[count++].precision = sim->flow->solver.precision;
    }
  if (sim->flow->geometry != NULL)
    arrays[count] = (lmi_field_array){"body", "", 1, LAMINA_F32};
  const double h = sim->flow->units.cell_size;
  char length[32], speed[32];
  lmi_format_double(sim->flow->units.reference_length, length);
  lmi_format_double(sim->flow->units.reference_speed, speed);
  const lmi_text_pair attributes[] = {{"title", lamina_case_title(sim->flow)},
                                      {"case_hash", sim->flow->text_hash},
                                      {"reference_length_m", length},
                                      {"reference_speed_m_per_s", speed},
                                      {"program", "lamina"},
                                      {"version", lamina_version()}};
  const lmi_field_content content = {
    .frame = {.cells = sim->flow->solver.cells,
              .spacing = {h, h, h},
              .time = lmi_simulation_time(sim),
              .step = lamina_solver_step(sim->solver)},
    .arrays = arrays,
    .array_count = count + (sim->flow->geometry != NULL ? 1 : 0),
    .attributes = attributes,
    .attribute_count = LMI_COUNT(attributes),
  };
  char path[4096];
  LMI_TRY(lmi_simulation_path(sim, name, path, sizeof path));
  LMI_TRY(lmi_writes_levels(sim->flow, output) ? lmi_level_fields_write(sim, path, &content, which, count)
                                               : write_box(sim, path, &content, which, count));
  LMI_TRY(add_to_film(sim, output, name, &content));
  return lmi_simulation_add_file(sim, name);
}

/* ---- slices ---- */

/* The box of one layer of cells normal to `axis`. */
static lamina_box layer(const lmi_simulation *sim, int axis, lamina_index position)
{
  lamina_box box = {{0, 0, 0}, sim->flow->solver.cells};
  set_along(&box.first, axis, position);
  set_along(&box.count, axis, 1);
  return box;
}

/* Between the two layers of centres around the position, linear; at the ends the outermost layer. */
static lamina_status read_cut(const lmi_simulation *sim, const lmi_case_output *output, lmi_scalar scalar,
                              double *values)
{
  const lamina_index count = along(sim->flow->solver.cells, output->axis);
  const double at = output->through[output->axis].value / sim->flow->units.cell_size - 0.5;
  const lamina_index low = (lamina_index)fmin(fmax(floor(at), 0.0), (double)(count - 1));
  const double weight = fmin(fmax(at - (double)low, 0.0), 1.0);
  LMI_TRY(read_scalar(sim, layer(sim, output->axis, low), scalar, values));
  if (weight <= 0 || low + 1 >= count)
    return LAMINA_OK;
  double *above = lmi_simulation_plane(sim, 4);
  LMI_TRY(read_scalar(sim, layer(sim, output->axis, low + 1), scalar, above));
  const lamina_box box = layer(sim, output->axis, low);
  const size_t cells = (size_t)(box.count.x * box.count.y * box.count.z);
  for (size_t i = 0; i < cells; i++)
    values[i] += weight * (above[i] - values[i]);
  return LAMINA_OK;
}

/* d v / d a - d u / d b on a picture of width x height; central differences, one-sided at the rim. */
static void vorticity(const lmi_image_data *shape, const double *u, const double *v, double h, double *out)
{
  const lamina_index w = shape->width;
  for (lamina_index j = 0; j < shape->height; j++)
    for (lamina_index i = 0; i < w; i++) {
      const lamina_index left = i > 0 ? i - 1 : i, right = i + 1 < w ? i + 1 : i;
      const lamina_index down = j > 0 ? j - 1 : j, up = j + 1 < shape->height ? j + 1 : j;
      const double dv = right > left ? (v[j * w + right] - v[j * w + left]) / (h * (double)(right - left)) : 0.0;
      const double du = up > down ? (u[up * w + i] - u[down * w + i]) / (h * (double)(up - down)) : 0.0;
      out[j * w + i] = dv - du;
    }
}

/* Levels of the layer of cells below the cut, into a work plane. */
static lamina_status read_regions(const lmi_simulation *sim, const lmi_case_output *output, const uint8_t **regions)
{
  const lamina_index count = along(sim->flow->solver.cells, output->axis);
  const double at = output->through[output->axis].value / sim->flow->units.cell_size - 0.5;
  const lamina_box box = layer(sim, output->axis, (lamina_index)fmin(fmax(floor(at), 0.0), (double)(count - 1)));
  uint8_t *levels = (uint8_t *)lmi_simulation_plane(sim, 6);
  *regions = levels;
  return lamina_solver_read_levels(sim->solver, box.first, box.count, levels);
}

/* Solid cells have no value and show grey; those of the layer of centres next to the cut count. */
static lamina_status grey_solids(const lmi_simulation *sim, const lmi_case_output *output, double *values)
{
  if (sim->flow->geometry == NULL)
    return LAMINA_OK;
  const lamina_index last = along(sim->flow->solver.cells, output->axis) - 1;
  const double at = output->through[output->axis].value / sim->flow->units.cell_size - 0.5;
  const lamina_box box = layer(sim, output->axis, (lamina_index)fmin(fmax(rint(at), 0.0), (double)last));
  uint8_t *marks = (uint8_t *)lmi_simulation_plane(sim, 7);
  LMI_TRY(lamina_solver_read_marks(sim->solver, box, marks));
  const size_t cells = (size_t)(box.count.x * box.count.y * box.count.z);
  for (size_t i = 0; i < cells; i++)
    if (marks[i] != 0)
      values[i] = (double)NAN;
  return LAMINA_OK;
}

static lamina_status write_slice(lmi_simulation *sim, const lmi_case_output *output, const char *name)
{
  const lmi_scalar scalar = (lmi_scalar)output->scalar.value;
  const int a = output->axis == 0 ? 1 : 0, b = output->axis == 2 ? 1 : 2;
  const double handedness = output->axis == 1 ? -1.0 : 1.0; /* x, z and y make a left-handed frame */
  const lamina_int3 cells = sim->flow->solver.cells;
  double *values = lmi_simulation_plane(sim, 5);
  lmi_image_data data = {along(cells, a), along(cells, b), values};
  if (scalar == LMI_SCALAR_VORTICITY) {
    double *u = lmi_simulation_plane(sim, 6), *v = lmi_simulation_plane(sim, 7);
    LMI_TRY(read_cut(sim, output, (lmi_scalar)(LMI_SCALAR_VELOCITY_X + a), u));
    LMI_TRY(read_cut(sim, output, (lmi_scalar)(LMI_SCALAR_VELOCITY_X + b), v));
    vorticity(&data, u, v, handedness * sim->flow->units.cell_size, values);
  } else
    LMI_TRY(read_cut(sim, output, scalar, values));
  LMI_TRY(grey_solids(sim, output, values));

  char title[160], where[48] = "";
  if (sim->flow->dimension == 3)
    snprintf(where, sizeof where, " at %c = %.4g m", "xyz"[output->axis], output -> through[output->axis].value);
  snprintf(title, sizeof title, "%s%s, t = %.4g s", lmi_scalar_name(scalar), where, lmi_simulation_time(sim));
  lmi_image_options options = lmi_image_options_default();
  options.title = title;
  options.unit = lmi_scalar_unit(scalar);
  const bool is_one_sided = scalar == LMI_SCALAR_SPEED || scalar == LMI_SCALAR_DENSITY;
  options.map = is_one_sided ? LMI_COLOUR_SEQUENTIAL : LMI_COLOUR_DIVERGING;
  options.has_range = output->range.where != NULL;
  options.low = output->range.value[0];
  options.high = output->range.value[1];
  if (output->lines.value == 2)
    LMI_TRY(read_regions(sim, output, &options.regions));
  if (output->lines.value == 1) {
    double *u = lmi_simulation_plane(sim, 6), *psi = lmi_simulation_plane(sim, 7);
    LMI_TRY(read_cut(sim, output, LMI_SCALAR_VELOCITY_X, u));
    lmi_stream_function(&(lmi_image_data){data.width, data.height, u}, sim->flow->units.cell_size, psi);
    options.contour = psi;
  }
  char path[4096];
  LMI_TRY(lmi_simulation_path(sim, name, path, sizeof path));
  if (lmi_simulation_writes(sim))
    LMI_TRY(lmi_image_write(sim->ctx, path, &data, &options, NULL));
  return lmi_simulation_add_file(sim, name);
}

/* ---- profiles ---- */

typedef struct line_reader {
  const lmi_simulation *sim;
  lmi_scalar scalar;
} line_reader;

static lamina_status read_line(void *user, lamina_box box, double *values)
{
  const line_reader *reader = user;
  return read_scalar(reader->sim, box, reader->scalar, values);
}

/* Speed of a wall along a component now; false where the face is no wall or the scalar no velocity. */
static bool wall_value(const lmi_simulation *sim, int face, lmi_scalar scalar, double *value)
{
  const lmi_case_boundary *boundary = &sim->flow->faces[face];
  if (boundary->kind == LMI_BOUNDARY_PERIODIC || scalar < LMI_SCALAR_VELOCITY_X || scalar > LMI_SCALAR_VELOCITY_Z)
    return false;
  *value = boundary->velocity.value[scalar - LMI_SCALAR_VELOCITY_X];
  if (boundary->kind == LMI_BOUNDARY_OSCILLATING)
    *value *= cos(2.0 * PI * lmi_simulation_time(sim) / boundary->period.value);
  return true;
}

static lamina_status judge_profile(lmi_simulation *sim, const lmi_case_output *output, const lmi_profile *profile,
                                   lmi_profile_scale scale)
{
  const lmi_reference *reference = output->reference;
  const lmi_comparison found = lmi_profile_compare(profile, reference, scale, output->gate.value);
  const bool by_extrema = found.gate <= 0;
  lamina_run_reference entry = {.passed = found.passed};
  snprintf(entry.name, sizeof entry.name, "%s", reference->name);
  entry.max_error = by_extrema ? found.max_extremum_error : found.max_error;
  entry.gate = by_extrema ? reference->extremum_gate : found.gate;
  char extrema[64] = "";
  if (reference->extremum_gate > 0)
    snprintf(extrema, sizeof extrema, "; extrema off by %.2f %% (gate %.2g %%)", 100.0 * found.max_extremum_error,
             100.0 * reference->extremum_gate);
  snprintf(entry.text, sizeof entry.text,
           "%s: off by at most %.5f U, at %c/L = %.4f, rms %.5f, %zu points (gate %.4g)%s", reference->name,
           found.max_error, "xyz"[output->axis], found.max_error_position, found.rms_error, found.points, entry.gate,
           extrema);
  return lmi_simulation_add_reference(sim, &entry);
}

static lamina_status add_profile_files(lmi_simulation *sim, const char *name, bool has_reference, bool has_picture)
{
  const char *const endings[] = {".csv", has_reference ? "-reference.csv" : NULL, ".gp", has_picture ? ".png" : NULL};
  for (size_t i = 0; i < LMI_COUNT(endings); i++) {
    char file[160];
    if (endings[i] == NULL)
      continue;
    snprintf(file, sizeof file, "%s%s", name, endings[i]);
    LMI_TRY(lmi_simulation_add_file(sim, file));
  }
  return LAMINA_OK;
}

static lamina_status write_profile_files(lmi_simulation *sim, const lmi_case_output *output, const lmi_profile *profile,
                                         lmi_profile_scale scale, const char *name)
{
  const lmi_scalar scalar = (lmi_scalar)output->scalar.value;
  char position[16], value[48], position_column[8], value_column[48], title[240];
  const char axis = "xyz"[output->axis];
  snprintf(position, sizeof position, "%c (m)", axis);
  snprintf(position_column, sizeof position_column, "%c_m", axis);
  snprintf(value, sizeof value, "%s (%s)", lmi_scalar_name(scalar), lmi_scalar_unit(scalar));
  snprintf(value_column, sizeof value_column, "%s_%s", lmi_scalar_name(scalar),
           scalar == LMI_SCALAR_PRESSURE  ? "pa"
           : scalar == LMI_SCALAR_DENSITY ? "kg_per_m3"
                                          : "m_per_s");
  snprintf(title, sizeof title, "%.160s, t = %.4g s", lamina_case_title(sim->flow), lmi_simulation_time(sim));
  const lmi_profile_labels labels = {title, position, value, position_column, value_column};
  char base[4096];
  LMI_TRY(lmi_simulation_path(sim, name, base, sizeof base));
  bool has_picture = false;
  if (!lmi_simulation_writes(sim))
    return LAMINA_OK;
  LMI_TRY(lmi_profile_write(profile, base, &labels, output->reference, scale, &has_picture));
  return add_profile_files(sim, name, output->reference != NULL, has_picture);
}

static lamina_status write_profile(lmi_simulation *sim, const lmi_case_output *output, const char *name)
{
  const lmi_scalar scalar = (lmi_scalar)output->scalar.value;
  const double h = sim->flow->units.cell_size;
  lmi_profile_line line = {
    .cells = sim->flow->solver.cells,
    .spacing = {h, h, h},
    .axis = output->axis,
    .through = {output->through[0].value, output->through[1].value,
                sim->flow->dimension == 2 ? 0.5 * h : output->through[2].value},
  };
  line.has_low_wall = wall_value(sim, 2 * output->axis, scalar, &line.low_wall);
  line.has_high_wall = wall_value(sim, 2 * output->axis + 1, scalar, &line.high_wall);
  line_reader reader = {sim, scalar};
  lmi_profile profile = {0};
  LMI_TRY(lmi_profile_take(sim->ctx, &line, read_line, &reader, &profile));
  const lmi_profile_scale scale = {0.0, sim->flow->units.reference_length, sim->flow->units.reference_speed};
  lamina_status status = LAMINA_OK;
  if (output->reference != NULL)
    status = judge_profile(sim, output, &profile, scale);
  if (status == LAMINA_OK)
    status = write_profile_files(sim, output, &profile, scale, name);
  lmi_profile_free(&profile);
  return status;
}

/* ---- series ---- */

enum { MOST_COLUMNS = 8 };

/* Names and values of the chosen columns, in one order. `names` and `values` may be NULL. */
static size_t series_columns(const lmi_simulation *sim, const lmi_case_output *output, const lamina_totals *totals,
                             const char *names[MOST_COLUMNS], double values[MOST_COLUMNS])
{
  const lamina_units *units = &sim->flow->units;
  const bool is_flat = sim->flow->dimension == 2;
  const lamina_int3 n = sim->flow->solver.cells;
  const double cells = (double)n.x * (double)n.y * (double)n.z;
  const double cell_mass = units->density * pow(units->cell_size, is_flat ? 2.0 : 3.0);
  const double vu = units->velocity_unit;
  const double enstrophy = totals->enstrophy / cells / (units->time_step * units->time_step);
  const struct {
    lmi_series_column column;
    const char *solid, *flat; /* name in three and in two dimensions */
    double value;
  } rows[MOST_COLUMNS] = {
    {LMI_SERIES_MASS, "mass_kg", "mass_kg_per_m", totals->mass * cell_mass},
    {LMI_SERIES_MOMENTUM, "momentum_x_kg_m_per_s", "momentum_x_kg_per_s", totals->momentum[0] * cell_mass * vu},
    {LMI_SERIES_MOMENTUM, "momentum_y_kg_m_per_s", "momentum_y_kg_per_s", totals->momentum[1] * cell_mass * vu},
    {LMI_SERIES_MOMENTUM, "momentum_z_kg_m_per_s", NULL, totals->momentum[2] * cell_mass * vu},
    {LMI_SERIES_KINETIC_ENERGY, "kinetic_energy_j_per_kg", "kinetic_energy_j_per_kg",
     totals->kinetic_energy / cells * vu * vu},
    {LMI_SERIES_MAX_SPEED, "max_speed_m_per_s", "max_speed_m_per_s", totals->max_speed * vu},
    {LMI_SERIES_ENSTROPHY, "enstrophy_per_s2", "enstrophy_per_s2", enstrophy},
    {LMI_SERIES_DISSIPATION, "dissipation_w_per_kg", "dissipation_w_per_kg", 2.0 * units->viscosity * enstrophy},
  };
  size_t count = 0;
  for (size_t i = 0; i < MOST_COLUMNS; i++) {
    const char *name = is_flat ? rows[i].flat : rows[i].solid;
    if (!output->columns[rows[i].column] || name == NULL)
      continue;
    names[count] = name;
    values[count++] = rows[i].value;
  }
  return count;
}

static lamina_status append_series(lmi_simulation *sim, const lmi_case_output *output, lmi_output_state *state)
{
  const lamina_totals *totals = NULL;
  LMI_TRY(lmi_simulation_totals(sim, &totals));
  if (state->series == NULL)
    return LAMINA_OK; /* another rank keeps it */
  const char *names[MOST_COLUMNS];
  double values[MOST_COLUMNS];
  (void)series_columns(sim, output, totals, names, values);
  return lmi_series_append(state->series, lamina_solver_step(sim->solver), lmi_simulation_time(sim), values);
}

/* ---- names and times ---- */

/* How many outputs before this one have the same kind and scalar: 0 for the first. */
static size_t earlier_alike(const lamina_case *flow, size_t index)
{
  const lmi_case_output *output = &flow->outputs[index];
  size_t count = 0;
  for (size_t i = 0; i < index; i++) {
    const lmi_case_output *other = &flow->outputs[i];
    count += other->kind == output->kind && other->scalar.value == output->scalar.value &&
             (output->kind == LMI_OUTPUT_SERIES || output->kind == LMI_OUTPUT_FIELDS || other->axis == output->axis);
  }
  return count;
}

/* fields-00000100.vtkhdf, speed-z.png, ghia-re100-u, series.csv: the step stands in the name of what comes more than
 * once. */
static void output_name(const lmi_simulation *sim, size_t index, char *name, size_t capacity)
{
  const lmi_case_output *output = &sim->flow->outputs[index];
  const char *scalar = lmi_scalar_name((lmi_scalar)output->scalar.value);
  const char axis[3] = {'-', "xyz"[output->axis], '\0'};
  const char *direction = sim->flow->dimension == 3 || output->kind == LMI_OUTPUT_PROFILE ? axis : "";
  char number[32] = "", step[32] = "";
  const size_t earlier = earlier_alike(sim->flow, index);
  if (earlier > 0)
    snprintf(number, sizeof number, "-%zu", earlier + 1);
  if (!output->at_end)
    snprintf(step, sizeof step, "-%08lld", (long long)lamina_solver_step(sim->solver));
  switch (output->kind) {
  case LMI_OUTPUT_FIELDS: snprintf(name, capacity, "fields%s%s.vtkhdf", number, step); break;
  case LMI_OUTPUT_SLICE: snprintf(name, capacity, "%s%s%s%s.png", scalar, direction, number, step); break;
  case LMI_OUTPUT_PROFILE:
    if (output->reference != NULL)
      snprintf(name, capacity, "%s%s", output->reference->name, step);
    else
      snprintf(name, capacity, "profile-%s%s%s%s", scalar, direction, number, step);
    break;
  default: snprintf(name, capacity, "series%s.csv", number);
  }
}

static lamina_status write_one(lmi_simulation *sim, size_t index)
{
  const lmi_case_output *output = &sim->flow->outputs[index];
  lmi_output_state *state = &sim->outputs[index];
  char name[128];
  output_name(sim, index, name, sizeof name);
  state->written_step = lamina_solver_step(sim->solver);
  switch (output->kind) {
  case LMI_OUTPUT_FIELDS: return write_fields(sim, output, name);
  case LMI_OUTPUT_SLICE: return write_slice(sim, output, name);
  case LMI_OUTPUT_PROFILE: return write_profile(sim, output, name);
  case LMI_OUTPUT_SERIES: return append_series(sim, output, state);
  case LMI_OUTPUT_ORDER: return lmi_order_measure(sim, output);
  case LMI_OUTPUT_COMPARE: break;
  }
  return lmi_compare_exact(sim, output);
}

static lamina_status open_series(lmi_simulation *sim, size_t index, lamina_index resume_step)
{
  const char *names[MOST_COLUMNS];
  double values[MOST_COLUMNS];
  const lamina_totals none = {0};
  const size_t count = series_columns(sim, &sim->flow->outputs[index], &none, names, values);
  char name[128], path[4096];
  output_name(sim, index, name, sizeof name);
  LMI_TRY(lmi_simulation_path(sim, name, path, sizeof path));
  if (lmi_simulation_writes(sim))
    LMI_TRY(lmi_series_open(sim->ctx, path, names, count, resume_step, &sim->outputs[index].series));
  return lmi_simulation_add_file(sim, name);
}

lamina_status lmi_outputs_start(lmi_simulation *sim, lamina_index resume_step)
{
  const lamina_case *flow = sim->flow;
  const lamina_index step = lamina_solver_step(sim->solver);
  for (size_t i = 0; i < flow->output_count; i++) {
    const lmi_case_output *output = &flow->outputs[i];
    lmi_output_state *state = &sim->outputs[i];
    const bool repeats = output->every.where != NULL;
    state->written_step = -1;
    lmi_due_start(&state->due, flow, repeats ? &output->every : &output->at, repeats, step);
    if (output->kind == LMI_OUTPUT_FIELDS && resume_step < 0) {
      char name[128];
      output_name(sim, i, name, sizeof name);
      LMI_TRY(forget_film(sim, output, name));
    }
    if (output->kind != LMI_OUTPUT_SERIES)
      continue;
    LMI_TRY(lmi_ranks_settle(sim->ctx, open_series(sim, i, resume_step)));
    if (step == 0)
      LMI_TRY(lmi_ranks_settle(sim->ctx, write_one(sim, i)));
  }
  return LAMINA_OK;
}

lamina_index lmi_outputs_next(const lmi_simulation *sim)
{
  lamina_index next = INT64_MAX;
  for (size_t i = 0; i < sim->flow->output_count; i++)
    if (sim->outputs[i].due.next < next)
      next = sim->outputs[i].due.next;
  return next;
}

lamina_status lmi_outputs_write(lmi_simulation *sim, bool is_end)
{
  const lamina_index step = lamina_solver_step(sim->solver);
  for (size_t i = 0; i < sim->flow->output_count; i++) {
    lmi_output_state *state = &sim->outputs[i];
    const bool waits_for_end = is_end && sim->flow->outputs[i].at.where == NULL;
    if ((state->due.next <= step || waits_for_end) && state->written_step != step)
      LMI_TRY(lmi_ranks_settle(sim->ctx, write_one(sim, i)));
    lmi_due_advance(&state->due, sim->flow, step);
  }
  return LAMINA_OK;
}

lamina_status lmi_outputs_finish(lmi_simulation *sim)
{
  lamina_status status = LAMINA_OK;
  for (size_t i = 0; sim->outputs != NULL && i < sim->flow->output_count; i++) {
    const lamina_status closed = lmi_series_close(sim->outputs[i].series);
    sim->outputs[i].series = NULL;
    if (status == LAMINA_OK)
      status = closed;
  }
  return status;
}
