/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "case_output.h"

static const lmi_case_word SCALARS[] = {
  {"speed", LMI_SCALAR_SPEED},           {"velocity_x", LMI_SCALAR_VELOCITY_X},
  {"velocity_y", LMI_SCALAR_VELOCITY_Y}, {"velocity_z", LMI_SCALAR_VELOCITY_Z},
  {"pressure", LMI_SCALAR_PRESSURE},     {"density", LMI_SCALAR_DENSITY},
  {"vorticity", LMI_SCALAR_VORTICITY},   {NULL, 0},
};

static const lmi_case_word ARRAYS[] = {
  {"velocity", LMI_ARRAY_VELOCITY}, {"pressure", LMI_ARRAY_PRESSURE}, {"density", LMI_ARRAY_DENSITY}, {NULL, 0}};

static const lmi_case_word COLUMNS[] = {
  {"mass", LMI_SERIES_MASS},
  {"momentum", LMI_SERIES_MOMENTUM},
  {"kinetic_energy", LMI_SERIES_KINETIC_ENERGY},
  {"max_speed", LMI_SERIES_MAX_SPEED},
  {"enstrophy", LMI_SERIES_ENSTROPHY},
  {"dissipation", LMI_SERIES_DISSIPATION},
  {NULL, 0},
};

static const lmi_case_word CELLS[] = {{"levels", 0}, {"finest", 1}, {NULL, 0}};
static const lmi_case_word LINES[] = {{"none", 0}, {"streamlines", 1}, {"levels", 2}, {NULL, 0}};

static const lmi_case_word EXACTS[] = {
  {"poiseuille", LMI_EXACT_POISEUILLE},
  {"poiseuille_slip", LMI_EXACT_POISEUILLE_SLIP},
  {"couette", LMI_EXACT_COUETTE},
  {"stokes2", LMI_EXACT_STOKES2},
  {"duct", LMI_EXACT_DUCT},
  {"taylor_green", LMI_EXACT_TAYLOR_GREEN},
  {"shear_wave", LMI_EXACT_SHEAR_WAVE},
  {"dissipation_peak", LMI_EXACT_DISSIPATION_PEAK},
  {"mass", LMI_EXACT_MASS},
  {NULL, 0},
};

const char *lmi_scalar_name(lmi_scalar scalar)
{
  return SCALARS[scalar].name;
}

const char *lmi_scalar_unit(lmi_scalar scalar)
{
  switch (scalar) {
  case LMI_SCALAR_PRESSURE: return "Pa";
  case LMI_SCALAR_DENSITY: return "kg/m3";
  case LMI_SCALAR_VORTICITY: return "1/s";
  default: return "m/s";
  }
}

/* ---- reading ---- */

/* A list of words (or one word) into an array of flags. */
static lamina_status read_flags(lmi_case_reader *reader, const lmi_tree_node *node, const lmi_case_word *words,
                                bool *flags)
{
  const lmi_case_key entry = {.words = words};
  lmi_case_choice choice = {0};
  if (node->kind == LMI_TREE_SCALAR) {
    LMI_TRY(lmi_case_read_choice(reader, node, &entry, &choice));
    flags[choice.value] = true;
    return LAMINA_OK;
  }
  if (node->kind == LMI_TREE_MAP || node->first == NULL) {
    char list[160];
    return lmi_case_fail(reader, node, "needs a list of words; allowed: %s",
                         lmi_case_list_words(words, list, sizeof list));
  }
  size_t index = 0;
  for (const lmi_tree_node *child = node->first; child != NULL; child = child->next) {
    const size_t length = lmi_case_enter_entry(reader, index++);
    LMI_TRY(lmi_case_read_choice(reader, child, &entry, &choice));
    lmi_case_leave(reader, length);
    flags[choice.value] = true;
  }
  return LAMINA_OK;
}

/* The key that says what kind of output this is; a second one is refused. */
static lamina_status set_kind(lmi_case_reader *reader, const lmi_tree_node *node, lmi_case_output *output,
                              lmi_output_kind kind)
{
  if (output->where != NULL)
    return lmi_case_fail(reader, node, "an output has one of fields, slice, profile, series; make two entries of it");
  output->where = node;
  output->kind = kind;
  return LAMINA_OK;
}

static lamina_status read_fields(lmi_case_reader *reader, const lmi_tree_node *node, const lmi_case_key *key,
                                 void *target)
{
  (void)key;
  lmi_case_output *output = target;
  LMI_TRY(set_kind(reader, node, output, LMI_OUTPUT_FIELDS));
  return read_flags(reader, node, ARRAYS, output->arrays);
}

