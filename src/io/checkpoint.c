/* SPDX-License-Identifier: Apache-2.0 */
/* Layout: /checkpoint holds what must agree, as attributes; /populations is plane, velocity, row, cell, shifted (f -
 * w), as lamina_solver_get_plane gives them. A grid of levels has /populations/levelL instead (version 2): cell of the
 * level, velocity. */
#include "checkpoint.h"

#include <inttypes.h>
#include <string.h>

#include "base/ranks.h"
#include "checkpoint_levels.h"
#include "flow/level_slab.h"
#include "flow/solver_internal.h"
#include "hdf5_store.h"
#include "lamina/version.h"

#define GROUP "/checkpoint"
#define POPULATIONS "/populations"

enum { VERSION_BOX = 1, VERSION_LEVELS = 2 };
static const lmi_store_kind KIND = {.name = "checkpoint", .version = VERSION_LEVELS};

struct lmi_checkpoint {
  lamina_context *ctx;
  char *path;
  lmi_store *store;
  lmi_checkpoint_content content; /* points into the texts below */
  char *case_hash, *state, *version;
  size_t populations; /* index in the store */
};

/* ---- writing ---- */

static size_t element_bytes(lamina_precision precision)
{
  return precision == LAMINA_F64 ? sizeof(double) : sizeof(float);
}

static lmi_store_array describe_populations(const lamina_solver *solver)
{
  const lamina_solver_options *options = lamina_solver_get_options(solver);
  const uint64_t velocities = (uint64_t)lamina_lattice_velocities(options->lattice);
  const uint64_t row_bytes = (uint64_t)options->cells.x * element_bytes(options->precision);
  return (lmi_store_array){.path = POPULATIONS,
                           .precision = options->precision,
                           .rank = 4,
                           .dims = {(uint64_t)lamina_solver_plane_count(solver), velocities,
                                    lamina_solver_plane_bytes(solver) / (velocities * row_bytes),
                                    (uint64_t)options->cells.x}};
}

static lamina_status put_solver(lmi_store *store, const lamina_solver_options *options)
{
  const int64_t cells[3] = {options->cells.x, options->cells.y, options->cells.z};
  int64_t faces[LAMINA_FACE_COUNT];
  for (int i = 0; i < LAMINA_FACE_COUNT; i++)
    faces[i] = options->faces[i].kind;
  LMI_TRY(lmi_store_put_ints(store, GROUP, "cells", cells, LMI_COUNT(cells)));
  LMI_TRY(lmi_store_put_text(store, GROUP, "lattice", lamina_lattice_name(options->lattice)));
  LMI_TRY(lmi_store_put_text(store, GROUP, "collision", lamina_collision_name(options->collision)));
  LMI_TRY(lmi_store_put_text(store, GROUP, "precision", lamina_precision_name(options->precision)));
  LMI_TRY(lmi_store_put_reals(store, GROUP, "omega", &options->omega, 1));
  LMI_TRY(lmi_store_put_reals(store, GROUP, "magic", &options->magic, 1));
  LMI_TRY(lmi_store_put_reals(store, GROUP, "smagorinsky", &options->smagorinsky, 1));
  return lmi_store_put_ints(store, GROUP, "faces", faces, LMI_COUNT(faces));
}

static lamina_status put_note(lmi_store *store, const lamina_solver *solver, const lmi_checkpoint_note *note)
{
  const int64_t step = lamina_solver_step(solver);
  LMI_TRY(lmi_store_put_ints(store, GROUP, "step", &step, 1));
  LMI_TRY(lmi_store_put_reals(store, GROUP, "time_s", &note->time, 1));
  LMI_TRY(lmi_store_put_text(store, GROUP, "case_hash", note->case_hash != NULL ? note->case_hash : ""));
  LMI_TRY(lmi_store_put_text(store, GROUP, "state", note->state != NULL ? note->state : ""));
  return lmi_store_put_text(store, GROUP, "version", lamina_version());
}

