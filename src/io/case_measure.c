/* SPDX-License-Identifier: Apache-2.0 */
#include "case_measure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- reading ---- */

static const char *const EXPECTATIONS[LMI_EXPECT_COUNT] = {"drag", "lift", "drag_max", "lift_max", "strouhal"};

const char *lmi_force_expectation_name(lmi_force_expectation expectation)
{
  return EXPECTATIONS[expectation];
}

static lamina_status read_expect(lmi_case_reader *reader, const lmi_tree_node *node, const lmi_case_key *key,
                                 void *target)
{
  (void)key;
  lmi_case_key keys[LMI_EXPECT_COUNT];
  lmi_case_force *force = target;
  for (int i = 0; i < LMI_EXPECT_COUNT; i++)
    keys[i] = (lmi_case_key){.name = EXPECTATIONS[i],
                             .read = lmi_case_read_vector,
                             .offset = sizeof(lmi_case_vector) * (size_t)i,
                             .low = -1e12,
                             .high = 1e12};
  LMI_TRY(lmi_case_read_map(reader, node, keys, LMI_EXPECT_COUNT, force->expect));
  for (int i = 0; i < LMI_EXPECT_COUNT; i++) {
    const lmi_case_vector *range = &force->expect[i];
    if (range->where != NULL && (range->count != 2 || range->value[0] > range->value[1]))
      return lmi_case_fail(reader, range->where, "%s: write the interval as [low, high]", EXPECTATIONS[i]);
  }
  return LAMINA_OK;
}

#define FORCE(field) offsetof(lmi_case_force, field)

static lamina_status read_force(lmi_case_reader *reader, const lmi_tree_node *node, void *target)
{
  static const lmi_case_key KEYS[] = {
    {.name = "body", .read = lmi_case_read_text, .offset = FORCE(body), .low = 1, .high = 200},
    {.name = "every",
     .read = lmi_case_read_span,
     .offset = FORCE(every),
     .high = 1e12,
     .above_low = true,
     .dimension = LMI_DIMENSION_TIME},
    {.name = "from",
     .read = lmi_case_read_span,
     .offset = FORCE(from),
     .high = 1e12,
     .dimension = LMI_DIMENSION_TIME,
     .hint = "means begin here"},
    {.name = "area",
     .read = lmi_case_read_real,
     .offset = FORCE(area),
     .high = 1e12,
     .above_low = true,
     .dimension = LMI_DIMENSION_AREA,
     .hint = "the reference area; in two dimensions per metre of depth"},
    {.name = "speed",
     .read = lmi_case_read_real,
     .offset = FORCE(speed),
     .high = 1e12,
     .above_low = true,
     .dimension = LMI_DIMENSION_SPEED},
    {.name = "length",
     .read = lmi_case_read_real,
     .offset = FORCE(length),
     .high = 1e12,
     .above_low = true,
     .dimension = LMI_DIMENSION_LENGTH,
     .hint = "the length of the Strouhal number"},
    {.name = "drag", .read = lmi_case_read_vector, .offset = FORCE(drag), .low = -1e12, .high = 1e12},
    {.name = "lift", .read = lmi_case_read_vector, .offset = FORCE(lift), .low = -1e12, .high = 1e12},
    {.name = "expect", .read = read_expect},
  };
  lmi_case_force *force = target;
  force->where = node;
  return lmi_case_read_map(reader, node, KEYS, LMI_COUNT(KEYS), force);
}

#define PROBE(field) offsetof(lmi_case_probe, field)