static lamina_status read_series(lmi_case_reader *reader, const lmi_tree_node *node, const lmi_case_key *key,
                                 void *target)
{
  (void)key;
  lmi_case_output *output = target;
  LMI_TRY(set_kind(reader, node, output, LMI_OUTPUT_SERIES));
  return read_flags(reader, node, COLUMNS, output->columns);
}

static lamina_status read_through(lmi_case_reader *reader, const lmi_tree_node *node, lmi_case_output *output)
{
#define POSITION(name_, index)                                                                                      \
  {                                                                                                                 \
    .name = (name_), .read = lmi_case_read_real, .offset = offsetof(lmi_case_output, through[index]), .low = -1e12, \
    .high = 1e12, .dimension = LMI_DIMENSION_LENGTH                                                                 \
  }
  static const lmi_case_key KEYS[] = {POSITION("x", 0), POSITION("y", 1), POSITION("z", 2)};
#undef POSITION
  return lmi_case_read_map(reader, node, KEYS, LMI_COUNT(KEYS), output);
}

static lamina_status read_slice(lmi_case_reader *reader, const lmi_tree_node *node, const lmi_case_key *key,
                                void *target)
{
  (void)key;
  LMI_TRY(set_kind(reader, node, target, LMI_OUTPUT_SLICE));
  return read_through(reader, node, target);
}

static lamina_status read_profile(lmi_case_reader *reader, const lmi_tree_node *node, const lmi_case_key *key,
                                  void *target)
{
  (void)key;
  LMI_TRY(set_kind(reader, node, target, LMI_OUTPUT_PROFILE));
  return read_through(reader, node, target);
}

/* order: NAME of an exact solution; `sizes` are read beside it. */
static lamina_status read_order(lmi_case_reader *reader, const lmi_tree_node *node, const lmi_case_key *key,
                                void *target)
{
  lmi_case_output *output = target;
  LMI_TRY(set_kind(reader, node, output, LMI_OUTPUT_ORDER));
  return lmi_case_read_text(reader, node, key, &output->compare);
}

static lamina_status read_sizes(lmi_case_reader *reader, const lmi_tree_node *node, const lmi_case_key *key,
                                void *target)
{
  lmi_case_output *output = target;
  int count = 0;
  for (const lmi_tree_node *child = node->first; child != NULL; child = child->next) {
    lmi_case_integer size = {0};
    if (count == LMI_ORDER_MAX_SIZES)
      return lmi_case_fail(reader, child, "more than %d sizes", LMI_ORDER_MAX_SIZES);
    LMI_TRY(lmi_case_read_integer(reader, child, key, &size));
    if (count > 0 && size.value <= output->sizes[count - 1])
      return lmi_case_fail(reader, child, "the sizes must rise; %lld stands behind %lld", (long long)size.value,
                           (long long)output->sizes[count - 1]);
    output->sizes[count++] = size.value;
  }
  if (node->kind != LMI_TREE_LIST || count < 2)
    return lmi_case_fail(reader, node, "needs a list of two sizes or more, [16, 32, 64]");
  output->size_count = count;
  return LAMINA_OK;
}

static lamina_status read_at(lmi_case_reader *reader, const lmi_tree_node *node, const lmi_case_key *key, void *target)
{
  lmi_case_output *output = target;
  if (node->kind == LMI_TREE_SCALAR && strcmp(node->text, "end") == 0) {
    output->at_end = true;
    return LAMINA_OK;
  }
  return lmi_case_read_span(reader, node, key, &output->at);
}

#define OUTPUT(field) offsetof(lmi_case_output, field)
static const lmi_case_key OUTPUT_KEYS[] = {
  {.name = "fields", .read = read_fields},
  {.name = "slice", .read = read_slice},
  {.name = "profile", .read = read_profile},
  {.name = "series", .read = read_series},
  {.name = "order", .read = read_order, .low = 1, .high = 60},
  {.name = "sizes", .read = read_sizes, .low = 2, .high = 1 << 24, .hint = "cells along x"},
  {.name = "image", .read = lmi_case_read_choice, .offset = OUTPUT(scalar), .words = SCALARS},
  {.name = "value", .read = lmi_case_read_choice, .offset = OUTPUT(scalar), .words = SCALARS},
  {.name = "cells", .read = lmi_case_read_choice, .offset = OUTPUT(cells), .words = CELLS},
  {.name = "lines", .read = lmi_case_read_choice, .offset = OUTPUT(lines), .words = LINES},
  {.name = "range", .read = lmi_case_read_vector, .offset = OUTPUT(range), .low = -1e12, .high = 1e12},
  {.name = "every",
   .read = lmi_case_read_span,
   .offset = OUTPUT(every),
   .high = 1e12,
   .above_low = true,
   .dimension = LMI_DIMENSION_TIME,
   .hint = "as \"2 s\" or \"500 steps\""},
  {.name = "at",
   .read = read_at,
   .high = 1e12,
   .above_low = true,
   .dimension = LMI_DIMENSION_TIME,
   .hint = "or the word end"},
  {.name = "compare", .read = lmi_case_read_text, .offset = OUTPUT(compare), .low = 1, .high = 60},
  {.name = "gate",
   .read = lmi_case_read_real,
   .offset = OUTPUT(gate),
   .high = 1e6,
   .above_low = true,
   .hint = "the largest error that still passes"},
};
#undef OUTPUT

