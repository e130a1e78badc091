/* SPDX-License-Identifier: Apache-2.0 */
#include "partition.h"

#include "base/ranks.h"

static lamina_status check_count(lamina_context *ctx, int64_t planes, int each, int ranks)
{
  LMI_REQUIRE(ctx, each >= 1, LAMINA_ERROR_ARGUMENT, "%d partitions: at least 1 is needed", each);
  LMI_REQUIRE(ctx, ranks > 1 || each <= planes, LAMINA_ERROR_ARGUMENT,
              "%d partitions of %lld planes: the last axis has %lld planes, so at most %lld partitions", each,
              (long long)planes, (long long)planes, (long long)planes);
  LMI_REQUIRE(ctx, (int64_t)each * ranks <= planes, LAMINA_ERROR_ARGUMENT,
              "%d ranks x %d partitions: the last axis has %lld planes, so at most %lld ranks with %d partitions each",
              ranks, each, (long long)planes, (long long)(planes / each), each);
  return LAMINA_OK;
}

lamina_status lmi_partition_create(lamina_context *ctx, int64_t planes, int each, bool is_periodic,
                                   lmi_partition *partition)
{
  *partition = (lmi_partition){0};
  LMI_TRY(check_count(ctx, planes, each, lamina_rank_count(ctx)));
  const int count = each * lamina_rank_count(ctx);
  LMI_TRY(LMI_ALLOC(ctx, (size_t)count, &partition->slabs));
  partition->count = count;
  partition->own_first = lamina_rank(ctx) * each;
  partition->own_count = each;
  partition->is_periodic = is_periodic;
  for (int p = 0; p < count; p++) {
    lmi_slab *slab = &partition->slabs[p];
    slab->first = planes * p / count;
    slab->planes = planes * (p + 1) / count - slab->first;
    slab->rank = p / each;
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

bool lmi_partition_is_own(const lmi_partition *partition, int slab)
{
  return slab >= partition->own_first && slab < partition->own_first + partition->own_count;
}

void lmi_partition_planes(const lmi_partition *partition, int rank, int64_t *first, int64_t *count)
{
  const lmi_slab *low = &partition->slabs[rank * partition->own_count], *high = low + partition->own_count - 1;
  *first = low->first;
  *count = high->first + high->planes - low->first;
}