static lamina_status read_probe(lmi_case_reader *reader, const lmi_tree_node *node, void *target)
{
  static const lmi_case_key KEYS[] = {
    {.name = "at",
     .read = lmi_case_read_vector,
     .offset = PROBE(at),
     .low = -1e12,
     .high = 1e12,
     .dimension = LMI_DIMENSION_LENGTH},
    {.name = "every",
     .read = lmi_case_read_span,
     .offset = PROBE(every),
     .high = 1e12,
     .above_low = true,
     .dimension = LMI_DIMENSION_TIME},
    {.name = "name", .read = lmi_case_read_text, .offset = PROBE(name), .low = 1, .high = 60},
  };
  lmi_case_probe *probe = target;
  probe->where = node;
  LMI_TRY(lmi_case_read_map(reader, node, KEYS, LMI_COUNT(KEYS), probe));
  if (probe->at.where == NULL)
    return lmi_case_fail(reader, node, "needs its place: {at: [x, y, z]}");
  if (probe->name.value != NULL && strspn(probe->name.value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                                             "0123456789_-") != strlen(probe->name.value))
    return lmi_case_fail(reader, probe->name.where, "'%.60s' becomes a file's name; letters, digits, _ and - only",
                         probe->name.value);
  return LAMINA_OK;
}

/* A list of entries of `size` bytes, or one entry without a list. */
typedef lamina_status read_entry(lmi_case_reader *reader, const lmi_tree_node *node, void *target);

static lamina_status read_list(lmi_case_reader *reader, const lmi_tree_node *node, size_t size, read_entry *read,
                               void **entries, size_t *count)
{
  const bool is_list = node->kind == LMI_TREE_LIST;
  size_t wanted = is_list ? 0 : 1;
  for (const lmi_tree_node *child = node->first; is_list && child != NULL; child = child->next)
    wanted++;
  if (wanted > LMI_CASE_MAX_MEASURES)
    return lmi_case_fail(reader, node, "%zu entries; at most %d", wanted, LMI_CASE_MAX_MEASURES);
  LMI_TRY(lmi_alloc_array(reader->ctx, wanted, size, entries));
  const lmi_tree_node *child = is_list ? node->first : node;
  for (*count = 0; *count < wanted; (*count)++) {
    const size_t length = lmi_case_enter_entry(reader, *count);
    LMI_TRY(read(reader, child, (char *)*entries + *count * size));
    lmi_case_leave(reader, length);
    child = child->next;
  }
  return LAMINA_OK;
}

lamina_status lmi_case_read_forces(lmi_case_reader *reader, const lmi_tree_node *node, const lmi_case_key *key,
                                   void *target)
{
  (void)key;
  lamina_case *flow = target;
  return read_list(reader, node, sizeof *flow->forces, read_force, (void **)&flow->forces, &flow->force_count);
}

lamina_status lmi_case_read_probes(lmi_case_reader *reader, const lmi_tree_node *node, const lmi_case_key *key,
                                   void *target)
{
  (void)key;
  lamina_case *flow = target;
  return read_list(reader, node, sizeof *flow->probes, read_probe, (void **)&flow->probes, &flow->probe_count);
}

lamina_status lmi_case_read_statistics(lmi_case_reader *reader, const lmi_tree_node *node, const lmi_case_key *key,
                                       void *target)
{
  (void)key;
#define STATISTICS(field) offsetof(lmi_case_statistics, field)
  static const lmi_case_key KEYS[] = {
    {.name = "from",
     .read = lmi_case_read_span,
     .offset = STATISTICS(from),
     .high = 1e12,
     .dimension = LMI_DIMENSION_TIME},
    {.name = "every",
     .read = lmi_case_read_span,
     .offset = STATISTICS(every),
     .high = 1e12,
     .above_low = true,
     .dimension = LMI_DIMENSION_TIME},
  };
#undef STATISTICS
  lamina_case *flow = target;
  flow->statistics.where = node;
  LMI_TRY(lmi_case_read_map(reader, node, KEYS, LMI_COUNT(KEYS), &flow->statistics));
  if (flow->statistics.every.where == NULL)
    return lmi_case_fail(reader, node, "needs the time between two samples: {from: 1 s, every: 20 steps}");
  return LAMINA_OK;
}

/* ---- checking ---- */

