/* SPDX-License-Identifier: Apache-2.0 */
#include "case_grid.h"

#include <stdio.h>
#include <string.h>

#define FAIL_AT(flow, node, path_, ...) \
  lmi_case_fail(&(lmi_case_reader){.ctx = (flow)->ctx, .flow = (flow), .path = path_}, (node), __VA_ARGS__)

#define WORD(enumerator, value_, text, description) {text, value_},
static const lmi_case_word KINDS[] = {LAMINA_GRID_LIST(WORD){NULL, 0}};
static const lmi_case_word GROUPINGS[] = {LAMINA_GROUPING_LIST(WORD){NULL, 0}};
static const lmi_case_word SCHEMES[] = {LAMINA_LEVEL_SCHEME_LIST(WORD){NULL, 0}};
#undef WORD

/* ---- reading ---- */

static lamina_status read_box(lmi_case_reader *reader, const lmi_tree_node *node, const lmi_case_key *key, void *target)
{
  (void)key;
#define CORNER(name_, field)                                                                                     \
  {                                                                                                              \
    .name = (name_), .read = lmi_case_read_vector, .offset = offsetof(lmi_case_refinement, field), .low = -1e12, \
    .high = 1e12, .dimension = LMI_DIMENSION_LENGTH, .hint = "a corner of the box, [x, y, z]",                   \
  }
  static const lmi_case_key KEYS[] = {CORNER("from", from), CORNER("to", to)};
#undef CORNER
  lmi_case_refinement *refinement = target;
  LMI_TRY(lmi_case_read_map(reader, node, KEYS, LMI_COUNT(KEYS), refinement));
  if (refinement->from.where == NULL || refinement->to.where == NULL)
    return lmi_case_fail(reader, node, "needs both corners: {from: [x, y, z], to: [x, y, z]}");
  return LAMINA_OK;
}

static lamina_status read_entry(lmi_case_reader *reader, const lmi_tree_node *node, lmi_case_refinement *refinement)
{
#define DISTANCE(name_, field, hint_)                                                                          \
  {                                                                                                            \
    .name = (name_), .read = lmi_case_read_real, .offset = offsetof(lmi_case_refinement, field), .high = 1e12, \
    .above_low = true, .dimension = LMI_DIMENSION_LENGTH, .hint = (hint_),                                     \
  }
  static const lmi_case_key KEYS[] = {
    {.name = "box", .read = read_box},
    DISTANCE("distance_to_walls", walls, "how far from walls of the box to refine, \"0.1 m\""),
    DISTANCE("bodies", bodies, "how far from bodies to refine, \"0.1 m\""),
    {.name = "level",
     .read = lmi_case_read_integer,
     .offset = offsetof(lmi_case_refinement, level),
     .low = 0,
     .high = LAMINA_MAX_LEVELS - 2,
     .hint = "0 is the finest"},
  };
#undef DISTANCE
  refinement->where = node;
  LMI_TRY(lmi_case_read_map(reader, node, KEYS, LMI_COUNT(KEYS), refinement));
  const int given =
    (refinement->from.where != NULL) + (refinement->walls.where != NULL) + (refinement->bodies.where != NULL);
  if (given != 1)
    return lmi_case_fail(reader, node, "needs one of box, distance_to_walls, bodies; this has %d of them", given);
  return LAMINA_OK;
}

static lamina_status read_refine(lmi_case_reader *reader, const lmi_tree_node *node, const lmi_case_key *key,
                                 void *target)
{
  (void)key;
  lmi_case_grid *grid = target;
  char what[64];
  grid->refine_where = node;
  grid->refine_count = 0;
  if (node->kind != LMI_TREE_LIST || node->first == NULL)
    return lmi_case_fail(reader, node, "%s is not a list of regions; write [{distance_to_walls: 0.1}]",
                         lmi_tree_describe(node, what, sizeof what));
  for (const lmi_tree_node *child = node->first; child != NULL; child = child->next) {
    if (grid->refine_count == LMI_CASE_MAX_REFINEMENTS)
      return lmi_case_fail(reader, child, "more than %d regions", (int)LMI_CASE_MAX_REFINEMENTS);
    const size_t length = lmi_case_enter_entry(reader, grid->refine_count);
    LMI_TRY(read_entry(reader, child, &grid->refine[grid->refine_count]));
    lmi_case_leave(reader, length);
    grid->refine_count++;
  }
  return LAMINA_OK;
}

