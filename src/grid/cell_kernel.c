/* SPDX-License-Identifier: Apache-2.0 */
/* Operations: a kernel text bound to fields and to the groups it serves. */
#include <math.h>

#include "grid_internal.h"

/* Names in "(OLD, NEW)". */
static int count_names(const char *names)
{
  int count = 1;
  for (; *names != '\0'; names++)
    count += *names == ',';
  return count;
}

static lamina_status check_text(lamina_context *ctx, const lamina_kernel_options *options)
{
  const lamina_kernel_text *text = options->text;
  LMI_REQUIRE(ctx, text != NULL && text->run_f32 != NULL && text->run_f64 != NULL, LAMINA_ERROR_ARGUMENT,
              "a kernel without a text: make one with LAMINA_KERNEL");
  LMI_REQUIRE(ctx, options->argument_count >= 1 && options->argument_count <= LAMINA_MAX_ARGUMENTS,
              LAMINA_ERROR_ARGUMENT, "kernel %s has %d arguments: 1 to %d are possible", text->name,
              options->argument_count, (int)LAMINA_MAX_ARGUMENTS);
  LMI_REQUIRE(ctx, options->argument_count == count_names(text->arguments), LAMINA_ERROR_ARGUMENT,
              "kernel %s names the arguments %s, but %d are given", text->name, text->arguments,
              options->argument_count);
  LMI_REQUIRE(ctx, (int)options->reduction >= LAMINA_REDUCE_NONE && (int)options->reduction <= LAMINA_REDUCE_MIN,
              LAMINA_ERROR_ARGUMENT, "kernel %s: there is no reduction %d", text->name, (int)options->reduction);
  return LAMINA_OK;
}

static lamina_status check_argument(const lamina_grid *grid, const lamina_kernel_options *options, int a)
{
  const lamina_argument *argument = &options->arguments[a];
  const lamina_field *field = argument->field;
  lamina_context *ctx = grid->ctx;
  const char *kernel = options->text->name;
  if (field == NULL)
    return LAMINA_OK;
  LMI_REQUIRE(ctx, field->grid == grid, LAMINA_ERROR_ARGUMENT, "kernel %s: field %s belongs to another grid", kernel,
              field->name);
  LMI_REQUIRE(ctx, (int)argument->access >= LAMINA_READ && (int)argument->access <= LAMINA_READ_WRITE,
              LAMINA_ERROR_ARGUMENT, "kernel %s: there is no access %d (field %s)", kernel, (int)argument->access,
              field->name);
  LMI_REQUIRE(ctx, (argument->stencil & ~(grid->stencil | LAMINA_STENCIL_1)) == 0, LAMINA_ERROR_ARGUMENT,
              "kernel %s reads neighbours 0x%x of field %s, but the grid has the stencil 0x%x", kernel,
              (unsigned)argument->stencil, field->name, (unsigned)grid->stencil);
  LMI_REQUIRE(ctx, argument->access == LAMINA_READ || (argument->stencil & ~(uint32_t)LAMINA_STENCIL_1) == 0,
              LAMINA_ERROR_ARGUMENT,
              "kernel %s writes field %s and reads its neighbours: cells run in any order, so write another field",
              kernel, field->name);
  const uint64_t all = ((uint64_t)1 << field->components) - 1;
  LMI_REQUIRE(ctx, ((argument->from_below | argument->from_above) & ~all) == 0, LAMINA_ERROR_ARGUMENT,
              "kernel %s: from_below 0x%x and from_above 0x%x name components beyond the %d of field %s", kernel,
              (unsigned)argument->from_below, (unsigned)argument->from_above, field->components, field->name);
  return LAMINA_OK;
}

/* A field that is written stands alone; all are of one type; something comes out. */
static lamina_status check_together(const lamina_grid *grid, const lamina_kernel_options *options)
{
  const char *kernel = options->text->name;
  const lamina_field *first = NULL;
  bool gives = options->reduction != LAMINA_REDUCE_NONE;
  for (int a = 0; a < options->argument_count; a++) {
    const lamina_field *field = options->arguments[a].field;
    if (field == NULL)
      continue;
    first = first != NULL ? first : field;
    LMI_REQUIRE(grid->ctx, field->type == first->type, LAMINA_ERROR_ARGUMENT,
                "kernel %s: field %s is %s, field %s is %s: all must be of one type", kernel, first->name,
                lamina_precision_name(first->type), field->name, lamina_precision_name(field->type));
    const bool written = options->arguments[a].access != LAMINA_READ;
    gives = gives || written;
    for (int b = 0; written && b < options->argument_count; b++)
      LMI_REQUIRE(grid->ctx, b == a || options->arguments[b].field != field, LAMINA_ERROR_ARGUMENT,
                  "kernel %s: field %s is written and stands among the arguments twice", kernel, field->name);
  }
  LMI_REQUIRE(grid->ctx, first != NULL, LAMINA_ERROR_ARGUMENT, "kernel %s has no field", kernel);
  LMI_REQUIRE(grid->ctx, gives, LAMINA_ERROR_ARGUMENT, "kernel %s writes no field and reduces nothing", kernel);
  return LAMINA_OK;
}

