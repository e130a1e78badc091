/* SPDX-License-Identifier: Apache-2.0 */
/* lamina voxelize: what its two files share. */
#ifndef LMI_VOXELIZE_H
#define LMI_VOXELIZE_H

#include "cli.h"
#include "io/field_file.h"
#include "io/stl.h"

struct voxelize_values {
  bool json, repair, quiet;
  int64_t cells, threads;
  double spacing, scale;
  const char *rotate, *out, *preview;
  int axis;
};

enum { LMI_MOST_THIN_PARTS = 16 };

typedef struct lmi_voxelization {
  lmi_call *call;
  lamina_context *ctx;
  const struct voxelize_values *values;
  const char *path;
  lmi_stl stl; /* placed: scaled and turned */
  lamina_geometry *geometry;
  lamina_body_info body; /* in cells */
  lmi_field_frame frame; /* the box of cells, in metres */
  lmi_voxels voxels;
  lmi_thin_part thin[LMI_MOST_THIN_PARTS];
  size_t thin_count;
  double shadows[3]; /* m2 */
  double read_seconds, voxelize_seconds;
  bool is_voxelized;
} lmi_voxelization;

lamina_status lmi_voxelize_print(const lmi_voxelization *v);

/* Cells behind each other along the axis, as a picture. */
LAMINA_NODISCARD lamina_status lmi_voxelize_preview(const lmi_voxelization *v);

#endif
