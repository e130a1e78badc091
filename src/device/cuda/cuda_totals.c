/* SPDX-License-Identifier: Apache-2.0 */
/* Totals: sums of columns, then of segments, on the first unit (kernel/totals_cuda.h). The host adds the rest. */
#include "cuda_internal.h"

#include "kernel/totals_cuda_arguments.h"

static const char TEXT[] = "#include \"prelude_cuda.h\"\n#include \"totals.h\"\n"
                           "#include \"totals_cuda_arguments.h\"\n#include \"totals_cuda.h\"\n";

enum { MAX_GRID_Z = 65535 };

static lamina_status launch(lmi_cuda_device *cuda, const char *name, unsigned threads, unsigned rows, unsigned planes,
                            lmk_device_totals *arguments)
{
  lmi_cu_function function = NULL;
  void *parameters[] = {arguments};
  const unsigned blocks = (threads + LMK_TOTALS_THREADS - 1) / LMK_TOTALS_THREADS;
  LMI_TRY(lmi_cuda_module_function(cuda, 0, "totals", TEXT, name, &function));
  return lmi_cuda_check(cuda->base.ctx, &cuda->api,
                        cuda->api.launch(function, blocks, rows, planes, LMK_TOTALS_THREADS, 1, 1, 0,
                                         cuda->units[0].stream, parameters, NULL),
                        "summing planes");
}

lamina_status lmi_cuda_sum_planes(lmi_device *device, const lmk_totals *totals, lmk_sums *segments)
{
  lmi_cuda_device *cuda = (lmi_cuda_device *)device;
  const int64_t rows = lmk_segments(totals);
  LMI_REQUIRE(device->ctx, rows <= MAX_GRID_Z && totals->count <= MAX_GRID_Z, LAMINA_ERROR_ARGUMENT,
              "%lld planes of %lld rows at once: at most %d planes and %d rows", (long long)totals->count,
              (long long)totals->ny, MAX_GRID_Z, MAX_GRID_Z * LMK_SEGMENT_ROWS);
  const size_t segment_count = (size_t)(rows * totals->count), column_count = segment_count * (size_t)totals->nx;
  const size_t segment_bytes = segment_count * sizeof *segments;
  LMI_TRY(lmi_cuda_enter(cuda, 0));
  LMI_TRY(lmi_cuda_require_bytes(cuda, 0, segment_bytes + column_count * sizeof *segments, &cuda->sums));
  lmk_device_totals arguments = {
    .totals = *totals,
    .segments = (lmk_sums *)(uintptr_t)cuda->sums.memory,
    .columns = (lmk_sums *)(uintptr_t)(cuda->sums.memory + segment_bytes),
  };
  LMI_TRY(launch(cuda, "lmk_sum_columns", (unsigned)totals->nx, (unsigned)rows, (unsigned)totals->count, &arguments));
  LMI_TRY(launch(cuda, "lmk_sum_segments", (unsigned)segment_count, 1, 1, &arguments));
  return lmi_cuda_fetch(device, 0, segments, arguments.segments, segment_bytes);
}