static double length_of(const double v[3])
{
  return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

/* The number of a body: its name, or its place in the list from 1 on; the only body where nothing is said. */
static lamina_status find_body(lmi_case_reader *reader, const lamina_case *flow, lmi_case_force *force)
{
  const int count = flow->geometry != NULL ? lamina_geometry_body_count(flow->geometry) : 0;
  int64_t number = 0;
  if (count == 0)
    return lmi_case_fail(reader, force->where, "there are no bodies; add `bodies:`");
  if (force->body.value == NULL && count > 1)
    return lmi_case_fail(reader, force->where, "there are %d bodies; say which one, `body: NAME`", count);
  force->number = force->body.value == NULL ? 1 : 0;
  for (int body = 1; body <= count && force->number == 0; body++) {
    lamina_body_info info;
    if (lamina_geometry_get_body(flow->geometry, body, &info) && strcmp(info.name, force->body.value) == 0)
      force->number = body;
  }
  if (force->number == 0 && lmi_parse_int64(force->body.value, &number) && number >= 1 && number <= count)
    force->number = (int)number;
  if (force->number == 0)
    return lmi_case_fail(reader, force->body.where, "'%.60s' is no body's name, and no number from 1 to %d",
                         force->body.value, count);
  return LAMINA_OK;
}

/* Drag along what comes in through an inlet, else along x; lift across it in the plane of x and y, else along y. */
static void choose_directions(const lamina_case *flow, lmi_case_force *force)
{
  double *drag = force->direction[0], *lift = force->direction[1];
  drag[0] = 1.0;
  for (int face = 0; face < LAMINA_FACE_COUNT; face++)
    if (flow->faces[face].kind == LMI_BOUNDARY_VELOCITY && length_of(flow->faces[face].velocity.value) > 0)
      memcpy(drag, flow->faces[face].velocity.value, 3 * sizeof *drag);
  if (force->drag.where != NULL)
    memcpy(drag, force->drag.value, 3 * sizeof *drag);
  lift[0] = -drag[1];
  lift[1] = drag[0];
  if (!(length_of(lift) > 0))
    lift[1] = 1.0;
  if (force->lift.where != NULL)
    memcpy(lift, force->lift.value, 3 * sizeof *lift);
  for (int k = 0; k < 2; k++) {
    const double length = length_of(force->direction[k]);
    for (int a = 0; a < 3; a++)
      force->direction[k][a] /= length;
  }
}

/* Of two vectors of length 1, to a thousandth of a degree or so. */
static bool are_parallel(const double a[3], const double b[3])
{
  const double across[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
  return length_of(across) < 1e-5;
}

/* Cells along the axis of an endless cylinder; in two dimensions a depth of one. */
static double depth_of(const lamina_case *flow, int body)
{
  const lamina_int3 n = flow->solver.cells;
  lamina_body_info info;
  if (flow->dimension == 2 || !lamina_geometry_get_body(flow->geometry, body, &info))
    return 1.0;
  return (double)(!isfinite(info.low.x) ? n.x : !isfinite(info.low.y) ? n.y : n.z);
}

/* In two dimensions only a section of the body is in the box, whatever its depth: its width across the drag. Not finite
 * where the body has no end. */
static double width_of(const lamina_case *flow, int body, int axis)
{
  lamina_body_info info;
  if (flow->dimension != 2 || axis > 1 || !lamina_geometry_get_body(flow->geometry, body, &info) ||
      !isfinite(info.low.z))
    return (double)INFINITY;
  return axis == 0 ? info.high.y - info.low.y : info.high.x - info.low.x;
}

/* The body's shadow along the axis nearest to the drag. */
static lamina_status choose_area(const lamina_case *flow, lmi_case_force *force)
{
  int axis = 0;
  double area = 0;
  const double h = flow->units.cell_size;
  for (int a = 1; a < 3; a++)
    axis = fabs(force->direction[0][a]) > fabs(force->direction[0][axis]) ? a : axis;
  force->reference_area = force->area.value;
  if (force->area.where != NULL)
    return LAMINA_OK;
  area = width_of(flow, force->number, axis);
  if (!isfinite(area))
    LMI_TRY(lamina_geometry_shadow(flow->geometry, force->number, axis, depth_of(flow, force->number), &area));
  force->reference_area = flow->dimension == 2 ? area * h : area * h * h;
  return LAMINA_OK;
}

static lamina_status check_force(lmi_case_reader *reader, lamina_case *flow, lmi_case_force *force)
{
  LMI_TRY(find_body(reader, flow, force));
  if ((force->drag.where != NULL && !(length_of(force->drag.value) > 0)) ||
      (force->lift.where != NULL && !(length_of(force->lift.value) > 0)))
    return lmi_case_fail(reader, force->where, "the directions of drag and lift must not be 0");
  choose_directions(flow, force);
  if (are_parallel(force->direction[0], force->direction[1]))
    return lmi_case_fail(reader, force->lift.where != NULL ? force->lift.where : force->where,
                         "drag and lift have one direction, (%.4g, %.4g, %.4g); lift lies across the drag",
                         force->direction[0][0], force->direction[0][1], force->direction[0][2]);
  LMI_TRY(choose_area(flow, force));
  force->reference_speed = force->speed.where != NULL ? force->speed.value : flow->units.reference_speed;
  force->reference_length = force->length.where != NULL ? force->length.value : flow->units.reference_length;
  if (!(force->reference_area > 0))
    return lmi_case_fail(reader, force->where, "the body has no shadow; give `area:` in m2");
  flow->solver.loads = true;
  return LAMINA_OK;
}

/* Two probes of one name would share a file. */
static lamina_status check_probe_name(lmi_case_reader *reader, const lamina_case *flow, size_t number)
{
  const lmi_case_probe *probe = &flow->probes[number];
  for (size_t i = 0; probe->name.value != NULL && i < number; i++)
    if (flow->probes[i].name.value != NULL && strcmp(flow->probes[i].name.value, probe->name.value) == 0)
      return lmi_case_fail(reader, probe->name.where, "'%.60s' is the name of probe %zu already; give another one",
                           probe->name.value, i + 1);
  return LAMINA_OK;
}

static lamina_status check_probe(lmi_case_reader *reader, const lamina_case *flow, lmi_case_probe *probe)
{
  const lamina_int3 n = flow->solver.cells;
  const lamina_index count[3] = {n.x, n.y, n.z};
  lamina_index cell[3] = {0, 0, 0};
  for (int axis = 0; axis < flow->dimension; axis++) {
    const double place = probe->at.value[axis] / flow->units.cell_size;
    if (axis >= probe->at.count || place < 0 || place > (double)count[axis])
      return lmi_case_fail(reader, probe->at.where, "%c = %.6g m is outside the domain [0, %.6g] m", "xyz"[axis],
                           probe -> at.value[axis], (double)count[axis] * flow->units.cell_size);
    cell[axis] = (lamina_index)fmin(floor(place), (double)(count[axis] - 1));
  }
  probe->cell = (lamina_int3){cell[0], cell[1], cell[2]};
  return LAMINA_OK;
}

lamina_status lmi_case_check_measures(lamina_case *flow)
{
  lmi_case_reader reader = {.ctx = flow->ctx, .flow = flow};
  for (size_t i = 0; i < flow->force_count; i++) {
    snprintf(reader.path, sizeof reader.path, "forces.%zu", i);
    LMI_TRY(check_force(&reader, flow, &flow->forces[i]));
  }
  for (size_t i = 0; i < flow->probe_count; i++) {
    snprintf(reader.path, sizeof reader.path, "probes.%zu", i);
    LMI_TRY(check_probe_name(&reader, flow, i));
    LMI_TRY(check_probe(&reader, flow, &flow->probes[i]));
  }
  return LAMINA_OK;
}

void lmi_case_free_measures(lamina_case *flow)
{
  lmi_free(flow->ctx, flow->forces);
  lmi_free(flow->ctx, flow->probes);
}
