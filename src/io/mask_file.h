/* SPDX-License-Identifier: Apache-2.0 */
/* Which cells are solid, as a file for ParaView: one array "body" of cell data, 0 in the fluid, k in body k. */
#ifndef LMI_MASK_FILE_H
#define LMI_MASK_FILE_H

#include "field_file.h"
#include "flow/voxels.h"

/* Writes NAME.vti (one or two bytes a cell; every VTK opens it) or NAME.vtkhdf (a field file, see field_file.h).
 * frame.cells must be those of the voxels. Errors: ARGUMENT (another ending), FILE, UNAVAILABLE, MEMORY. */
LAMINA_NODISCARD lamina_status lmi_mask_file_write(lamina_context *ctx, const char *path, const lmi_voxels *voxels,
                                                   const lmi_field_frame *frame);

/* ARGUMENT unless the name ends in one of the two. */
LAMINA_NODISCARD lamina_status lmi_mask_file_check_name(lamina_context *ctx, const char *path);

#endif
