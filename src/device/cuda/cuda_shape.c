/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers here are measured (docs/dev/cuda.md): rows begin on whole 128-byte lines, a thread moves four cells at a
 * time where registers allow, and a block covers a row or a few. */
#include "cuda_shape.h"

#include <stdio.h>
#include <stdlib.h>

enum { LINE_BYTES = 128, SECTOR_BYTES = 32, BLOCK_THREADS = 128, WARP = 32, MAX_BLOCK_Z = 64, HALF_THREADS = 64 };
enum { CELLS_OF_A_BLOCK = 64 };

static int64_t round_up(int64_t value, int64_t unit)
{
  return (value + unit - 1) / unit * unit;
}

/* Cells a thread can hold without spilling registers: Q populations and about as many addresses each. */
static int most_lanes(const lmi_dense_key *key)
{
  if (key->layout == LAMINA_LAYOUT_AOS)
    return 1;
  if (key->precision == LAMINA_F64)
    return key->lattice == LAMINA_D3Q27 ? 1 : 2;
  return 4;
}

/* The largest that divides the row. */
static int lanes_for(const lmi_dense_key *key)
{
  int lanes = most_lanes(key);
  while (key->nx % lanes != 0)
    lanes /= 2;
  return lanes;
}

/* Multiples of a warp up to `widest`; of those that leave the fewest threads idle, the largest. */
static int block_width(int64_t vectors, int widest)
{
  if (vectors < WARP) {
    int width = 1;
    while (width < vectors)
      width *= 2;
    return width;
  }
  int best = WARP;
  for (int width = WARP; width <= widest; width *= 2)
    if (round_up(vectors, width) <= round_up(vectors, best))
      best = width;
  return best;
}

/* Blocks of a multiprocessor that registers must leave room for; 1: as the compiler likes. For halves the latency that
 * more warps hide is worth the few bytes that spill; slabs that are joined need more addresses, which the compiler
 * keeps where one slab's fit when it has to. */
static int least_blocks(const lmi_dense_key *key)
{
  if (key->joined && key->streaming == LAMINA_ESOTERIC_PULL && key->layout == LAMINA_LAYOUT_PLANE &&
      key->precision == LAMINA_F32 && key->storage == LAMINA_STORAGE_FULL &&
      (key->collision == LAMINA_BGK || key->collision == LAMINA_CUMULANT))
    return key->lattice == LAMINA_D3Q19 ? 4 : key->lattice == LAMINA_D3Q27 ? 3 : 1;
  if (key->storage != LAMINA_STORAGE_F16 || key->collision != LAMINA_BGK)
    return 1;
  return key->lattice == LAMINA_D3Q19 ? 10 : key->lattice == LAMINA_D3Q27 ? 6 : 1;
}

static void cut_blocks(const lmi_dense_key *key, lmi_cuda_shape *shape)
{
  const bool is_cumulant = key->lattice == LAMINA_D3Q27 && key->collision == LAMINA_CUMULANT;
  const bool is_half = key->storage == LAMINA_STORAGE_F16, likes_tall = is_half || is_cumulant;
  const int width = block_width(key->nx / shape->lanes, likes_tall ? WARP : BLOCK_THREADS);
  const int rest = (is_half ? HALF_THREADS : BLOCK_THREADS) / width; /* the last round of small blocks is short */
  const bool single_rows = key->ny == 1;
  shape->block[0] = width;
  shape->block[1] = single_rows ? 1 : rest;
  shape->block[2] = !single_rows ? 1 : rest < MAX_BLOCK_Z ? rest : MAX_BLOCK_Z;
  shape->least_blocks = least_blocks(key);
}

