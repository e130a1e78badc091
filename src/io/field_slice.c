/* SPDX-License-Identifier: Apache-2.0 */
#include "field_slice.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/base.h"

static lamina_index part(lamina_int3 value, int axis)
{
  return axis == 0 ? value.x : axis == 1 ? value.y : value.z;
}

static double real_part(lamina_real3 value, int axis)
{
  return axis == 0 ? value.x : axis == 1 ? value.y : value.z;
}

static void set_part(lamina_int3 *value, int axis, lamina_index to)
{
  *(axis == 0 ? &value->x : axis == 1 ? &value->y : &value->z) = to;
}

/* ---- quantities ---- */

static lamina_status append_name(lamina_context *ctx, lmi_text *list, const char *name)
{
  return lmi_text_append(ctx, list, list->length == 0 ? "%s" : ", %s", name);
}

static lamina_status list_names(lamina_context *ctx, const lmi_field_file *file, lmi_text *list)
{
  const lmi_field_content *content = lmi_field_file_content(file);
  for (size_t i = 0; i < content->array_count; i++) {
    const lmi_field_array *array = &content->arrays[i];
    LMI_TRY(append_name(ctx, list, array->name));
    for (int c = 0; c < array->components && array->components == 3; c++)
      LMI_TRY(lmi_text_append(ctx, list, ", %s_%c", array->name, "xyz"[c]));
    if (strcmp(array->name, "velocity") == 0)
      LMI_TRY(lmi_text_append(ctx, list, ", speed, vorticity"));
  }
  return LAMINA_OK;
}

static lamina_status refuse_name(lamina_context *ctx, const lmi_field_file *file, const char *name)
{
  lmi_text list = {0};
  lamina_status status = list_names(ctx, file, &list);
  if (status == LAMINA_OK)
    status = lmi_fail(ctx, LAMINA_ERROR_ARGUMENT, "the file has no field '%s'; it has %s", name, list.data);
  lmi_text_free(ctx, &list);
  return status;
}

/* "velocity_x": the vector array and which component; false when it is none. */
static bool is_component(const lmi_field_content *content, const char *name, lmi_field_quantity *quantity)
{
  const size_t length = strlen(name);
  for (size_t i = 0; i < content->array_count; i++) {
    const lmi_field_array *array = &content->arrays[i];
    const size_t stem = strlen(array->name);
    if (array->components != 3 || length != stem + 2 || strncmp(array->name, name, stem) != 0 || name[stem] != '_' ||
        name[stem + 1] < 'x' || name[stem + 1] > 'z')
      continue;
    quantity->array = i;
    quantity->component = name[stem + 1] - 'x';
    return true;
  }
  return false;
}

lamina_status lmi_field_quantity_find(lamina_context *ctx, const lmi_field_file *file, const char *name,
                                      lmi_field_quantity *quantity)
{
  const lmi_field_content *content = lmi_field_file_content(file);
  *quantity = (lmi_field_quantity){.name = name, .array = lmi_field_file_find(file, name)};
  const size_t velocity = lmi_field_file_find(file, "velocity");
  const bool has_velocity = velocity < content->array_count && content->arrays[velocity].components == 3;
  if (quantity->array < content->array_count) {
    if (content->arrays[quantity->array].components == 3)
      quantity->kind = LMI_QUANTITY_MAGNITUDE;
  } else if (has_velocity && strcmp(name, "speed") == 0) {
    quantity->kind = LMI_QUANTITY_MAGNITUDE;
    quantity->array = velocity;
  } else if (has_velocity && strcmp(name, "vorticity") == 0) {
    quantity->kind = LMI_QUANTITY_VORTICITY;
    quantity->array = velocity;
  } else if (!is_component(content, name, quantity))
    return refuse_name(ctx, file, name);
  quantity->unit = quantity->kind == LMI_QUANTITY_VORTICITY ? "1/s" : content->arrays[quantity->array].unit;
  return LAMINA_OK;
}

/* Three components of a box, one behind the other in `values`. */
static lamina_status read_vector(lmi_field_file *file, size_t array, lamina_box box, double *values)
{
  const size_t count = (size_t)(box.count.x * box.count.y * box.count.z);
  return lmi_field_file_read(file, array, box, (double *const[]){values, values + count, values + 2 * count});
}