/* Those of this rank. */
static lamina_status write_populations(lamina_context *ctx, lmi_store *store, const lamina_solver *solver)
{
  unsigned char *plane = NULL;
  lamina_index first = 0, count = 0;
  lmi_solver_own_planes(solver, &first, &count);
  LMI_TRY(LMI_ALLOC(ctx, lmi_store_plane_bytes(store, 0), &plane));
  lamina_status status = LAMINA_OK;
  for (lamina_index p = first; p < first + count && status == LAMINA_OK; p++) {
    status = lmi_solver_get_own_plane(solver, p, plane);
    if (status == LAMINA_OK)
      status = lmi_store_write_plane(store, 0, (uint64_t)p, plane);
  }
  lmi_free(ctx, plane);
  return status;
}

static lamina_status write_levels(lamina_context *ctx, const char *path, const lamina_solver *solver,
                                  const lmi_checkpoint_note *note)
{
  lmi_level_states states;
  lmi_store *store = NULL;
  lamina_status status = LAMINA_OK;
  LMI_TRY(lmi_level_states_create(ctx, solver, &states));
  LMI_TRY_GOTO(status, lmi_store_create(ctx, path, KIND, states.arrays, (size_t)states.levels->count, &store), cleanup);
  LMI_TRY_GOTO(status, put_solver(store, lamina_solver_get_options(solver)), cleanup);
  LMI_TRY_GOTO(status, put_note(store, solver, note), cleanup);
  LMI_TRY_GOTO(status, lmi_level_states_put(&states, store, GROUP), cleanup);
  LMI_TRY_GOTO(status, lmi_level_states_write(&states, store), cleanup);
  status = lmi_store_finish(store);
cleanup:
  lmi_store_close(store);
  lmi_level_states_free(&states);
  return status;
}

static lamina_status write_box(lamina_context *ctx, const char *path, const lamina_solver *solver,
                               const lmi_checkpoint_note *note)
{
  const lmi_store_array populations = describe_populations(solver);
  const lmi_store_kind kind = {.name = KIND.name, .version = VERSION_BOX};
  lmi_store *store = NULL;
  LMI_TRY(lmi_store_create(ctx, path, kind, &populations, 1, &store));
  lamina_status status = put_solver(store, lamina_solver_get_options(solver));
  if (status == LAMINA_OK)
    status = put_note(store, solver, note);
  LMI_TRY_GOTO(status, lmi_store_begin_planes(store, status), cleanup);
  LMI_TRY_GOTO(status, lmi_ranks_settle(ctx, write_populations(ctx, store, solver)), cleanup);
  status = lmi_store_finish(store);
cleanup:
  lmi_store_close(store);
  return status;
}

lamina_status lmi_checkpoint_write(lamina_context *ctx, const char *path, const lamina_solver *solver,
                                   const lmi_checkpoint_note *note)
{
  return lmi_solver_levels(solver) != NULL ? write_levels(ctx, path, solver, note) : write_box(ctx, path, solver, note);
}

/* ---- opening ---- */

typedef const char *name_function(int value);
static const char *lattice_name(int value)
{
  return lamina_lattice_name((lamina_lattice)value);
}
static const char *collision_name(int value)
{
  return lamina_collision_name((lamina_collision)value);
}
static const char *precision_name(int value)
{
  return lamina_precision_name((lamina_precision)value);
}

/* Names are kept in the file, not numbers: lists may grow. */
static lamina_status read_name(lmi_checkpoint *checkpoint, const char *attribute, name_function *name, int *value)
{
  char *text = NULL;
  LMI_TRY(lmi_store_get_text(checkpoint->store, GROUP, attribute, &text));
  int found = 0;
  while (name(found) != NULL && strcmp(name(found), text) != 0)
    found++;
  lamina_status status = LAMINA_OK;
  if (name(found) == NULL)
    status = lmi_fail(checkpoint->ctx, LAMINA_ERROR_CASE, "%s has the %s %s, which this lamina does not know",
                      checkpoint->path, attribute, text);
  lmi_free(checkpoint->ctx, text);
  *value = found;
  return status;
}

