/* SPDX-License-Identifier: Apache-2.0 */
#include "partition.h"

lamina_status lmi_partition_create(lamina_context *ctx, int64_t planes, int count, bool is_periodic,
                                   lmi_partition *partition)
{
  *partition = (lmi_partition){0};
  LMI_REQUIRE(ctx, count >= 1, LAMINA_ERROR_ARGUMENT, "%d partitions: at least 1 is needed", count);
  LMI_REQUIRE(ctx, count <= planes, LAMINA_ERROR_ARGUMENT,
              "%d partitions of %lld planes: the last axis has %lld planes, so at most %lld partitions", count,
              (long long)planes, (long long)planes, (long long)planes);
  LMI_TRY(LMI_ALLOC(ctx, (size_t)count, &partition->slabs));
  partition->count = count;
  partition->is_periodic = is_periodic;
  for (int p = 0; p < count; p++) {
    lmi_slab *slab = &partition->slabs[p];
    slab->first = planes * p / count;
    slab->planes = planes * (p + 1) / count - slab->first;
    const bool joined = is_periodic && count > 1;
    slab->lower = p > 0 ? p - 1 : joined ? count - 1 : -1;
    slab->upper = p < count - 1 ? p + 1 : joined ? 0 : -1;
  }
  return LAMINA_OK;
}

void lmi_partition_free(lamina_context *ctx, lmi_partition *partition)
{
  lmi_free(ctx, partition->slabs);
  *partition = (lmi_partition){0};
}

int lmi_partition_owner(const lmi_partition *partition, int64_t plane)
{
  int low = 0, high = partition->count - 1;
  while (low < high) {
    const int middle = (low + high + 1) / 2;
    if (partition->slabs[middle].first <= plane)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}