/* LAMINA_CUDA_SHAPE="LANES,X,Y,LEAST_BLOCKS": for the measurements these numbers come from. */
static void override_for_tuning(lmi_cuda_shape *shape)
{
  const char *wanted = getenv("LAMINA_CUDA_SHAPE");
  int numbers[4];
  if (wanted == NULL || sscanf(wanted, "%d,%d,%d,%d", &numbers[0], &numbers[1], &numbers[2], &numbers[3]) != 4)
    return;
  shape->lanes = numbers[0];
  shape->block[0] = numbers[1];
  shape->block[1] = numbers[2];
  shape->least_blocks = numbers[3];
}

static int element_bits(const lmi_dense_key *key)
{
  if (key->storage == LAMINA_STORAGE_F16)
    return 16;
  return key->precision == LAMINA_F64 ? 64 : 32;
}

lmi_cuda_shape lmi_cuda_shape_for(const lmi_dense_key *key)
{
  lmi_cuda_shape shape = {.lanes = lanes_for(key), .element_bits = element_bits(key)};
  const int64_t element_bytes = shape.element_bits / 8;
  const int64_t spare = lamina_lattice_dimension(key->lattice) == 3; /* in front of the rows, and behind them */
  const int64_t rows = key->ny + 2 * spare;
  const bool strided = key->layout == LAMINA_LAYOUT_AOS;
  const int64_t row_bytes = key->nx * element_bytes;
  const int64_t unit = strided ? 1 : (row_bytes >= 2 * LINE_BYTES ? LINE_BYTES : SECTOR_BYTES) / element_bytes;
  const int64_t row = round_up(key->nx, unit);
  shape.plane = (lmi_plane_shape){
    .row = row,
    .spare_row = row * (key->ny + spare),
    .column = row * rows + spare,
    .places = strided ? row * rows + rows : round_up(row * rows + rows, LINE_BYTES / element_bytes),
    .packed = true,
  };
  shape.origin = row * spare;
  shape.rest_density = key->storage == LAMINA_STORAGE_F16 ? 32768.0 : 1.0;
  cut_blocks(key, &shape);
  override_for_tuning(&shape);
  return shape;
}

/* ---- blocks of cells ---- */

/* Thread blocks of a multiprocessor that registers must leave room for, without spilling any. */
static int block_least(const lmi_dense_key *key)
{
  if (key->special)
    return 1;
  if (key->precision == LAMINA_F64)
    return key->lattice == LAMINA_D2Q9 ? 6 : key->lattice == LAMINA_D3Q19 ? 4 : 2;
  if (key->lattice == LAMINA_D3Q27)
    return key->force ? 4 : 6;
  return key->collision == LAMINA_BGK && !key->force ? 9 : 8;
}

/* LAMINA_CUDA_BLOCKS="LANES,BLOCKS,LEAST_BLOCKS,ROUNDS" for plain kernels over blocks: for measurements. */
static void override_blocks(const lmi_dense_key *key, lmi_cuda_shape *shape, int *group)
{
  const char *wanted = getenv("LAMINA_CUDA_BLOCKS");
  int numbers[4];
  if (key->special || wanted == NULL ||
      sscanf(wanted, "%d,%d,%d,%d", &numbers[0], &numbers[1], &numbers[2], &numbers[3]) != 4)
    return;
  shape->lanes = numbers[0];
  *group = numbers[1];
  shape->least_blocks = numbers[2];
  shape->rounds = numbers[3];
}

/* Two blocks of cells to a thread block: small ones fill a multiprocessor better than large ones, which wait for their
 * slowest (docs/dev/cuda.md). */
lmi_cuda_shape lmi_cuda_block_shape_for(const lmi_dense_key *key)
{
  lmi_cuda_shape shape = {
    .element_bits = element_bits(key),
    .rest_density = key->storage == LAMINA_STORAGE_F16 ? 32768.0 : 1.0,
    .lanes = 1,
    .least_blocks = block_least(key),
    .least_blocks_any = 1,
    .rounds = 1,
  };
  int group = 2;
  override_blocks(key, &shape, &group);
  shape.block[0] = group * CELLS_OF_A_BLOCK / shape.lanes;
  shape.block[1] = shape.block[2] = 1;
  return shape;
}