static lamina_status read_solver(lmi_checkpoint *checkpoint)
{
  lmi_store *store = checkpoint->store;
  int64_t cells[3], faces[LAMINA_FACE_COUNT];
  int lattice = 0, collision = 0, precision = 0;
  lamina_solver_options *options = &checkpoint->content.solver;
  *options = lamina_solver_options_default();
  LMI_TRY(lmi_store_get_ints(store, GROUP, "cells", cells, LMI_COUNT(cells)));
  LMI_TRY(read_name(checkpoint, "lattice", lattice_name, &lattice));
  LMI_TRY(read_name(checkpoint, "collision", collision_name, &collision));
  LMI_TRY(read_name(checkpoint, "precision", precision_name, &precision));
  LMI_TRY(lmi_store_get_reals(store, GROUP, "omega", &options->omega, 1));
  LMI_TRY(lmi_store_get_reals(store, GROUP, "magic", &options->magic, 1));
  LMI_TRY(lmi_store_get_reals(store, GROUP, "smagorinsky", &options->smagorinsky, 1));
  LMI_TRY(lmi_store_get_ints(store, GROUP, "faces", faces, LMI_COUNT(faces)));
  options->cells = (lamina_int3){cells[0], cells[1], cells[2]};
  options->lattice = (lamina_lattice)lattice;
  options->collision = (lamina_collision)collision;
  options->precision = (lamina_precision)precision;
  for (int i = 0; i < LAMINA_FACE_COUNT; i++)
    options->faces[i].kind = (lamina_face_kind)faces[i];
  return LAMINA_OK;
}

static lamina_status read_note(lmi_checkpoint *checkpoint)
{
  lmi_checkpoint_content *content = &checkpoint->content;
  LMI_TRY(lmi_store_get_ints(checkpoint->store, GROUP, "step", &content->step, 1));
  LMI_TRY(lmi_store_get_reals(checkpoint->store, GROUP, "time_s", &content->note.time, 1));
  LMI_TRY(lmi_store_get_text(checkpoint->store, GROUP, "case_hash", &checkpoint->case_hash));
  LMI_TRY(lmi_store_get_text(checkpoint->store, GROUP, "state", &checkpoint->state));
  LMI_TRY(lmi_store_get_text(checkpoint->store, GROUP, "version", &checkpoint->version));
  content->note.case_hash = checkpoint->case_hash;
  content->note.state = checkpoint->state;
  content->version = checkpoint->version;
  return LAMINA_OK;
}

static bool has_levels(const lmi_checkpoint *checkpoint)
{
  return lmi_store_version(checkpoint->store) == VERSION_LEVELS;
}

static lamina_status read_content(lmi_checkpoint *checkpoint, const char *path)
{
  LMI_TRY(lmi_string_copy(checkpoint->ctx, path, &checkpoint->path));
  LMI_TRY(lmi_store_open(checkpoint->ctx, path, KIND, &checkpoint->store));
  LMI_TRY(read_solver(checkpoint));
  LMI_TRY(read_note(checkpoint));
  if (has_levels(checkpoint))
    return LAMINA_OK;
  lmi_store_array populations = {0};
  return lmi_store_find_array(checkpoint->store, POPULATIONS, &populations, &checkpoint->populations);
}

lamina_status lmi_checkpoint_open(lamina_context *ctx, const char *path, lmi_checkpoint **checkpoint)
{
  *checkpoint = NULL;
  lmi_checkpoint *made = NULL;
  LMI_TRY(LMI_ALLOC(ctx, 1, &made));
  made->ctx = ctx;
  const lamina_status status = lmi_ranks_settle(ctx, read_content(made, path));
  if (status == LAMINA_OK)
    *checkpoint = made;
  else
    lmi_checkpoint_close(made);
  return status;
}

