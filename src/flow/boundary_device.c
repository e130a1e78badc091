/* SPDX-License-Identifier: Apache-2.0 */
/* The arrays of special cells on a device that works on copies of them. */
#include "boundary_cells.h"

typedef struct boundary_array {
  const void *memory;
  size_t bytes;
  unsigned kind; /* LMI_BOUNDARY_* */
} boundary_array;

enum { PLAIN_ARRAYS = 9, MOST_ARRAYS = PLAIN_ARRAYS + 2 * LMK_FACES };

static size_t list_arrays(const lmi_boundary *b, boundary_array list[MOST_ARRAYS])
{
  const size_t items = (size_t)b->item_count, links = (size_t)b->link_count, real = b->real_bytes;
  const boundary_array plain[PLAIN_ARRAYS] = {
    {b->special, items * sizeof *b->special, LMI_BOUNDARY_TABLES},
    {b->links, links * sizeof *b->links, LMI_BOUNDARY_TABLES},
    {b->push, links * real, LMI_BOUNDARY_TABLES},
    {b->faces, sizeof b->faces, LMI_BOUNDARY_SETTINGS},
    {b->velocity, 3 * items * real, LMI_BOUNDARY_SETTINGS},
    {b->motion, (size_t)b->body_count * sizeof *b->motion, LMI_BOUNDARY_SETTINGS},
    {b->kept, links * real, LMI_BOUNDARY_STATE},
    {b->exchange, links * real, LMI_BOUNDARY_STATE},
    {b->records, 2 * (size_t)b->set.record_values * real, LMI_BOUNDARY_STATE},
  };
  size_t count = 0;
  for (; count < PLAIN_ARRAYS; count++)
    list[count] = plain[count];
  for (int i = 0; i < b->outflow_count; i++) {
    const lmk_outflow *out = &b->outflows[i];
    const size_t cells = (size_t)out->row_first[out->rows];
    list[count++] =
      (boundary_array){out->row_first, ((size_t)out->rows + 1) * sizeof *out->row_first, LMI_BOUNDARY_TABLES};
    list[count++] = (boundary_array){out->cells, cells * sizeof *out->cells, LMI_BOUNDARY_TABLES};
  }
  return count;
}

lamina_status lmi_boundary_send(lmi_boundary *b, lmi_device *device)
{
  boundary_array list[MOST_ARRAYS];
  b->is_behind = true;
  if (device->ops->send_table == NULL || b->changed == 0)
    return LAMINA_OK;
  const size_t count = list_arrays(b, list);
  for (size_t i = 0; i < count; i++)
    if ((b->changed & list[i].kind) != 0 && list[i].bytes > 0)
      LMI_TRY(device->ops->send_table(device, list[i].memory, list[i].bytes));
  b->changed = 0;
  return LAMINA_OK;
}

lamina_status lmi_boundary_fetch_exchange(lmi_boundary *b, lmi_device *device)
{
  if (device->ops->fetch_table == NULL || !b->is_behind || b->link_count == 0)
    return LAMINA_OK;
  LMI_TRY(device->ops->fetch_table(device, b->exchange, (size_t)b->link_count * b->real_bytes));
  b->is_behind = false;
  return LAMINA_OK;
}