lamina_status lmi_field_quantity_read(lamina_context *ctx, lmi_field_file *file, const lmi_field_quantity *quantity,
                                      lamina_box box, double *values)
{
  LMI_REQUIRE(ctx, quantity->kind != LMI_QUANTITY_VORTICITY, LAMINA_ERROR_ARGUMENT,
              "vorticity is known on slices only, not along a line");
  if (quantity->kind == LMI_QUANTITY_SCALAR) {
    double *components[3] = {NULL, NULL, NULL};
    components[quantity->component] = values;
    return lmi_field_file_read(file, quantity->array, box, components);
  }
  const size_t count = (size_t)(box.count.x * box.count.y * box.count.z);
  double *vector = NULL;
  LMI_TRY(LMI_ALLOC(ctx, 3 * count, &vector));
  const lamina_status status = read_vector(file, quantity->array, box, vector);
  for (size_t i = 0; i < count && status == LAMINA_OK; i++)
    values[i] = sqrt(vector[i] * vector[i] + vector[i + count] * vector[i + count] +
                     vector[i + 2 * count] * vector[i + 2 * count]);
  lmi_free(ctx, vector);
  return status;
}

/* ---- slices ---- */

/* The layers of cells around the plane. */
typedef struct layers {
  lamina_box box;
  double weight; /* of the second layer */
} layers;

static lamina_status find_layers(lamina_context *ctx, const lmi_field_frame *frame, int axis, double position,
                                 layers *found)
{
  const lamina_index cells = part(frame->cells, axis);
  const double low = real_part(frame->origin, axis), spacing = real_part(frame->spacing, axis);
  const double place = (position - low) / spacing - 0.5; // in cells from the first centre
  LMI_REQUIRE(ctx, place >= -0.5 - 1e-9 && place <= (double)cells - 0.5 + 1e-9, LAMINA_ERROR_ARGUMENT,
              "the plane %c = %g m lies outside the fields (%g to %g)", "xyz"[axis], position, low,
              low + (double)cells * spacing);
  *found = (layers){.box = {{0, 0, 0}, frame->cells}};
  const double inside = fmin(fmax(place, 0.0), (double)(cells - 1)); // beyond the last centre: that layer itself
  const lamina_index first = (lamina_index)fmin(floor(inside), (double)(cells > 1 ? cells - 2 : 0));
  found->weight = inside - (double)first;
  set_part(&found->box.first, axis, first);
  set_part(&found->box.count, axis, found->weight > 0.0 ? 2 : 1);
  return LAMINA_OK;
}

/* Where a cell of the picture lies in the box; `layer` is 0 or 1. */
static size_t place_in_box(const lmi_field_slice *slice, lamina_int3 count, lamina_index i, lamina_index j,
                           lamina_index layer)
{
  lamina_int3 at = {0, 0, 0};
  set_part(&at, slice->axis, layer);
  set_part(&at, slice->across[0], i);
  set_part(&at, slice->across[1], j);
  return (size_t)((at.z * count.y + at.y) * count.x + at.x);
}

/* Takes the plane out of one or two layers. */
static void flatten(const lmi_field_slice *slice, const layers *found, const double *box, double *plane)
{
  for (lamina_index j = 0; j < slice->height; j++)
    for (lamina_index i = 0; i < slice->width; i++) {
      double value = box[place_in_box(slice, found->box.count, i, j, 0)];
      if (found->weight > 0.0)
        value += found->weight * (box[place_in_box(slice, found->box.count, i, j, 1)] - value);
      plane[j * slice->width + i] = value;
    }
}

static lamina_status take_scalar(const lmi_field_slice *slice, lmi_field_file *file, const lmi_field_quantity *quantity,
                                 double *plane)
{
  layers found = {0};
  LMI_TRY(find_layers(slice->ctx, &lmi_field_file_content(file)->frame, slice->axis, slice->position, &found));
  double *box = NULL;
  LMI_TRY(LMI_ALLOC(slice->ctx, (size_t)(found.box.count.x * found.box.count.y * found.box.count.z), &box));
  const lamina_status status = lmi_field_quantity_read(slice->ctx, file, quantity, found.box, box);
  if (status == LAMINA_OK)
    flatten(slice, &found, box, plane);
  lmi_free(slice->ctx, box);
  return status;
}

