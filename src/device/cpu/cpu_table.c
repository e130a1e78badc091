/* SPDX-License-Identifier: Apache-2.0 */
#include "cpu.h"

#include "cpu_kernel_table.h"

typedef struct table_row {
  lamina_lattice lattice;
  lamina_collision collision;
  lamina_precision precision;
  bool force;
  lmk_update_rows_function *update_rows;
  lmk_update_level_function *update_level;
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

lmk_update_level_function *lmi_cpu_level_kernel(const lmi_dense_key *key)
{
  const table_row *row = find_row(key);
  return row != NULL ? row->update_level : NULL;
}
