/* SPDX-License-Identifier: Apache-2.0 */
#include "ceiling.h"

#include <math.h>
#include <stdio.h>

#include <lamina/accelerator.h>
#include <lamina/machine.h>

int lmi_stored_bytes(const lamina_solver_options *options)
{
  if (options->storage == LAMINA_STORAGE_F16)
    return 2;
  return options->precision == LAMINA_F64 ? 8 : 4;
}

static lamina_status host_ceiling(lamina_context *ctx, const lamina_solver_options *options, lamina_index cells,
                                  double *mlups)
{
  lamina_stream_probe probe = lamina_stream_probe_default();
  probe.streams = lamina_lattice_velocities(options->lattice);
  probe.element_bytes = lmi_stored_bytes(options);
  probe.cells = cells;
  probe.layout = options->layout == LAMINA_LAYOUT_PLANE ? LAMINA_LAYOUT_PLANE : LAMINA_LAYOUT_SOA;
  probe.plane_cells = options->cells.x * (options->cells.z > 1 ? options->cells.y : 1);
  probe.repetitions = 1;
  lamina_bandwidth bandwidth;
  LMI_TRY(lamina_machine_stream_ceiling(ctx, &probe, &bandwidth));
  *mlups = bandwidth.million_elements.median;
  return LAMINA_OK;
}

static lamina_status device_ceiling(lamina_context *ctx, const lamina_solver_options *options, lamina_index cells,
                                    double *mlups)
{
  lamina_accelerator_probe probe = lamina_accelerator_probe_default();
  probe.ordinal = options->device_count > 0 ? options->devices[0] : 0;
  probe.streams = lamina_lattice_velocities(options->lattice);
  probe.element_bytes = lmi_stored_bytes(options);
  probe.cells = (cells + 1) / 2 * 2;
  probe.repetitions = 1;
  lamina_bandwidth bandwidth;
  LMI_TRY(lamina_accelerator_stream_ceiling(ctx, &probe, &bandwidth));
  *mlups = bandwidth.million_elements.median * (options->device_count > 1 ? options->device_count : 1);
  return LAMINA_OK;
}

double lmi_measure_ceiling(lamina_context *ctx, const lamina_solver_options *options, lamina_index cells, char *reason,
                           size_t capacity)
{
  double mlups = (double)NAN;
  const bool on_device = options->backend == LAMINA_BACKEND_CUDA;
  const lamina_status status =
    on_device ? device_ceiling(ctx, options, cells, &mlups) : host_ceiling(ctx, options, cells, &mlups);
  if (status == LAMINA_OK)
    return mlups;
  snprintf(reason, capacity, "%s", lamina_error_message(ctx));
  lamina_error_clear(ctx);
  return (double)NAN;
}
