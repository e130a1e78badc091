/* SPDX-License-Identifier: Apache-2.0 */
#include <glob.h>
#include <stdlib.h>

#include "fuzz.h"
#include "io/stl.h"

/* Scaled to a box of 24 cells: what is read is voxelized too. */
static void voxelize(lamina_context *ctx, const lmi_stl *stl)
{
  const double size[3] = {stl->high.x - stl->low.x, stl->high.y - stl->low.y, stl->high.z - stl->low.z};
  const double most = size[0] > size[1] ? size[0] : size[1], widest = most > size[2] ? most : size[2];
  if (!(widest > 0 && widest < 1e300))
    return;
  const double scale = 20.0 / widest;
  const lamina_pose placement = {.scale = scale,
                                 .at = {2 - scale * stl->low.x, 2 - scale * stl->low.y, 2 - scale * stl->low.z}};
  const lmi_voxel_grid grid = {.cells = {24, 24, 24}};
  lamina_geometry *geometry = NULL;
  lmi_voxels voxels = {0};
  lmi_thin_part parts[2];
  size_t count;
  lamina_status status = lamina_geometry_create(ctx, &geometry);
  if (status == LAMINA_OK)
    status = lamina_geometry_add_mesh(geometry, &stl->mesh, &placement, NULL);
  if (status == LAMINA_OK)
    status = lmi_geometry_voxelize(ctx, geometry, &grid, NULL, &voxels);
  if (status == LAMINA_OK)
    status = lmi_geometry_find_thin(ctx, &voxels, 2, parts, &count);
  if (status != LAMINA_OK)
    lamina_error_clear(ctx);
  lmi_voxels_free(ctx, &voxels);
  lamina_geometry_destroy(geometry);
}

int lmi_fuzz_one(const uint8_t *data, size_t bytes)
{
  (void)data, (void)bytes;
  lamina_context *ctx = lmi_fuzz_context();
  for (int repair = 0; repair < 2; repair++) {
    lmi_stl stl;
    if (lmi_stl_read(ctx, "input", repair, &stl) == LAMINA_OK)
      voxelize(ctx, &stl);
    else
      lamina_error_clear(ctx);
    lmi_stl_free(ctx, &stl);
  }
  lamina_context_destroy(ctx);
  return 0;
}

void lmi_fuzz_seed(lmi_fuzz_add *add)
{
  glob_t found;
  if (glob(LAMINA_SOURCE_DIR "/tests/data/stl/*.stl", 0, NULL, &found) != 0)
    return;
  for (size_t i = 0; i < found.gl_pathc; i++)
    lmi_fuzz_add_file(found.gl_pathv[i], add);
  globfree(&found);
}