/* d/d(step) of a row or column: central, one-sided at the rim and beside solids. */
static double slope(const double *at, lamina_index step, bool has_before, bool has_after, double spacing)
{
  const double before = has_before && isfinite(at[-step]) ? at[-step] : at[0];
  const double after = has_after && isfinite(at[step]) ? at[step] : at[0];
  const int cells = (has_before && isfinite(at[-step])) + (has_after && isfinite(at[step]));
  return cells > 0 ? (after - before) / (cells * spacing) : 0.0;
}

/* The curl along the normal; (x, z) is a left-handed pair, so its sign turns. */
static void curl(const lmi_field_slice *slice, const lmi_field_frame *frame, const double *right, const double *up)
{
  const double sign = slice->axis == 1 ? -1.0 : 1.0;
  const double a = real_part(frame->spacing, slice->across[0]), b = real_part(frame->spacing, slice->across[1]);
  for (lamina_index j = 0; j < slice->height; j++)
    for (lamina_index i = 0; i < slice->width; i++) {
      const lamina_index cell = j * slice->width + i;
      const double up_slope = slope(up + cell, 1, i > 0, i + 1 < slice->width, a);
      const double right_slope = slope(right + cell, slice->width, j > 0, j + 1 < slice->height, b);
      slice->values[cell] = isfinite(up[cell]) && isfinite(right[cell]) ? sign * (up_slope - right_slope) : (double)NAN;
    }
}

static lamina_status take_vorticity(const lmi_field_slice *slice, lmi_field_file *file, size_t velocity)
{
  const size_t count = (size_t)(slice->width * slice->height);
  double *flow = NULL;
  LMI_TRY(LMI_ALLOC(slice->ctx, 2 * count, &flow));
  lamina_status status = LAMINA_OK;
  for (int k = 0; k < 2 && status == LAMINA_OK; k++) {
    const lmi_field_quantity component = {.array = velocity, .component = slice->across[k]};
    status = take_scalar(slice, file, &component, flow + (size_t)k * count);
  }
  if (status == LAMINA_OK)
    curl(slice, &lmi_field_file_content(file)->frame, flow, flow + count);
  lmi_free(slice->ctx, flow);
  return status;
}

lamina_status lmi_field_slice_take(lamina_context *ctx, lmi_field_file *file, const lmi_field_quantity *quantity,
                                   int axis, double position, lmi_field_slice *slice)
{
  const lamina_int3 cells = lmi_field_file_content(file)->frame.cells;
  *slice =
    (lmi_field_slice){.ctx = ctx, .axis = axis, .position = position, .across = {axis == 0 ? 1 : 0, axis == 2 ? 1 : 2}};
  slice->width = part(cells, slice->across[0]);
  slice->height = part(cells, slice->across[1]);
  lamina_status status = LMI_ALLOC(ctx, (size_t)(slice->width * slice->height), &slice->values);
  if (status == LAMINA_OK)
    status = quantity->kind == LMI_QUANTITY_VORTICITY ? take_vorticity(slice, file, quantity->array)
                                                      : take_scalar(slice, file, quantity, slice->values);
  if (status != LAMINA_OK)
    lmi_field_slice_free(slice);
  return status;
}

lamina_status lmi_field_slice_add_stream(lmi_field_slice *slice, lmi_field_file *file)
{
  lmi_field_quantity velocity;
  LMI_TRY(lmi_field_quantity_find(slice->ctx, file, "vorticity", &velocity)); // is there a velocity at all?
  const size_t count = (size_t)(slice->width * slice->height);
  double *right = NULL;
  LMI_TRY(LMI_ALLOC(slice->ctx, count, &right));
  lamina_status status = LMI_ALLOC(slice->ctx, count, &slice->stream);
  const lmi_field_quantity component = {.array = velocity.array, .component = slice->across[0]};
  if (status == LAMINA_OK)
    status = take_scalar(slice, file, &component, right);
  if (status == LAMINA_OK)
    lmi_stream_function(&(lmi_image_data){slice->width, slice->height, right},
                        real_part(lmi_field_file_content(file)->frame.spacing, slice->across[1]), slice->stream);
  lmi_free(slice->ctx, right);
  return status;
}

void lmi_field_slice_free(lmi_field_slice *slice)
{
  if (slice->ctx == NULL)
    return;
  lmi_free(slice->ctx, slice->values);
  lmi_free(slice->ctx, slice->stream);
  *slice = (lmi_field_slice){0};
}
