/* SPDX-License-Identifier: Apache-2.0 */
/* Names the groups of a population field for a memory profiler: a profile then speaks of level0/private, not of
 * addresses. Costs a look at the environment when nobody records. */
#include <stdio.h>

#include "dense_flow.h"
#include <lamina/phase.h>

enum { NAME_BYTES = 64 };

/* Planes [first, first + count) of a piece as one object; they are neighbours in memory in every layout but SoA. */
static void name_planes(const lmi_field *field, int slab, int64_t first, int64_t count, const char *group)
{
  if (count <= 0)
    return;
  const lmi_field_piece *piece = &field->pieces[slab];
  const int64_t begin = lmi_layout_element(&piece->layout, 0, first);
  const int64_t end = first + count < piece->layout.stored_planes ? lmi_layout_element(&piece->layout, 0, first + count)
                                                                  : piece->layout.elements;
  char name[NAME_BYTES];
  snprintf(name, sizeof name, "level0/slab%d/%s", slab, group);
  const size_t bytes = field->request.element_bytes;
  lamina_phase_name_object((const char *)piece->memory + (size_t)begin * bytes, (size_t)(end - begin) * bytes, name);
}

static void name_slab(const lmi_field *field, int slab)
{
  const lmi_layout_request *request = &field->pieces[slab].layout.request;
  const lmi_slab *place = &field->partition->slabs[slab];
  const int64_t low = request->low_planes, planes = request->planes;
  if (request->layout == LAMINA_LAYOUT_SOA || (place->lower < 0 && place->upper < 0)) {
    name_planes(field, slab, 0, field->pieces[slab].layout.stored_planes, "populations");
    return;
  }
  name_planes(field, slab, 0, low, "lower_halo");
  name_planes(field, slab, low, 1, "lower_boundary");
  name_planes(field, slab, low + 1, planes - 2, "private");
  if (planes > 1)
    name_planes(field, slab, low + planes - 1, 1, "upper_boundary");
  name_planes(field, slab, low + planes, request->high_planes, "upper_halo");
}

void lmi_dense_flow_name_memory(const lmi_dense_flow *flow)
{
  for (int i = 0; i < flow->field_count; i++)
    for (int slab = flow->partition.own_first; slab < flow->partition.own_first + flow->partition.own_count; slab++)
      name_slab(&flow->fields[i], slab);
}
