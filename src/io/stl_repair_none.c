/* SPDX-License-Identifier: Apache-2.0 */
/* Repair in a build without admesh. */
#include "stl.h"

lamina_status lmi_stl_repair(lamina_context *ctx, const char *path, lmi_stl *stl, lmi_facets *facets)
{
  (void)facets;
  return lmi_fail(
    ctx, LAMINA_UNAVAILABLE,
    "%s: %zu open edges, and this build cannot repair: install libadmesh-dev and configure again, or close "
    "the mesh where it was made",
    path, stl->open.count);
}
