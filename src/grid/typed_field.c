/* SPDX-License-Identifier: Apache-2.0 */
/* Mapping: components of cells in the memory of the slabs, with a frame along fixed edges. */
#include <omp.h>

#include "grid_internal.h"

enum { MAX_COMPONENTS = 32 };

static size_t type_bytes(lamina_precision type)
{
  return type == LAMINA_F64 ? sizeof(double) : sizeof(float);
}

static bool is_fixed(const lamina_grid *grid, int axis)
{
  return grid->domain.edge[axis] == LAMINA_EDGE_FIXED;
}

static int last_axis(const lamina_grid *grid)
{
  return grid->extent.is_flat ? 1 : 2;
}

/* Cells beyond either end of a row and of a plane: 0 or 1. */
static int64_t frame_x(const lamina_grid *grid)
{
  return is_fixed(grid, 0);
}

static int64_t frame_y(const lamina_grid *grid)
{
  return !grid->extent.is_flat && is_fixed(grid, 1);
}

static lamina_status check_options(const lamina_grid *grid, const lamina_field_options *options)
{
  lamina_context *ctx = grid->ctx;
  const char *name = options->name != NULL ? options->name : "(no name)";
  LMI_REQUIRE(ctx, options->components >= 1 && options->components <= MAX_COMPONENTS, LAMINA_ERROR_ARGUMENT,
              "field %s has %d components: 1 to %d are possible", name, options->components, (int)MAX_COMPONENTS);
  LMI_REQUIRE(ctx, lamina_precision_name(options->type) != NULL, LAMINA_ERROR_ARGUMENT, "field %s has no type %d", name,
              (int)options->type);
  LMI_REQUIRE(ctx, lamina_layout_name(options->layout) != NULL, LAMINA_ERROR_ARGUMENT, "field %s has no layout %d",
              name, (int)options->layout);
  return LAMINA_OK;
}

/* Planes outside a slab are stored where a neighbour or the frame may be seen in them. */
static lmi_layout_request storage_request(const lamina_grid *grid, const lamina_field_options *options, int64_t places)
{
  const bool has_neighbours = grid->partition.count > 1 && lmi_stencil_crosses(&grid->extent, grid->stencil);
  const int outside = has_neighbours || is_fixed(grid, last_axis(grid));
  return (lmi_layout_request){
    .layout = options->layout,
    .components = options->components,
    .low_planes = outside,
    .high_planes = outside,
    .places = places,
    .element_bytes = type_bytes(options->type),
  };
}

lamina_status lamina_field_create(lamina_grid *grid, const lamina_field_options *options, lamina_field **field)
{
  lamina_status status = LAMINA_OK;
  *field = NULL;
  LMI_TRY(check_options(grid, options));
  lamina_field *made = NULL;
  LMI_TRY(LMI_ALLOC(grid->ctx, 1, &made));
  made->grid = grid;
  made->type = options->type;
  made->components = options->components;
  made->row = grid->extent.nx + 2 * frame_x(grid);
  made->origin = frame_y(grid) * made->row + frame_x(grid);
  const int64_t places = made->row * (grid->extent.ny + 2 * frame_y(grid));
  const lmi_layout_request request = storage_request(grid, options, places);
  LMI_TRY_GOTO(status, lmi_string_copy(grid->ctx, options->name != NULL ? options->name : "(no name)", &made->name),
               cleanup);
  LMI_TRY_GOTO(status, lmi_field_create(grid->device, &grid->partition, &request, &made->storage), cleanup);
  LMI_TRY_GOTO(status, lamina_field_fill(made, NULL, NULL), cleanup);
  *field = made;
cleanup:
  if (status != LAMINA_OK)
    lamina_field_destroy(made);
  return status;
}

void lamina_field_destroy(lamina_field *field)
{
  if (field == NULL)
    return;
  lmi_field_free(&field->storage);
  lmi_free(field->grid->ctx, field->name);
  lmi_free(field->grid->ctx, field);
}

uint64_t lamina_field_bytes(const lamina_field *field)
{
  return lmi_field_bytes(&field->storage);
}

char *lmi_cell_address(const lamina_field *field, int p, int component, int64_t x, int64_t y, int64_t z)
{
  const lmi_field_piece *piece = &field->storage.pieces[p];
  const int64_t plane = lmi_layout_element(&piece->layout, component, z + piece->layout.request.low_planes);
  const int64_t place = field->origin + y * field->row + x;
  return (char *)piece->memory + (plane + place * piece->layout.stride) * (int64_t)type_bytes(field->type);
}

