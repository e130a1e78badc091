/* SPDX-License-Identifier: Apache-2.0 */
/* Force and torque on a body, from what its links handed over in the last step. */
#include "boundary_cells.h"

#include "base/ranks.h"

/* The momentum a link hands over: c_i (f*_i + f_q), i towards the body, with the weights that storage leaves out; and
 * with a moving surface the part its own velocity takes (Wen and others 2014), f*_i - f_q being -push at half-way. */
static void add_link(const lmi_boundary *b, int q, int64_t link, lmi_load *load)
{
  double force[3];
  const int body = b->links[link].body;
  const int8_t *c = b->way[link];
  const double exchanged = lmi_boundary_real(b, b->exchange, link) + 2.0 * b->lattice->weight[q];
  const double push = b->motion[body] * lmi_boundary_real(b, b->push, link);
  const double *arm = b->arm[link];
  for (int axis = 0; axis < 3; axis++) {
    force[axis] = c[axis] * exchanged + b->motion[body] * b->surface[link][axis] * push;
    load->force[axis] += force[axis];
  }
  load->torque[0] += arm[1] * force[2] - arm[2] * force[1];
  load->torque[1] += arm[2] * force[0] - arm[0] * force[2];
  load->torque[2] += arm[0] * force[1] - arm[1] * force[0];
}

static void add_load(const lmi_load *part, lmi_load *load)
{
  for (int axis = 0; axis < 3; axis++) {
    load->force[axis] += part->force[axis];
    load->torque[axis] += part->torque[axis];
  }
}

static void sum_planes(const lmi_boundary *b, int body, lmi_load *planes)
{
  for (int64_t i = 0; i < b->item_count; i++) {
    const int64_t item = b->order[i];
    const lmk_special *special = &b->special[item];
    int64_t link = special->first_link;
    for (int q = 0; q < b->lattice->velocities; q++)
      if ((special->links >> q & 1u) != 0) {
        if (b->links[link].body == body - 1)
          add_link(b, q, link, &planes[b->cells[item].z]);
        link++;
      }
  }
}

/* Plane by plane, then the planes in order: so do ranks that hold planes. */
lamina_status lmi_boundary_sum_load(const lmi_boundary *b, int body, lmi_load *load)
{
  lmi_load *planes = NULL;
  *load = (lmi_load){0};
  lamina_status status = lmi_ranks_settle(b->ctx, LMI_ALLOC(b->ctx, (size_t)b->extent[2], &planes));
  if (status == LAMINA_OK) {
    sum_planes(b, body, planes);
    status = lmi_ranks_merge_bits(b->ctx, planes, (size_t)b->extent[2] * sizeof *planes);
  }
  for (int64_t plane = 0; status == LAMINA_OK && plane < b->extent[2]; plane++)
    add_load(&planes[plane], load);
  lmi_free(b->ctx, planes);
  return status;
}