lamina_status lmi_case_read_grid(lmi_case_reader *reader, const lmi_tree_node *node, const lmi_case_key *key,
                                 void *target)
{
#define GRID(field) offsetof(lmi_case_grid, field)
  static const lmi_case_key KEYS[] = {
    {.name = "kind", .read = lmi_case_read_choice, .offset = GRID(kind), .words = KINDS},
    {.name = "grouping", .read = lmi_case_read_choice, .offset = GRID(grouping), .words = GROUPINGS},
    {.name = "levels",
     .read = lmi_case_read_integer,
     .offset = GRID(levels),
     .low = 2,
     .high = LAMINA_MAX_LEVELS,
     .hint = "each has cells twice as long as the one below; domain.cells are those of the finest"},
    {.name = "scheme", .read = lmi_case_read_choice, .offset = GRID(scheme), .words = SCHEMES},
    {.name = "refine", .read = read_refine},
  };
#undef GRID
  lmi_case_grid *grid = target;
  const lmi_case_key word = {.name = key->name, .words = KINDS};
  grid->where = node;
  if (node->kind == LMI_TREE_SCALAR)
    return lmi_case_read_choice(reader, node, &word, &grid->kind);
  LMI_TRY(lmi_case_read_map(reader, node, KEYS, LMI_COUNT(KEYS), grid));
  char list[128];
  if (grid->kind.where == NULL)
    return lmi_case_fail(reader, node, "kind is missing; one of: %s", lmi_case_list_words(KINDS, list, sizeof list));
  return LAMINA_OK;
}

/* ---- checking ---- */

lamina_index lmi_case_step_stride(const lamina_case *flow)
{
  const lamina_solver_options *solver = &flow->solver;
  return solver->grid == LAMINA_GRID_LEVELS ? INT64_C(1) << (solver->levels - 1) : 1;
}

static lamina_status check_refinement(lamina_case *flow, const lmi_case_refinement *given, lamina_refinement *made)
{
  const double cell = flow->units.cell_size;
  *made = (lamina_refinement){.level = (int)given->level.value};
  if (made->level > flow->solver.levels - 2)
    return FAIL_AT(flow, given->level.where, "grid.refine.level", "%d of %d levels; from 0, the finest, to %d",
                   made->level, flow->solver.levels, flow->solver.levels - 2);
  if (given->bodies.where != NULL) {
    made->kind = LAMINA_REFINE_BODIES;
    made->distance = given->bodies.value / cell;
    return LAMINA_OK;
  }
  if (given->walls.where != NULL) {
    made->kind = LAMINA_REFINE_WALLS;
    made->distance = given->walls.value / cell;
    return LAMINA_OK;
  }
  made->kind = LAMINA_REFINE_BOX;
  for (int a = 0; a < flow->dimension; a++) {
    if (given->from.count <= a || given->to.count <= a)
      return FAIL_AT(flow, given->from.where, "grid.refine.box", "two numbers, but the flow has three dimensions");
    if (given->from.value[a] >= given->to.value[a])
      return FAIL_AT(flow, given->to.where, "grid.refine.box", "from %.6g m to %.6g m along %c: the box is empty",
                     given->from.value[a], given->to.value[a], "xyz"[a]);
    made->low[a] = given->from.value[a] / cell;
    made->high[a] = given->to.value[a] / cell;
  }
  return LAMINA_OK;
}

static lamina_status check_levels(lamina_case *flow)
{
  lmi_case_grid *grid = &flow->grid;
  lamina_solver_options *solver = &flow->solver;
  if (grid->levels.where == NULL)
    return FAIL_AT(flow, grid->where, "grid", "levels need their number: {kind: levels, levels: 3, refine: [...]}");
  if (grid->refine_count == 0)
    return FAIL_AT(flow, grid->where, "grid",
                   "levels need places to refine: {kind: levels, levels: %d, refine: [{distance_to_walls: 0.1}]}",
                   (int)grid->levels.value);
  solver->levels = (int)grid->levels.value;
  const lamina_index unit = lmi_case_step_stride(flow);
  const lamina_index cells[3] = {solver->cells.x, solver->cells.y, solver->cells.z};
  for (int a = 0; a < flow->dimension; a++)
    if (cells[a] % unit != 0)
      return FAIL_AT(flow, flow->cells_where, "domain.cells",
                     "%lld cells along %c with %d levels; multiples of %lld are needed, %lld or %lld",
                     (long long)cells[a], "xyz"[a], solver -> levels, (long long)unit,
                     (long long)(cells[a] / unit > 0 ? cells[a] / unit * unit : unit),
                     (long long)(cells[a] / unit * unit + unit));
  if (grid->scheme.where != NULL)
    solver->level_scheme = (lamina_level_scheme)grid->scheme.value;
  for (size_t i = 0; i < grid->refine_count; i++)
    LMI_TRY(check_refinement(flow, &grid->refine[i], &grid->refinements[i]));
  solver->refinements = grid->refinements;
  solver->refinement_count = grid->refine_count;
  return LAMINA_OK;
}