static void store(const lamina_field *field, char *at, double value)
{
  const float narrow = (float)value;
  if (field->type == LAMINA_F64)
    memcpy(at, &value, sizeof value);
  else
    memcpy(at, &narrow, sizeof narrow);
}

static double load(const lamina_field *field, const char *at)
{
  double wide;
  float narrow;
  if (field->type == LAMINA_F64) {
    memcpy(&wide, at, sizeof wide);
    return wide;
  }
  memcpy(&narrow, at, sizeof narrow);
  return (double)narrow;
}

static lamina_int3 cell_at(const lamina_grid *grid, int64_t x, int64_t y, int64_t z)
{
  return grid->extent.is_flat ? (lamina_int3){x, z, 0} : (lamina_int3){x, y, z};
}

static void fill_plane(const lamina_field *field, int p, int64_t z, lamina_fill_function *function, void *user)
{
  const lamina_grid *grid = field->grid;
  const int64_t fx = frame_x(grid), fy = frame_y(grid), first = grid->partition.slabs[p].first;
  double values[MAX_COMPONENTS] = {0};
  for (int64_t y = -fy; y < grid->extent.ny + fy; y++)
    for (int64_t x = -fx; x < grid->extent.nx + fx; x++) {
      if (function != NULL)
        function(user, cell_at(grid, x, y, first + z), values);
      for (int c = 0; c < field->components; c++)
        store(field, lmi_cell_address(field, p, c, x, y, z), values[c]);
    }
}

lamina_status lamina_field_fill(lamina_field *field, lamina_fill_function *function, void *user)
{
  const lamina_grid *grid = field->grid;
  const bool framed = is_fixed(grid, last_axis(grid));
  for (int p = 0; p < grid->partition.count; p++) {
    const lmi_slab *slab = &grid->partition.slabs[p];
    const int64_t first = framed && p == 0 ? -1 : 0;
    const int64_t end = slab->planes + (framed && p == grid->partition.count - 1);
#pragma omp parallel for num_threads(lamina_context_thread_count(grid->ctx)) schedule(static)
    for (int64_t z = first; z < end; z++)
      fill_plane(field, p, z, function, user);
  }
  return LAMINA_OK;
}

/* Whether [first, first + count) lies in the cells of an axis, or in its frame. */
static lamina_status check_range(const lamina_field *field, char axis, lamina_index first, lamina_index count,
                                 lamina_index low, lamina_index end)
{
  LMI_REQUIRE(field->grid->ctx, count >= 0 && first >= low && first <= end && count <= end - first,
              LAMINA_ERROR_ARGUMENT, "field %s: cells %lld to %lld along %c: %lld to %lld exist", field->name,
              (long long)first, (long long)(first + count - 1), axis, (long long)low, (long long)(end - 1));
  return LAMINA_OK;
}

/* The slab that stores a plane of the domain; the frame belongs to the outermost ones. */
static int slab_of(const lamina_grid *grid, int64_t plane)
{
  const int64_t inside = plane < 0 ? 0 : plane >= grid->extent.nz ? grid->extent.nz - 1 : plane;
  return lmi_partition_owner(&grid->partition, inside);
}

lamina_status lamina_field_read(const lamina_field *field, int component, lamina_int3 first, lamina_int3 count,
                                double *values)
{
  const lamina_grid *grid = field->grid;
  const lamina_int3 n = grid->domain.cells;
  const bool flat = grid->extent.is_flat;
  const lamina_index frame[3] = {is_fixed(grid, 0), is_fixed(grid, 1), !flat && is_fixed(grid, 2)};
  LMI_REQUIRE(grid->ctx, component >= 0 && component < field->components, LAMINA_ERROR_ARGUMENT,
              "field %s: component %d: 0 to %d exist", field->name, component, field->components - 1);
  LMI_TRY(check_range(field, 'x', first.x, count.x, -frame[0], n.x + frame[0]));
  LMI_TRY(check_range(field, 'y', first.y, count.y, -frame[1], n.y + frame[1]));
  LMI_TRY(check_range(field, 'z', first.z, count.z, -frame[2], n.z + frame[2]));
  for (lamina_index z = first.z; z < first.z + count.z; z++)
    for (lamina_index y = first.y; y < first.y + count.y; y++) {
      const int64_t plane = flat ? y : z;
      const int p = slab_of(grid, plane);
      const int64_t local = plane - grid->partition.slabs[p].first;
      for (lamina_index x = first.x; x < first.x + count.x; x++)
        *values++ = load(field, lmi_cell_address(field, p, component, x, flat ? 0 : y, local));
    }
  return LAMINA_OK;
}