const lmi_checkpoint_content *lmi_checkpoint_get_content(const lmi_checkpoint *checkpoint)
{
  return &checkpoint->content;
}

/* ---- restoring ---- */

static lamina_status compare_number(const lmi_checkpoint *checkpoint, const char *what, double theirs, double ours)
{
  LMI_REQUIRE(checkpoint->ctx, theirs == ours, LAMINA_ERROR_CASE,
              "cannot resume from %s: it was written with %s %.17g, this run has %.17g", checkpoint->path, what, theirs,
              ours);
  return LAMINA_OK;
}

static lamina_status compare_name(const lmi_checkpoint *checkpoint, const char *what, const char *theirs,
                                  const char *ours)
{
  LMI_REQUIRE(checkpoint->ctx, strcmp(theirs, ours) == 0, LAMINA_ERROR_CASE,
              "cannot resume from %s: it was written with %s %s, this run has %s", checkpoint->path, what, theirs,
              ours);
  return LAMINA_OK;
}

static lamina_status compare_faces(const lmi_checkpoint *checkpoint, const lamina_solver_options *ours)
{
  static const char *const names[LAMINA_FACE_COUNT] = {"x-", "x+", "y-", "y+", "z-", "z+"};
  for (int i = 0; i < LAMINA_FACE_COUNT; i++)
    LMI_REQUIRE(checkpoint->ctx, checkpoint->content.solver.faces[i].kind == ours->faces[i].kind, LAMINA_ERROR_CASE,
                "cannot resume from %s: the boundary %s is of another kind in this run", checkpoint->path, names[i]);
  return LAMINA_OK;
}

/* A box of finest cells cannot become levels again: it says nothing of where they were. */
static lamina_status compare_grids(const lmi_checkpoint *checkpoint, const lamina_solver *solver)
{
  const bool ours = lmi_solver_levels(solver) != NULL;
  LMI_REQUIRE(
    checkpoint->ctx, has_levels(checkpoint) || !ours, LAMINA_ERROR_CASE,
    "cannot resume from %s: it holds one box of cells (a uniform grid, or levels written by an older lamina), "
    "this run has grid levels; start anew",
    checkpoint->path);
  LMI_REQUIRE(checkpoint->ctx, !has_levels(checkpoint) || ours, LAMINA_ERROR_CASE,
              "cannot resume from %s: it was written with grid levels, this run has grid %s", checkpoint->path,
              lamina_grid_kind_name(lamina_solver_get_options(solver)->grid));
  return LAMINA_OK;
}

static lamina_status compare(const lmi_checkpoint *checkpoint, const lamina_solver *solver, const char *case_hash)
{
  const lamina_solver_options *theirs = &checkpoint->content.solver;
  const lamina_solver_options *ours = lamina_solver_get_options(solver);
  LMI_TRY(compare_grids(checkpoint, solver));
  LMI_REQUIRE(checkpoint->ctx,
              theirs->cells.x == ours->cells.x && theirs->cells.y == ours->cells.y && theirs->cells.z == ours->cells.z,
              LAMINA_ERROR_CASE,
              "cannot resume from %s: it was written with %" PRId64 " x %" PRId64 " x %" PRId64
              " cells, this run has %" PRId64 " x %" PRId64 " x %" PRId64,
              checkpoint->path, theirs->cells.x, theirs->cells.y, theirs->cells.z, ours->cells.x, ours->cells.y,
              ours->cells.z);
  LMI_TRY(
    compare_name(checkpoint, "lattice", lamina_lattice_name(theirs->lattice), lamina_lattice_name(ours->lattice)));
  LMI_TRY(compare_name(checkpoint, "collision", lamina_collision_name(theirs->collision),
                       lamina_collision_name(ours->collision)));
  LMI_TRY(compare_name(checkpoint, "precision", lamina_precision_name(theirs->precision),
                       lamina_precision_name(ours->precision)));
  LMI_TRY(compare_number(checkpoint, "omega", theirs->omega, ours->omega));
  if (ours->collision == LAMINA_TRT)
    LMI_TRY(compare_number(checkpoint, "magic", theirs->magic, ours->magic));
  if (ours->collision == LAMINA_SMAGORINSKY)
    LMI_TRY(compare_number(checkpoint, "smagorinsky", theirs->smagorinsky, ours->smagorinsky));
  LMI_TRY(compare_faces(checkpoint, ours));
  LMI_REQUIRE(
    checkpoint->ctx, case_hash == NULL || strcmp(case_hash, checkpoint->case_hash) == 0, LAMINA_ERROR_CASE,
    "cannot resume from %s: it belongs to another case (%s, this one is %s); start anew, or put the case file "
    "back as it was",
    checkpoint->path, checkpoint->case_hash, case_hash);
  return LAMINA_OK;
}