static lamina_status fail_names(lmi_case_reader *reader, const lmi_case_output *output, const char *const *names,
                                size_t count, const char *kind)
{
  char list[360] = "";
  size_t used = 0;
  for (size_t i = 0; i < count && used < sizeof list; i++)
    used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i > 0 ? ", " : "", names[i]);
  const char *nearest = lmi_nearest_word(output->compare.value, names, count);
  return lmi_case_fail(reader, output->compare.where, "'%.60s' is no %s; there are: %s%s%s%s", output->compare.value,
                       kind, list, nearest != NULL ? "; did you mean '" : "", nearest != NULL ? nearest : "",
                       nearest != NULL ? "'?" : "");
}

/* `compare` names an exact solution; that of a profile is looked up once the Reynolds number is known. */
static lamina_status resolve_compare(lmi_case_reader *reader, lmi_case_output *output)
{
  if (output->compare.value == NULL || output->kind == LMI_OUTPUT_PROFILE)
    return LAMINA_OK;
  const char *names[LMI_COUNT(EXACTS)];
  size_t count = 0;
  for (; EXACTS[count].name != NULL; count++) {
    names[count] = EXACTS[count].name;
    if (strcmp(names[count], output->compare.value) == 0) {
      output->exact = (lmi_case_choice){.value = EXACTS[count].value, .where = output->compare.where};
      return LAMINA_OK;
    }
  }
  return fail_names(reader, output, names, count, "exact solution");
}

static lamina_status check_slice_keys(lmi_case_reader *reader, const lmi_tree_node *node, const lmi_case_output *output)
{
  const bool is_slice = output->kind == LMI_OUTPUT_SLICE;
  const lmi_tree_node *image = lmi_tree_find(node, "image");
  const lmi_case_vector *range = &output->range;
  if (is_slice && image == NULL)
    return lmi_case_fail(reader, node, "a slice needs `image: speed` (or velocity_x, pressure, vorticity, ...)");
  if (!is_slice && image != NULL)
    return lmi_case_fail(reader, image, "image belongs to a slice; write {slice: {z: ...}, image: ...}");
  if (range->where != NULL && (!is_slice || range->count != 2 || !(range->value[0] < range->value[1])))
    return lmi_case_fail(reader, range->where, "range belongs to a slice and is [low, high] with low < high");
  if (output->lines.where != NULL && !is_slice)
    return lmi_case_fail(reader, output->lines.where, "lines are drawn on a slice only");
  if (output->cells.where != NULL && output->kind != LMI_OUTPUT_FIELDS)
    return lmi_case_fail(reader, output->cells.where, "cells belongs to fields; write {fields: [...], cells: finest}");
  return LAMINA_OK;
}

static lamina_status check_profile_keys(lmi_case_reader *reader, const lmi_tree_node *node,
                                        const lmi_case_output *output)
{
  const bool is_profile = output->kind == LMI_OUTPUT_PROFILE;
  const lmi_tree_node *value = lmi_tree_find(node, "value");
  if (is_profile && value == NULL && output->compare.value == NULL)
    return lmi_case_fail(
      reader, node, "a profile needs `value: velocity_x` (or speed, pressure, ...), or `compare:` with reference data");
  if (value != NULL && (!is_profile || output->compare.value != NULL))
    return lmi_case_fail(reader, value, "value belongs to a profile without compare; reference data bring their own");
  if (is_profile && output->scalar.value == LMI_SCALAR_VORTICITY)
    return lmi_case_fail(reader, value, "vorticity is drawn on slices only");
  return LAMINA_OK;
}

