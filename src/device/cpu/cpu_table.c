/* SPDX-License-Identifier: Apache-2.0 */
#include "cpu.h"

#include "cpu_kernel_table.h"

typedef struct table_row {
  lamina_lattice lattice;
  lamina_collision collision;
  lamina_precision precision;
  bool force;
  lmk_update_rows_function *update_rows;
  lmk_update_run_function *update_run;
} table_row;

static const table_row rows[] = {LMI_CPU_KERNEL_ROWS};

static const table_row *find_row(const lmi_dense_key *key)
{
  for (size_t i = 0; i < LMI_COUNT(rows); i++)
    if (rows[i].lattice == key->lattice && rows[i].collision == key->collision && rows[i].precision == key->precision &&
        rows[i].force == key->force)
      return &rows[i];
  return NULL;
}

lmk_update_rows_function *lmi_cpu_row_kernel(const lmi_dense_key *key)
{
  const table_row *row = find_row(key);
  return row != NULL ? row->update_rows : NULL;
}

lmk_update_run_function *lmi_cpu_run_kernel(const lmi_dense_key *key)
{
  const table_row *row = find_row(key);
  return row != NULL ? row->update_run : NULL;
}

typedef struct block_row {
  lamina_lattice lattice;
  lamina_precision precision;
  lmk_update_blocks_function *update_blocks;
} block_row;

static const block_row block_rows[] = {LMI_CPU_BLOCK_ROWS};

lmk_update_blocks_function *lmi_cpu_block_kernel(const lmi_dense_key *key)
{
  for (size_t i = 0; i < LMI_COUNT(block_rows); i++)
    if (block_rows[i].lattice == key->lattice && block_rows[i].precision == key->precision)
      return block_rows[i].update_blocks;
  return NULL;
}