static lamina_status check_options(const lamina_grid *grid, const lamina_kernel_options *options)
{
  LMI_TRY(check_text(grid->ctx, options));
  for (int a = 0; a < options->argument_count; a++)
    LMI_TRY(check_argument(grid, options, a));
  return check_together(grid, options);
}

static lmk_cells_field bind_field(const lamina_argument *argument, int p)
{
  const lamina_field *field = argument->field;
  const lmi_extent *extent = &field->grid->extent;
  const lmi_field_piece *piece = &field->storage.pieces[p];
  lmk_cells_field bound = {
    .memory = piece->memory,
    .origin = field->origin,
    .row = field->row,
    .plane_stride = piece->layout.plane_stride,
    .stride = piece->layout.stride,
    .low_planes = piece->layout.request.low_planes,
    .element_bytes = (int32_t)field->storage.request.element_bytes,
    .is_written = argument->access != LAMINA_READ,
    .span_count = piece->layout.span_count,
  };
  memcpy(bound.spans, piece->layout.spans, sizeof bound.spans);
  const uint32_t stencil = argument->access == LAMINA_WRITE ? 0 : argument->stencil | LAMINA_STENCIL_1;
  for (int n = 0; n < LAMINA_NEIGHBOURS; n++)
    if (stencil >> n & 1u)
      bound.neighbours[bound.neighbour_count++] = lmi_neighbour(extent, n);
  return bound;
}

static void bind_slab(lamina_kernel *kernel, int p, int class_count)
{
  const lamina_grid *grid = kernel->grid;
  const lamina_kernel_options *options = &kernel->options;
  const lmi_slab *slab = &grid->partition.slabs[p];
  const bool is_flat = grid->extent.is_flat;
  const lamina_edge *edge = grid->domain.edge;
  lmk_cells *cells = &kernel->slabs[p];
  *cells = (lmk_cells){
    .nx = grid->extent.nx,
    .ny = grid->extent.ny,
    .nz = slab->planes,
    .first_plane = slab->first,
    .wraps_x = edge[0] == LAMINA_EDGE_PERIODIC,
    .wraps_y = is_flat || edge[1] == LAMINA_EDGE_PERIODIC,
    .wraps_z = grid->partition.count == 1 && edge[is_flat ? 1 : 2] == LAMINA_EDGE_PERIODIC,
    .is_flat = is_flat,
    .argument_count = options->argument_count,
    .reduction = (int32_t)options->reduction,
    .is_whole = class_count == grid->classes.count,
    .class_count = class_count == grid->classes.count ? 0 : class_count,
    .classes = kernel->classes + (size_t)p * (size_t)class_count,
    .plane_results = kernel->plane_results + slab->first,
    .not_a_number = kernel->not_a_number,
    .scratch = kernel->scratch,
  };
  for (int a = 0; a < options->argument_count; a++) {
    cells->values[a] = options->arguments[a].value;
    if (options->arguments[a].field != NULL)
      cells->fields[a] = bind_field(&options->arguments[a], p);
  }
  kernel->arguments[p] = cells;
}

static int served_classes(const lamina_grid *grid, const uint32_t *serves)
{
  int count = 0;
  for (int c = 0; c < grid->classes.count; c++)
    count += lmi_class_is_served(&grid->classes.classes[c], serves);
  return count;
}

/* The spans of the classes it serves, as each slab sees them: from its own first plane on. */
static void list_classes(lamina_kernel *kernel)
{
  const lamina_grid *grid = kernel->grid;
  lmk_class_spans *next = kernel->classes;
  for (int p = 0; p < grid->partition.count; p++)
    for (int c = 0; c < grid->classes.count; c++) {
      const lmi_class_spans *class = &grid->classes.classes[c];
      if (lmi_class_is_served(class, kernel->options.serves) && !grid->classes.is_plain)
        *next++ = (lmk_class_spans){class->first + grid->partition.slabs[p].first, class->spans};
    }
}

