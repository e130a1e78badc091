/* SPDX-License-Identifier: Apache-2.0 */
#include "processor_split.h"

#include "lamina/machine.h"

/* The processors to share out: this thread's, on one node if so asked. */
static lamina_status find_usable(lamina_context *ctx, int cpu_node, lmi_processor_split *split, hwloc_bitmap_t usable)
{
  hwloc_bitmap_and(usable, split->all, hwloc_topology_get_allowed_cpuset(split->topology));
  if (cpu_node == LAMINA_NODE_ANY)
    return LAMINA_OK;
  const hwloc_obj_t node = hwloc_get_numanode_obj_by_os_index(split->topology, (unsigned)cpu_node);
  LMI_REQUIRE(ctx, node != NULL && hwloc_bitmap_intersects(usable, node->cpuset), LAMINA_ERROR_ARGUMENT,
              "NUMA node %d has no processors that this process may use", cpu_node);
  hwloc_bitmap_and(usable, usable, node->cpuset);
  return LAMINA_OK;
}

static lamina_status share_out(lamina_context *ctx, int cpu_node, int wanted, lmi_processor_split *split)
{
  hwloc_bitmap_copy(split->all, hwloc_topology_get_allowed_cpuset(split->topology));
  hwloc_get_cpubind(split->topology, split->all, HWLOC_CPUBIND_THREAD);
  LMI_TRY(find_usable(ctx, cpu_node, split, split->program));
  const int usable = hwloc_bitmap_weight(split->program);
  const int count = wanted > 0 ? wanted : usable >= 8 ? usable / 4 : 1;
  LMI_REQUIRE(ctx, count < usable, LAMINA_UNAVAILABLE,
              "%d processor%s for %d thread%s of the injector and the program: the injector would take its processors, "
              "not its memory bandwidth; give this process more processors, or the injector fewer threads",
              usable, usable == 1 ? "" : "s", count, count == 1 ? "" : "s");
  for (int i = 0; i < count; i++) {
    const int last = hwloc_bitmap_last(split->program);
    hwloc_bitmap_set(split->injector, (unsigned)last);
    hwloc_bitmap_clr(split->program, (unsigned)last);
  }
  return LAMINA_OK;
}

lamina_status lmi_processor_split_open(lamina_context *ctx, int cpu_node, int injector_threads,
                                       lmi_processor_split *split)
{
  *split = (lmi_processor_split){0};
  lamina_status status = LAMINA_OK;
  split->all = hwloc_bitmap_alloc();
  split->program = hwloc_bitmap_alloc();
  split->injector = hwloc_bitmap_alloc();
  if (split->all == NULL || split->program == NULL || split->injector == NULL ||
      hwloc_topology_init(&split->topology) != 0 || hwloc_topology_load(split->topology) != 0)
    LMI_TRY_GOTO(status, lmi_fail(ctx, LAMINA_ERROR_SYSTEM, "hwloc could not read this machine's topology"), cleanup);
  status = share_out(ctx, cpu_node, injector_threads, split);
cleanup:
  if (status != LAMINA_OK)
    lmi_processor_split_close(split);
  return status;
}

void lmi_processor_split_use(const lmi_processor_split *split, hwloc_const_bitmap_t which)
{
  hwloc_set_cpubind(split->topology, which, HWLOC_CPUBIND_THREAD);
}

void lmi_processor_split_close(lmi_processor_split *split)
{
  if (split->topology != NULL && split->all != NULL && !hwloc_bitmap_iszero(split->all))
    lmi_processor_split_use(split, split->all);
  hwloc_bitmap_free(split->all);
  hwloc_bitmap_free(split->program);
  hwloc_bitmap_free(split->injector);
  if (split->topology != NULL)
    hwloc_topology_destroy(split->topology);
  *split = (lmi_processor_split){0};
}