static lamina_status check_compare_keys(lmi_case_reader *reader, const lmi_tree_node *node,
                                        const lmi_case_output *output)
{
  const lmi_tree_node *compare = lmi_tree_find(node, "compare");
  if (output->gate.where != NULL && output->compare.value == NULL)
    return lmi_case_fail(reader, output->gate.where, "a gate needs `compare:` with something to be compared with");
  if ((output->kind == LMI_OUTPUT_ORDER) != (output->size_count > 0))
    return lmi_case_fail(reader, node, "order and sizes go together: {order: taylor_green, sizes: [16, 32, 64]}");
  if (compare != NULL && output->kind != LMI_OUTPUT_PROFILE && output->kind != LMI_OUTPUT_COMPARE)
    return lmi_case_fail(reader, compare, "compare belongs to a profile or stands alone; make two entries of it");
  if (output->compare.value != NULL && output->every.where != NULL)
    return lmi_case_fail(reader, output->every.where, "a comparison is made once; use `at: end` or `at: TIME`");
  if (output->every.where != NULL && (output->at.where != NULL || output->at_end))
    return lmi_case_fail(reader, output->every.where, "every and at exclude each other; keep one");
  return LAMINA_OK;
}

static lamina_status read_output(lmi_case_reader *reader, const lmi_tree_node *node, lmi_case_output *output)
{
  LMI_TRY(lmi_case_read_map(reader, node, OUTPUT_KEYS, LMI_COUNT(OUTPUT_KEYS), output));
  if (output->where == NULL && output->compare.value != NULL) {
    output->kind = LMI_OUTPUT_COMPARE;
    output->where = node;
  }
  if (output->where == NULL)
    return lmi_case_fail(reader, node,
                         "says not what to write; give one of fields, slice, profile, series, compare, order");
  LMI_TRY(resolve_compare(reader, output));
  LMI_TRY(check_slice_keys(reader, node, output));
  LMI_TRY(check_profile_keys(reader, node, output));
  LMI_TRY(check_compare_keys(reader, node, output));
  if (output->every.where == NULL && output->at.where == NULL)
    output->at_end = true;
  return LAMINA_OK;
}

lamina_status lmi_case_read_outputs(lmi_case_reader *reader, const lmi_tree_node *node, const lmi_case_key *key,
                                    void *target)
{
  (void)key;
  lamina_case *flow = target;
  char what[64];
  if (node->kind != LMI_TREE_LIST)
    return lmi_case_fail(reader, node, "%s is not a list; write one line `- {...}` for each output",
                         lmi_tree_describe(node, what, sizeof what));
  size_t count = 0;
  for (const lmi_tree_node *child = node->first; child != NULL; child = child->next)
    count++;
  if (count > LMI_CASE_MAX_OUTPUTS)
    return lmi_case_fail(reader, node, "%zu entries; at most %d", count, LMI_CASE_MAX_OUTPUTS);
  LMI_TRY(LMI_ALLOC(reader->ctx, count, &flow->outputs));
  for (const lmi_tree_node *child = node->first; child != NULL; child = child->next) {
    const size_t length = lmi_case_enter_entry(reader, flow->output_count);
    LMI_TRY(read_output(reader, child, &flow->outputs[flow->output_count]));
    lmi_case_leave(reader, length);
    flow->output_count++;
  }
  return LAMINA_OK;
}

/* ---- checking against the domain ---- */

static lamina_int3 cells_of(const lamina_case *flow)
{
  return flow->solver.cells;
}

static double extent(const lamina_case *flow, int axis)
{
  const lamina_int3 cells = cells_of(flow);
  const lamina_index count = axis == 0 ? cells.x : axis == 1 ? cells.y : cells.z;
  return (double)count * flow->units.cell_size;
}

static lamina_status check_positions(lmi_case_reader *reader, const lamina_case *flow, const lmi_case_output *output)
{
  for (int axis = 0; axis < 3; axis++) {
    const lmi_case_real *position = &output->through[axis];
    if (position->where == NULL)
      continue;
    if (axis >= flow->dimension)
      return lmi_case_fail(reader, position->where, "%c: the flow has two dimensions; leave z away", "xyz"[axis]);
    if (position->value < 0 || position->value > extent(flow, axis))
      return lmi_case_fail(reader, position->where, "%c = %.6g m is outside the domain [0, %.6g] m", "xyz"[axis],
                           position -> value, extent(flow, axis));
  }
  return LAMINA_OK;
}

static int given_positions(const lmi_case_output *output)
{
  int count = 0;
  for (int axis = 0; axis < 3; axis++)
    count += output->through[axis].where != NULL;
  return count;
}