/* Bytes of a plane of one component of the widest field. */
static size_t widest_plane(const lamina_kernel *kernel)
{
  size_t widest = 0;
  for (int a = 0; a < kernel->options.argument_count; a++) {
    const lamina_field *field = kernel->options.arguments[a].field;
    if (field == NULL)
      continue;
    const size_t cell = (size_t)field->storage.pieces[0].layout.stride * field->storage.request.element_bytes;
    const size_t plane = cell * (size_t)(field->row * field->grid->extent.ny);
    widest = plane > widest ? plane : widest;
  }
  return widest;
}

static double identity(lamina_reduction reduction)
{
  if (reduction == LAMINA_REDUCE_MAX)
    return -(double)INFINITY;
  return reduction == LAMINA_REDUCE_MIN ? (double)INFINITY : 0.0;
}

static lamina_status allocate_parts(lamina_kernel *kernel, int class_count)
{
  enum { NOT_A_NUMBER = 0xff }; /* all bits set: in single and double precision */
  lamina_context *ctx = kernel->grid->ctx;
  const size_t slabs = (size_t)kernel->grid->partition.count, plane = widest_plane(kernel);
  const size_t planes = (size_t)kernel->grid->extent.nz;
  LMI_TRY(LMI_ALLOC(ctx, slabs, &kernel->slabs));
  LMI_TRY(LMI_ALLOC(ctx, slabs, &kernel->arguments));
  LMI_TRY(LMI_ALLOC(ctx, slabs * (size_t)class_count, &kernel->classes));
  LMI_TRY(LMI_ALLOC(ctx, planes, &kernel->plane_results));
  LMI_TRY(LMI_ALLOC(ctx, plane, &kernel->not_a_number));
  LMI_TRY(LMI_ALLOC(ctx, plane, &kernel->scratch));
  memset(kernel->not_a_number, NOT_A_NUMBER, plane);
  for (size_t z = 0; z < planes; z++)
    kernel->plane_results[z] = identity(kernel->options.reduction);
  return LAMINA_OK;
}

static const lamina_field *first_field(const lamina_kernel_options *options)
{
  int a = 0;
  while (options->arguments[a].field == NULL)
    a++;
  return options->arguments[a].field;
}

lamina_status lamina_kernel_create(lamina_grid *grid, const lamina_kernel_options *options, lamina_kernel **kernel)
{
  lamina_status status = LAMINA_OK;
  *kernel = NULL;
  LMI_TRY(check_options(grid, options));
  lamina_kernel *made = NULL;
  LMI_TRY(LMI_ALLOC(grid->ctx, 1, &made));
  made->grid = grid;
  made->options = *options;
  const int class_count = served_classes(grid, options->serves);
  LMI_TRY_GOTO(status, allocate_parts(made, class_count), cleanup);
  LMI_TRY_GOTO(
    status, grid->device->ops->cells_kernel(grid->device, options->text, first_field(options)->type, &made->function),
    cleanup);
  list_classes(made);
  for (int p = 0; p < grid->partition.count; p++)
    bind_slab(made, p, class_count);
  *kernel = made;
cleanup:
  if (status != LAMINA_OK)
    lamina_kernel_destroy(made);
  return status;
}

void lamina_kernel_destroy(lamina_kernel *kernel)
{
  if (kernel == NULL)
    return;
  lamina_context *ctx = kernel->grid->ctx;
  lmi_free(ctx, kernel->slabs);
  lmi_free(ctx, kernel->arguments);
  lmi_free(ctx, kernel->classes);
  lmi_free(ctx, kernel->plane_results);
  lmi_free(ctx, kernel->not_a_number);
  lmi_free(ctx, kernel->scratch);
  lmi_free(ctx, kernel);
}

lamina_status lamina_kernel_set_value(lamina_kernel *kernel, int argument, double value)
{
  const lamina_kernel_options *options = &kernel->options;
  LMI_REQUIRE(kernel->grid->ctx,
              argument >= 0 && argument < options->argument_count && options->arguments[argument].field == NULL,
              LAMINA_ERROR_ARGUMENT, "argument %d of kernel %s is not a number", argument, options->text->name);
  kernel->options.arguments[argument].value = value;
  for (int p = 0; p < kernel->grid->partition.count; p++)
    kernel->slabs[p].values[argument] = value;
  return LAMINA_OK;
}

double lamina_kernel_result(const lamina_kernel *kernel)
{
  double result = identity(kernel->options.reduction);
  for (int64_t z = 0; z < kernel->grid->extent.nz; z++)
    lamina_reduce(kernel->options.reduction, &result, kernel->plane_results[z]);
  return result;
}