/* The dense grid and that of levels have walls and periodic faces, and no bodies. */
static lamina_status check_holds(lamina_case *flow)
{
  const lamina_solver_options *solver = &flow->solver;
  const char *name = lamina_grid_kind_name(solver->grid);
  if (solver->grid == LAMINA_GRID_SPARSE)
    return LAMINA_OK;
  if (solver->geometry != NULL)
    return FAIL_AT(flow, flow->grid.kind.where, "grid", "bodies do not go with %s; choose sparse", name);
  for (int face = 0; face < LAMINA_FACE_COUNT; face++)
    if (solver->faces[face].kind != LAMINA_FACE_WALL && solver->faces[face].kind != LAMINA_FACE_PERIODIC)
      return FAIL_AT(flow, flow->grid.kind.where, "grid", "open faces do not go with %s; choose sparse", name);
  return LAMINA_OK;
}

/* A partition of blocks is a run of their layers. */
static lamina_status check_block_partitions(lamina_case *flow)
{
  const lamina_solver_options *solver = &flow->solver;
  const lamina_index planes = flow->dimension == 3 ? solver->cells.z : solver->cells.y;
  const int side = flow->dimension == 3 ? 4 : 8;
  const lamina_index layers = (planes + side - 1) / side;
  if (solver->grid == LAMINA_GRID_SPARSE && solver->partitions > layers)
    return FAIL_AT(
      flow, flow->partitions.where, "partitions",
      "%d for %lld planes of cells along %c; the sparse grid has %lld layers of blocks of %d planes, so at "
      "most %lld",
      solver->partitions, (long long)planes, flow->dimension == 3 ? 'z' : 'y', (long long)layers, side,
      (long long)layers);
  return LAMINA_OK;
}

/* The regions to refine, the grid, what made it a sparse one: the nearest that the file has. */
lamina_status lmi_case_place_refusal(const lamina_case *flow, lamina_status status)
{
  const lmi_case_grid *grid = &flow->grid;
  const lmi_tree_node *where = flow->tree->root;
  char sentence[512];
  if (status != LAMINA_ERROR_ARGUMENT)
    return status;
  if (flow->backend.where != NULL)
    where = flow->backend.where;
  if (grid->where != NULL)
    where = grid->refine_where != NULL ? grid->refine_where : grid->where;
  snprintf(sentence, sizeof sentence, "%s", lamina_error_message(flow->ctx));
  lamina_error_clear(flow->ctx);
  lmi_case_reader reader = {.ctx = flow->ctx};
  return lmi_case_fail(&reader, where, "%s", sentence);
}

lamina_status lmi_case_check_grid(lamina_case *flow)
{
  const lmi_case_grid *grid = &flow->grid;
  lamina_solver_options *solver = &flow->solver;
  if (grid->kind.where == NULL)
    return check_block_partitions(flow);
  solver->grid = (lamina_grid_kind)grid->kind.value;
  LMI_TRY(check_block_partitions(flow));
  LMI_TRY(check_holds(flow));
  const struct {
    const lmi_tree_node *where;
    const char *name;
  } of_levels[] = {{grid->levels.where, "levels"}, {grid->scheme.where, "scheme"}, {grid->refine_where, "refine"}};
  for (size_t i = 0; i < LMI_COUNT(of_levels) && solver->grid != LAMINA_GRID_LEVELS; i++)
    if (of_levels[i].where != NULL)
      return FAIL_AT(flow, of_levels[i].where, "grid", "%s goes with kind levels only, this is %s", of_levels[i].name,
                     lamina_grid_kind_name(solver->grid));
  if (grid->grouping.where != NULL && solver->grid != LAMINA_GRID_SPARSE)
    return FAIL_AT(flow, grid->grouping.where, "grid", "grouping goes with kind sparse only, this is %s",
                   lamina_grid_kind_name(solver->grid));
  if (grid->grouping.where != NULL)
    solver->grouping = (lamina_grouping)grid->grouping.value;
  return solver->grid == LAMINA_GRID_LEVELS ? check_levels(flow) : LAMINA_OK;
}