static lamina_status check_slice(lmi_case_reader *reader, const lamina_case *flow, lmi_case_output *output)
{
  const int count = given_positions(output);
  if (output->lines.value == 1 && flow->dimension == 3)
    return lmi_case_fail(reader, output->lines.where, "streamlines are drawn in two dimensions only");
  if (flow->dimension == 2) {
    if (count > 0)
      return lmi_case_fail(reader, output->where, "a flow in two dimensions is one slice; write `slice: {}`");
    output->axis = 2;
    return LAMINA_OK;
  }
  if (count != 1)
    return lmi_case_fail(reader, output->where, "a slice is cut at one position; write {x: ...}, {y: ...} or {z: ...}");
  for (int axis = 0; axis < 3; axis++)
    if (output->through[axis].where != NULL)
      output->axis = axis;
  return LAMINA_OK;
}

/* "ghia-re400-u", or "ghia-u" for the data of this flow's Reynolds number. */
static lamina_status find_reference(lmi_case_reader *reader, const lamina_case *flow, lmi_case_output *output)
{
  const char *name = output->compare.value;
  output->reference = lmi_reference_find(name);
  const char *last = strrchr(name, '-');
  if (output->reference == NULL && last != NULL) {
    char full[96];
    snprintf(full, sizeof full, "%.*s-re%.6g%s", (int)(last - name), name, flow->units.reynolds, last);
    output->reference = lmi_reference_find(full);
  }
  size_t count = 0;
  const char *const *names = lmi_reference_names(&count);
  return output->reference != NULL ? LAMINA_OK : fail_names(reader, output, names, count, "reference data");
}

static lamina_status check_profile(lmi_case_reader *reader, const lamina_case *flow, lmi_case_output *output)
{
  const int count = given_positions(output);
  if (count != flow->dimension - 1)
    return lmi_case_fail(reader, output->where,
                         "a profile in %d dimensions needs %d position%s, the axis left out is its direction",
                         flow->dimension, flow->dimension - 1, flow->dimension == 3 ? "s" : "");
  for (int axis = 0; axis < flow->dimension; axis++)
    if (output->through[axis].where == NULL)
      output->axis = axis;
  if (output->compare.value == NULL)
    return LAMINA_OK;
  LMI_TRY(find_reference(reader, flow, output));
  const lmi_reference *reference = output->reference;
  if (reference->dimension != flow->dimension || reference->axis != output->axis)
    return lmi_case_fail(reader, output->compare.where,
                         "%s is a profile along %c in %d dimensions, this one runs along %c in %d", reference->name,
                         "xyz"[reference->axis], reference -> dimension, "xyz"[output->axis], flow -> dimension);
  if (fabs(reference->reynolds - flow->units.reynolds) > 1e-6 * reference->reynolds)
    return lmi_case_fail(reader, output->compare.where, "%s is for Reynolds number %.6g, this flow has %.6g",
                         reference->name, reference->reynolds, flow->units.reynolds);
  output->scalar.value = LMI_SCALAR_VELOCITY_X + reference->component;
  return LAMINA_OK;
}

static lamina_status check_output(lmi_case_reader *reader, const lamina_case *flow, lmi_case_output *output)
{
  LMI_TRY(check_positions(reader, flow, output));
  if (output->scalar.value == LMI_SCALAR_VELOCITY_Z && flow->dimension == 2)
    return lmi_case_fail(reader, output->scalar.where, "velocity_z: the flow has two dimensions");
  if (output->cells.where != NULL && output->cells.value == 0 && flow->solver.grid != LAMINA_GRID_LEVELS)
    return lmi_case_fail(reader, output->cells.where,
                         "cells: levels needs a grid of levels (grid: {kind: levels, ...})");
  if (output->kind == LMI_OUTPUT_SLICE)
    return check_slice(reader, flow, output);
  if (output->kind == LMI_OUTPUT_PROFILE)
    return check_profile(reader, flow, output);
  return LAMINA_OK;
}

lamina_status lmi_case_check_outputs(lamina_case *flow)
{
  lmi_case_reader reader = {.ctx = flow->ctx, .flow = flow};
  (void)lmi_case_enter(&reader, "output");
  for (size_t i = 0; i < flow->output_count; i++) {
    const size_t length = lmi_case_enter_entry(&reader, i);
    LMI_TRY(check_output(&reader, flow, &flow->outputs[i]));
    lmi_case_leave(&reader, length);
  }
  return LAMINA_OK;
}