static lamina_status read_populations(lmi_checkpoint *checkpoint, lamina_solver *solver)
{
  const size_t bytes = lmi_store_plane_bytes(checkpoint->store, checkpoint->populations);
  lmi_store_array stored = {0};
  LMI_TRY(lmi_store_find_array(checkpoint->store, POPULATIONS, &stored, &checkpoint->populations));
  LMI_REQUIRE(checkpoint->ctx,
              bytes == lamina_solver_plane_bytes(solver) &&
                stored.dims[0] == (uint64_t)lamina_solver_plane_count(solver),
              LAMINA_ERROR_CASE, "%s is damaged: its populations do not fill its cells", checkpoint->path);
  unsigned char *plane = NULL;
  lamina_index first = 0, count = 0;
  lmi_solver_own_planes(solver, &first, &count);
  LMI_TRY(LMI_ALLOC(checkpoint->ctx, bytes, &plane));
  lamina_status status = LAMINA_OK;
  for (lamina_index p = first; p < first + count && status == LAMINA_OK; p++) {
    status = lmi_store_read_plane(checkpoint->store, checkpoint->populations, (uint64_t)p, plane);
    if (status == LAMINA_OK)
      status = lamina_solver_set_plane(solver, p, plane);
  }
  lmi_free(checkpoint->ctx, plane);
  return status;
}

static lamina_status read_levels(const lmi_checkpoint *checkpoint, lamina_solver *solver)
{
  lmi_level_states states;
  LMI_TRY(lmi_level_states_create(checkpoint->ctx, solver, &states));
  lamina_status status = lmi_level_states_compare(&states, checkpoint->store, GROUP, checkpoint->path);
  if (status == LAMINA_OK)
    status = lmi_level_states_read(&states, checkpoint->store);
  lmi_level_states_free(&states);
  return status;
}

lamina_status lmi_checkpoint_restore(lmi_checkpoint *checkpoint, lamina_solver *solver, const char *case_hash)
{
  LMI_TRY(compare(checkpoint, solver, case_hash));
  LMI_TRY(lmi_ranks_settle(checkpoint->ctx, has_levels(checkpoint) ? read_levels(checkpoint, solver)
                                                                   : read_populations(checkpoint, solver)));
  lamina_solver_set_step(solver, checkpoint->content.step);
  return LAMINA_OK;
}

void lmi_checkpoint_close(lmi_checkpoint *checkpoint)
{
  if (checkpoint == NULL)
    return;
  lmi_store_close(checkpoint->store);
  lmi_free(checkpoint->ctx, checkpoint->case_hash);
  lmi_free(checkpoint->ctx, checkpoint->state);
  lmi_free(checkpoint->ctx, checkpoint->version);
  lmi_free(checkpoint->ctx, checkpoint->path);
  lmi_free(checkpoint->ctx, checkpoint);
}
