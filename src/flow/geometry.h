/* SPDX-License-Identifier: Apache-2.0 */
/* Old name of voxels.h, until nobody includes it. */
#ifndef LMI_GEOMETRY_H
#define LMI_GEOMETRY_H

#include "voxels.h"

#endif
