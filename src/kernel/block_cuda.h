/* SPDX-License-Identifier: Apache-2.0 */
/* The device's kernels over blocks (block.h): pull from one grid into another. All stores are aligned; of what is read,
 * three cells of four lie in the block itself. Links that are cut and cells without fluid are bits of a word a cell,
 * read only in blocks that have any. LMK_SPECIAL 1 makes the kernels of blocks that have cells with boundary data
 * (boundary.h), a text of their own: what they need of registers costs the plain ones nothing. */
#include "dense_device.h"

#include "boundary_data.h"

#include "block_device.h"
#include "vector_cuda.h"

/* A thread block updates LMK_BLOCK_GROUP blocks at a time, LMK_BLOCK_ROUNDS times. */
#define LMK_BLOCK_THREADS (LMK_BLOCK_GROUP * LMK_BLOCK_CELLS / LMK_LANES)
#define LMK_BLOCK_SHARE (LMK_BLOCK_GROUP * LMK_BLOCK_ROUNDS)

#include "block_gather_cuda.h"

/* Momentum of walls of the box that move: few blocks meet one, and look their links up. */
LMK_INLINE void LMK_NAME(add_walls)(const lmk_device_block_step *step, const LMK_NAME(place) * at,
                                    LMK_NAME(gathered) * cells)
{
  const lmk_block_grid *grid = &step->grid;
  for (int32_t k = grid->link_first[at->block]; k < grid->link_first[at->block + 1]; k++) {
    const lmk_block_link link = grid->links[k];
    const int32_t lane = link.bit - at->bit;
    if (lane < 0 || lane >= LMK_LANES || link.wall == 0)
      continue;
    const LMK_REAL add = (LMK_REAL)step->momentum[link.wall][link.q];
    LMK_UNROLL
    for (int l = 0; l < LMK_LANES; l++) {
      LMK_UNROLL
      for (int q = 0; q < LMK_Q; q++)
        cells->g[l][q] = link.q == q && lane == l ? cells->g[l][q] + add : cells->g[l][q];
    }
  }
}

/* Cells without fluid stay at rest: they load their own populations, as if every link were cut, and drop them. */
LMK_INLINE void LMK_NAME(gather)(const lmk_device_block_step *step, const LMK_NAME(place) * at, bool is_simple,
                                 LMK_NAME(gathered) * cells)
{
  const LMK_NAME(element) *source = (const LMK_NAME(element) *)step->source;
  const int32_t group = at->entries[LMK_ENTRY_GROUP];
  if (group < 0) {
    LMK_UNROLL
    for (int l = 0; l < LMK_LANES; l++)
      cells->words[l] = 0;
    LMK_NAME(fetch_cells)(source, at, false, is_simple, cells);
    return;
  }
  LMK_UNROLL
  for (int l = 0; l < LMK_LANES; l++)
    cells->words[l] = step->words[(int64_t)group * LMK_BLOCK_CELLS + at->bit + l];
  LMK_NAME(fetch_cells)(source, at, true, is_simple, cells);
  if ((at->entries[LMK_ENTRY_FLAGS] & step->moving) != 0)
    LMK_NAME(add_walls)(step, at, cells);
  LMK_UNROLL
  for (int l = 0; l < LMK_LANES; l++) {
    LMK_UNROLL
    for (int q = 0; q < LMK_Q; q++)
      cells->g[l][q] = (cells->words[l] & LMK_WORD_EMPTY) != 0 ? LMK_C(0) : cells->g[l][q];
  }
}

/* Memory moves in sectors of 32 bytes: one that has fluid is stored whole, one without is left alone. */
LMK_INLINE bool LMK_NAME(is_stored)(const LMK_NAME(place) * at)
{
  const int32_t cells = 256 / LMK_STORAGE_BITS, first = at->bit & ~(cells - 1);
  const uint32_t half = (uint32_t)at->entries[LMK_ENTRY_ACTIVE + first / 32];
  return (half >> first % 32 & ((1u << cells) - 1)) != 0;
}

LMK_INLINE void LMK_NAME(store)(const lmk_device_block_step *step, const LMK_NAME(place) * at, bool is_simple,
                                const LMK_NAME(gathered) * cells)
{
  LMK_NAME(element) *target = (LMK_NAME(element) *)step->target;
  LMK_UNROLL
  for (int q = 0; q < LMK_Q; q++) {
    LMK_REAL lanes[LMK_LANES];
    LMK_UNROLL
    for (int l = 0; l < LMK_LANES; l++)
      lanes[l] = cells->g[l][q];
    LMK_NAME(store_vector)(target + LMK_NAME(own_element)(at, 0, q, is_simple), lanes);
  }
}

LMK_INLINE LMK_NAME(constants) LMK_NAME(block_constants)(const lmk_device_block_step *step)
{
  LMK_NAME(constants) constants;
  constants.omega = (LMK_REAL)step->omega;
  constants.omega_minus = (LMK_REAL)step->omega_minus;
  constants.tau = (LMK_REAL)step->tau;
  constants.les = (LMK_REAL)step->les;
  constants.fx = (LMK_REAL)step->force[0];
  constants.fy = (LMK_REAL)step->force[1];
  constants.fz = (LMK_REAL)step->force[2];
  return constants;
}

#if LMK_SPECIAL
#include "boundary.h"

