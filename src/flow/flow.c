/* SPDX-License-Identifier: Apache-2.0 */
#include "flow.h"

#include <math.h>

#include "kernel/block.h"

#define TABLE_ROW(enumerator, name) [enumerator] = &lmi_##name##_flow_ops,
static const lmi_flow_ops *const rows[] = {LMI_FLOWS(TABLE_ROW)};

const lmi_flow_ops *lmi_flow_find(lamina_grid_kind grid)
{
  return (size_t)grid < LMI_COUNT(rows) ? rows[grid] : NULL;
}

static bool is_flat(const lamina_solver_options *options)
{
  return lamina_lattice_dimension(options->lattice) == 2;
}

lamina_int3 lmi_kernel_cells(const lamina_solver_options *options)
{
  const lamina_int3 cells = options->cells;
  return is_flat(options) ? (lamina_int3){cells.x, 1, cells.y} : cells;
}

int lmi_kernel_axis(const lamina_solver_options *options, int axis)
{
  return is_flat(options) && axis > 0 ? 3 - axis : axis;
}

int lmi_kernel_face(const lamina_solver_options *options, int face)
{
  return 2 * lmi_kernel_axis(options, face / 2) + face % 2;
}

void lmi_kernel_vector(const lamina_solver_options *options, lamina_real3 v, double out[3])
{
  const bool flat = is_flat(options);
  out[0] = v.x;
  out[1] = flat ? 0.0 : v.y;
  out[2] = flat ? v.y : v.z;
}

bool lmi_is_periodic(const lamina_solver_options *options, int kernel_axis)
{
  return options->faces[2 * lmi_kernel_axis(options, kernel_axis)].kind == LAMINA_FACE_PERIODIC;
}

bool lmi_has_force(const lamina_solver_options *options)
{
  const lamina_real3 f = options->force;
  return f.x != 0.0 || f.y != 0.0 || f.z != 0.0;
}

size_t lmi_precision_bytes(const lamina_solver_options *options)
{
  return options->precision == LAMINA_F64 ? sizeof(double) : sizeof(float);
}

int lmi_streaming_rule(lamina_streaming streaming)
{
  switch (streaming) {
  case LAMINA_TWO_GRID: return LMK_TWO_GRID;
  case LAMINA_AA: return LMK_AA;
  case LAMINA_ESOTERIC_PULL: break;
  }
  return LMK_ESOTERIC_PULL;
}

lmk_rates lmi_make_rates(const lamina_solver_options *options)
{
  lmk_rates rates = {
    .omega = options->omega,
    .omega_minus = 1.0 / (0.5 + options->magic / (1.0 / options->omega - 0.5)),
    .les = 18.0 * sqrt(2.0) * options->smagorinsky * options->smagorinsky,
  };
  lmi_kernel_vector(options, options->force, rates.force);
  return rates;
}

/* f_q is found where the upstream cell wrote it, f*_q is written where the rule says. */
lmi_halo_access lmi_streaming_halo(const lmi_lattice *lattice, int rule, int parity)
{
  lmi_halo_access access = {0};
  const int velocities = lattice->velocities;
  for (int q = 0; q < velocities; q++) {
    const int cz = lattice->c[q][2];
    if (cz == 0)
      continue;
    const lmk_target sent = lmk_stream_target(rule, 1 - parity, q, velocities);
    if (sent.shift == 0) {
      if (cz > 0)
        access.read_low |= 1u << sent.slot;
      else
        access.read_high |= 1u << sent.slot;
    }
    const lmk_target target = lmk_stream_target(rule, parity, q, velocities);
    if (target.shift == 1) {
      if (cz > 0)
        access.write_high |= 1u << target.slot;
      else
        access.write_low |= 1u << target.slot;
    }
  }
  return access;
}

void lmi_flow_count_messages(const lmi_partition *partition, const lmi_schedule *schedule, lamina_solver_info *info)
{
  int faces = 0;
  for (int p = 0; p < partition->count; p++)
    faces += partition->slabs[p].upper >= 0;
  if (faces == 0)
    return;
  /* A face carries what two neighbours send each other: as much as a slab in the middle sends on its two sides. */
  info->alpha = (int)(schedule->traffic.messages / faces + 0.5);
  info->beta_values = (lamina_index)(schedule->traffic.values / faces + 0.5);
}

lmi_device_options lmi_flow_device_options(lamina_context *ctx, const lamina_solver_options *options)
{
  return (lmi_device_options){
    .threads = lamina_context_thread_count(ctx),
    .ordinals = options->devices,
    .ordinal_count = options->device_count,
  };
}

void lmi_block_momentum(const lamina_solver_options *options, const lmi_lattice *lattice, lmk_block_step *step)
{
  for (int face = 0; face < LMK_FACES; face++) {
    const lamina_face *given = &options->faces[face];
    if (given->kind != LAMINA_FACE_WALL)
      continue;
    double u[3];
    lmi_kernel_vector(options, given->velocity, u);
    for (int q = 0; q < lattice->velocities; q++) {
      const int8_t *c = lattice->c[q];
      const double push = 6.0 * lattice->weight[q] * (c[0] * u[0] + c[1] * u[1] + c[2] * u[2]);
      step->momentum[1 + lmi_kernel_face(options, face)][q] = push;
      step->has_momentum = step->has_momentum || push != 0.0;
    }
  }
}
