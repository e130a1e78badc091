/* SPDX-License-Identifier: Apache-2.0 */
/* The host backend: rows of cells on a team of threads. */
#ifndef LMI_CPU_H
#define LMI_CPU_H

#include "device/device.h"
#include "kernel/prelude_host.h"

#include "kernel/naming.h"

#include "kernel/dense.h"

#include "kernel/block_rows.h"
#include "kernel/jump.h"
#include "kernel/rows.h"
#include <lamina/kernel.h>

/* A host kernel runs planes [first, first + count) on the calling thread and returns the first plane with a non-finite
 * value, or -1. */
typedef int64_t lmi_host_function(const lmi_kernel *kernel, const void *arguments, int64_t first, int64_t count);

struct lmi_kernel {
  lmi_host_function *run;
  lmk_update_rows_function *update_rows; /* of the step kernel */
  size_t element_bytes;
  lmk_update_blocks_function *update_blocks; /* of step kernels over blocks, */
  lmk_update_run_function *update_run;       /* how they collide, */
  int part;                                  /* and what they do: LMK_WHOLE_STEP, ... */
};

/* A kernel of a user; the device keeps them in a list until it is closed. */
typedef struct lmi_cpu_cells_kernel {
  lmi_kernel base;
  lamina_run_function *run_cells;
  struct lmi_cpu_cells_kernel *next;
} lmi_cpu_cells_kernel;

/* The kernels of a combination; NULL when it is not shipped. Generated from kernel/combinations.h. */
lmk_update_rows_function *lmi_cpu_row_kernel(const lmi_dense_key *key);

/* How a combination collides runs of cells, and how a lattice's populations move between blocks; NULL alike. */
lmk_update_run_function *lmi_cpu_run_kernel(const lmi_dense_key *key);
lmk_update_blocks_function *lmi_cpu_block_kernel(const lmi_dense_key *key);

/* Binds the band of rows that begins with row y of plane z: addresses, wall terms, and in rows->count how many rows
 * follow alike: rows of the plane or, where a plane is one row, planes up to plane `end`. */
void lmi_cpu_bind_rows(const lmk_step *step, int64_t y, int64_t z, int64_t end, size_t element_bytes, lmk_rows *rows);

lmi_host_function lmi_cpu_step, lmi_cpu_import, lmi_cpu_export, lmi_cpu_moments, lmi_cpu_cells;
lmi_host_function lmi_cpu_blocks, lmi_cpu_aside, lmi_cpu_block_import, lmi_cpu_block_export, lmi_cpu_block_moments;

#endif