/* Boundary data are those of populations as they are, not as halves hold them; the factor is a power of two. */
LMK_INLINE void LMK_NAME(scale)(LMK_REAL g[LMK_Q], double factor)
{
  LMK_UNROLL
  for (int q = 0; q < LMK_Q; q++)
    g[q] = (LMK_REAL)factor * g[q];
}

LMK_INLINE void LMK_NAME(visit)(const lmk_device_block_step *step, const LMK_NAME(place) * at, LMK_REAL g[LMK_Q],
                                bool leaves)
{
  if ((step->grid.special[at->block] >> at->bit & 1u) == 0)
    return;
  const int32_t item = lmk_block_item(&step->grid, at->block, at->bit);
  if (LMK_STORAGE_BITS == 16)
    LMK_NAME(scale)(g, 1.0 / LMK_REST_DENSITY);
  if (leaves)
    LMK_NAME(leave_boundary)(g, &step->boundary, item, step->parity);
  else
    LMK_NAME(meet_boundary)(g, &step->boundary, item, step->parity);
  if (LMK_STORAGE_BITS == 16)
    LMK_NAME(scale)(g, LMK_REST_DENSITY);
}
#endif

LMK_INLINE bool LMK_NAME(serves)(const lmk_device_block_step *step, const LMK_NAME(place) * at)
{
  const bool is_special = (at->entries[LMK_ENTRY_FLAGS] >> LMK_FLAG_SPECIAL & 1) != 0;
  return step->serves == LMK_SERVE_ALL || is_special == (step->serves == LMK_SERVE_SPECIAL);
}

LMK_INLINE void LMK_NAME(step_cells)(const lmk_device_block_step *step, const LMK_NAME(shared) * shared, int32_t round,
                                     bool is_simple)
{
  const int32_t per_block = LMK_BLOCK_CELLS / LMK_LANES;
  const int32_t local = round * LMK_BLOCK_GROUP + LMK_THREAD(x) / per_block;
  const int32_t block = step->first + LMK_BLOCK(x) * LMK_BLOCK_SHARE + local;
  if (block >= step->end)
    return;
  const LMK_NAME(place) at =
    LMK_NAME(find_place)(shared, local, block, LMK_THREAD(x) % per_block * LMK_LANES, is_simple);
  if (!LMK_NAME(serves)(step, &at) || !LMK_NAME(is_stored)(&at))
    return;
  const lmk_watch watch = *step->watch;
  const bool is_over = watch.fault >> LMK_FAULT_STEP_SHIFT < watch.base + step->step;
  LMK_NAME(gathered) cells;
  LMK_NAME(gather)(step, &at, is_simple, &cells);
#if LMK_SPECIAL
  if (is_over)
    return;
  LMK_NAME(visit)(step, &at, cells.g[0], false);
#endif
  const LMK_NAME(constants) constants = LMK_NAME(block_constants)(step);
  bool is_finite = true;
  LMK_UNROLL
  for (int l = 0; l < LMK_LANES; l++) {
    const LMK_REAL drho = LMK_NAME(collide)(cells.g[l], &constants);
    is_finite = is_finite && drho - drho == LMK_C(0);
  }
#if LMK_SPECIAL
  LMK_NAME(visit)(step, &at, cells.g[0], true);
#endif
  if (is_over)
    return;
  LMK_NAME(store)(step, &at, is_simple, &cells);
  if (!is_finite)
    LMK_KEEP_LEAST(&step->watch->fault, (step->watch->base + step->step) << LMK_FAULT_STEP_SHIFT |
                                          (uint64_t)step->partition << LMK_FAULT_PARTITION_SHIFT | (uint64_t)block);
}

LMK_KERNEL LMK_BOUNDS(LMK_BLOCK_THREADS, LMK_BLOCK_LEAST) lmk_block_step_simple(LMK_ARGUMENT lmk_device_block_step step)
{
  LMK_SHARED int32_t entries[LMK_BLOCK_SHARE * LMK_ENTRIES];
  LMK_NAME(shared) shared;
  shared.entries = entries;
  shared.frames = 0;
  LMK_NAME(share_entries)(&step, entries);
  LMK_BARRIER();
  LMK_NO_UNROLL
  for (int32_t round = 0; round < LMK_BLOCK_ROUNDS; round++)
    LMK_NAME(step_cells)(&step, &shared, round, true);
}

LMK_KERNEL LMK_BOUNDS(LMK_BLOCK_THREADS, LMK_BLOCK_LEAST_ANY)
  lmk_block_step_any(LMK_ARGUMENT lmk_device_block_step step)
{
  LMK_SHARED int32_t entries[LMK_BLOCK_SHARE * LMK_ENTRIES];
  LMK_SHARED LMK_NAME(frame) frames[LMK_BLOCK_SHARE * LMK_ENTRIES];
  LMK_NAME(shared) shared;
  shared.entries = entries;
  shared.frames = frames;
  LMK_NAME(share_entries)(&step, entries);
  LMK_NAME(share_frames)(&step, frames);
  LMK_BARRIER();
  LMK_NO_UNROLL
  for (int32_t round = 0; round < LMK_BLOCK_ROUNDS; round++)
    LMK_NAME(step_cells)(&step, &shared, round, false);
}

#if LMK_SPECIAL
#include "outflow_cuda.h"
#else
#include "block_planes_cuda.h"
#endif
#include "watch_cuda.h"
