/* SPDX-License-Identifier: Apache-2.0 */
/* Everything public. Include this, or the single header you need. */
#ifndef LAMINA_LAMINA_H
#define LAMINA_LAMINA_H

#include <lamina/accelerator.h>
#include <lamina/bench.h>
#include <lamina/case.h>
#include <lamina/context.h>
#include <lamina/features.h>
#include <lamina/geometry.h>
#include <lamina/grid.h>
#include <lamina/host.h>
#include <lamina/inject.h>
#include <lamina/interference.h>
#include <lamina/kernel.h>
#include <lamina/levels.h>
#include <lamina/machine.h>
#include <lamina/memory_profile.h>
#include <lamina/memory_report.h>
#include <lamina/mpi.h>
#include <lamina/record.h>
#include <lamina/scheduling.h>
#include <lamina/solver.h>
#include <lamina/status.h>
#include <lamina/tiers.h>
#include <lamina/types.h>
#include <lamina/version.h>

#endif
