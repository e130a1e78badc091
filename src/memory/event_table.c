/* SPDX-License-Identifier: Apache-2.0 */
#include "event_table.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sysfs.h"

/* config = event | umask << 8; config1 = the value of the offcore response register, or the latency threshold. */

#define INTEL_FLOPS                                                                         \
  {LMI_MEANING_INSTRUCTIONS, "INST_RETIRED.ANY_P", 0x00c0, 0, 0, NULL},                     \
    {LMI_MEANING_FP_F64, "FP_ARITH_INST_RETIRED.SCALAR_DOUBLE", 0x01c7, 0, 0, NULL},        \
    {LMI_MEANING_FP_F32, "FP_ARITH_INST_RETIRED.SCALAR_SINGLE", 0x02c7, 0, 0, NULL},        \
    {LMI_MEANING_FP_F64X2, "FP_ARITH_INST_RETIRED.128B_PACKED_DOUBLE", 0x04c7, 0, 0, NULL}, \
    {LMI_MEANING_FP_F32X4, "FP_ARITH_INST_RETIRED.128B_PACKED_SINGLE", 0x08c7, 0, 0, NULL}, \
    {LMI_MEANING_FP_F64X4, "FP_ARITH_INST_RETIRED.256B_PACKED_DOUBLE", 0x10c7, 0, 0, NULL}, \
    {LMI_MEANING_FP_F32X8, "FP_ARITH_INST_RETIRED.256B_PACKED_SINGLE", 0x20c7, 0, 0, NULL}, \
    {LMI_MEANING_FP_F64X8, "FP_ARITH_INST_RETIRED.512B_PACKED_DOUBLE", 0x40c7, 0, 0, NULL}, \
  {                                                                                         \
    LMI_MEANING_FP_F32X16, "FP_ARITH_INST_RETIRED.512B_PACKED_SINGLE", 0x80c7, 0, 0, NULL   \
  }

static const lmi_event_row skylake_x[] = {
  INTEL_FLOPS,
  {LMI_MEANING_LOCAL_LINES, "OFFCORE_RESPONSE.ALL_DATA_RD.L3_MISS_LOCAL_DRAM", 0x01b7, 0x3f84000491, 0, NULL},
  {LMI_MEANING_REMOTE_LINES, "OFFCORE_RESPONSE.ALL_DATA_RD.L3_MISS_REMOTE_HOP1_DRAM", 0x01bb, 0x3f90000491, 0, NULL},
  {LMI_MEANING_READ_LINES, "OFFCORE_RESPONSE.ALL_DATA_RD.L3_MISS.ANY_SNOOP", 0x01b7, 0x3fbc000491, 0, NULL},
  {LMI_MEANING_L2_PREFETCHES, "OFFCORE_RESPONSE.PF_L2_DATA_RD.ANY_RESPONSE", 0x01b7, 0x10010, 0, NULL},
  {LMI_MEANING_L2_PREFETCHES, "OFFCORE_RESPONSE.PF_L2_RFO.ANY_RESPONSE", 0x01bb, 0x10020, 0, NULL},
  {LMI_MEANING_L2_LINES_IN, "L2_LINES_IN.ALL", 0x1ff1, 0, 0, NULL},
  {LMI_MEANING_L2_USELESS, "L2_LINES_OUT.USELESS_HWPF", 0x04f2, 0, 0, NULL},
  {LMI_MEANING_SAMPLE, "MEM_LOAD_RETIRED.L3_MISS", 0x20d1, 0, 2, NULL},
  {LMI_MEANING_STORE_SAMPLE, "MEM_INST_RETIRED.ALL_STORES", 0x82d0, 0, 2, NULL},
};

static const lmi_event_row ice_lake_x[] = {
  INTEL_FLOPS,
  {LMI_MEANING_LOCAL_LINES, "OCR.READS_TO_CORE.LOCAL_DRAM", 0x01b7, 0x104000477, 0, NULL},
  {LMI_MEANING_REMOTE_LINES, "OCR.READS_TO_CORE.REMOTE_DRAM", 0x01bb, 0x730000477, 0, NULL},
  {LMI_MEANING_READ_LINES, "OCR.READS_TO_CORE.L3_MISS", 0x01b7, 0x3f3fc00477, 0, NULL},
  {LMI_MEANING_L2_PREFETCHES, "OCR.HWPF_L2.ANY_RESPONSE", 0x01bb, 0x10070, 0, NULL},
  {LMI_MEANING_L2_LINES_IN, "L2_LINES_IN.ALL", 0x1ff1, 0, 0, NULL},
  {LMI_MEANING_L2_USELESS, "L2_LINES_OUT.USELESS_HWPF", 0x04f2, 0, 0, NULL},
  {LMI_MEANING_SAMPLE, "MEM_LOAD_RETIRED.L3_MISS", 0x20d1, 0, 2, NULL},
  {LMI_MEANING_STORE_SAMPLE, "MEM_INST_RETIRED.ALL_STORES", 0x82d0, 0, 2, NULL},
};

static const lmi_event_row sapphire_rapids[] = {
  INTEL_FLOPS,
  {LMI_MEANING_LOCAL_LINES, "OCR.READS_TO_CORE.LOCAL_DRAM", 0x012a, 0x104004477, 0, NULL},
  {LMI_MEANING_REMOTE_LINES, "OCR.READS_TO_CORE.REMOTE_DRAM", 0x012b, 0x730004477, 0, NULL},
  {LMI_MEANING_READ_LINES, "OCR.READS_TO_CORE.L3_MISS", 0x012a, 0x3f3fc04477, 0, NULL},
  {LMI_MEANING_L2_PREFETCHES, "OCR.HWPF_L2.ANY_RESPONSE", 0x012b, 0x10070, 0, NULL},
  {LMI_MEANING_L2_LINES_IN, "L2_LINES_IN.ALL", 0x1f25, 0, 0, NULL},
  {LMI_MEANING_L2_USELESS, "L2_LINES_OUT.USELESS_HWPF", 0x0426, 0, 0, NULL},
  {LMI_MEANING_SAMPLE, "MEM_LOAD_RETIRED.L3_MISS", 0x20d1, 0, 2, NULL},
  {LMI_MEANING_STORE_SAMPLE, "MEM_TRANS_RETIRED.STORE_SAMPLE", 0x02cd, 0, 2, NULL},
};

static const lmi_event_row zen_3[] = {
  {LMI_MEANING_INSTRUCTIONS, "RETIRED_INSTRUCTIONS", 0x00c0, 0, 0, NULL},
  {LMI_MEANING_FP_F64, "RETIRED_SSE_AVX_FLOPS.ANY", 0x0f03, 0, 0, NULL},
  {LMI_MEANING_LOCAL_LINES, "ANY_DATA_CACHE_FILLS_FROM_SYSTEM.MEM_IO_LCL", 0x0844, 0, 0, NULL},
  {LMI_MEANING_REMOTE_LINES, "ANY_DATA_CACHE_FILLS_FROM_SYSTEM.MEM_IO_RMT", 0x4044, 0, 0, NULL},
};

static const lmi_event_row zen_4[] = {
  {LMI_MEANING_INSTRUCTIONS, "RETIRED_INSTRUCTIONS", 0x00c0, 0, 0, NULL},
  {LMI_MEANING_FP_F64, "RETIRED_SSE_AVX_FLOPS.ANY", 0x1f03, 0, 0, NULL},
  {LMI_MEANING_LOCAL_LINES, "ANY_DATA_CACHE_FILLS.DRAM_IO_NEAR", 0x0844, 0, 0, NULL},
  {LMI_MEANING_REMOTE_LINES, "ANY_DATA_CACHE_FILLS.DRAM_IO_FAR", 0x4044, 0, 0, NULL},
  {LMI_MEANING_REMOTE_LINES, "ANY_DATA_CACHE_FILLS.ALT_MEM_NEAR_FAR", 0x8044, 0, 0, NULL},
};

/* Two kinds of cores, each with a PMU of its own (intel/perfmon ADL V1.24): flops and misses with addresses are only
 * counted on the large ones. */
static const lmi_event_row alder_lake[] = {
  {LMI_MEANING_INSTRUCTIONS, "INST_RETIRED.ANY_P (cpu_core)", 0x00c0, 0, 0, "cpu_core"},
  {LMI_MEANING_INSTRUCTIONS, "INST_RETIRED.ANY_P (cpu_atom)", 0x00c0, 0, 0, "cpu_atom"},
  {LMI_MEANING_FP_F64, "FP_ARITH_INST_RETIRED.SCALAR_DOUBLE", 0x01c7, 0, 0, "cpu_core"},
  {LMI_MEANING_FP_F32, "FP_ARITH_INST_RETIRED.SCALAR_SINGLE", 0x02c7, 0, 0, "cpu_core"},
  {LMI_MEANING_FP_F64X2, "FP_ARITH_INST_RETIRED.128B_PACKED_DOUBLE", 0x04c7, 0, 0, "cpu_core"},
  {LMI_MEANING_FP_F32X4, "FP_ARITH_INST_RETIRED.128B_PACKED_SINGLE", 0x08c7, 0, 0, "cpu_core"},
  {LMI_MEANING_FP_F64X4, "FP_ARITH_INST_RETIRED.256B_PACKED_DOUBLE", 0x10c7, 0, 0, "cpu_core"},
  {LMI_MEANING_FP_F32X8, "FP_ARITH_INST_RETIRED.256B_PACKED_SINGLE", 0x20c7, 0, 0, "cpu_core"},
  {LMI_MEANING_SAMPLE, "MEM_LOAD_RETIRED.L3_MISS", 0x20d1, 0, 2, "cpu_core"},
};

/* Numbers of the architecture (Arm DDI 0487, common events), which all Neoverse cores have. */
static const lmi_event_row neoverse[] = {
  {LMI_MEANING_INSTRUCTIONS, "INST_RETIRED", 0x08, 0, 0, NULL},
  {LMI_MEANING_READ_LINES, "LL_CACHE_MISS_RD", 0x37, 0, 0, NULL},
  {LMI_MEANING_REMOTE_LINES, "REMOTE_ACCESS", 0x31, 0, 0, NULL},
};

static const char HYBRID_REMARK[] =
  "flops and memory samples are those of the large cores (cpu_core); the small ones have no such "
  "events: not available there";
static const char ARM_REMARK[] =
  "memory traffic is of reads that missed the last level, without write-back; flops are not counted";
static const char INTEL_REMARK[] =
  "a fused multiply-add counts as two instructions in the flop events; memory traffic is of "
  "reads to the cores, without write-back";
static const char AMD_REMARK[] =
  "flops are counted as such, not by vector width, and stand under fp_f64; memory traffic is of "
  "fills of the first-level data cache, without write-back";

static const lmi_event_table tables[] = {
  {"Skylake-X, Cascade Lake", skylake_x, LMI_COUNT(skylake_x), INTEL_REMARK},
  {"Ice Lake-X", ice_lake_x, LMI_COUNT(ice_lake_x), INTEL_REMARK},
  {"Sapphire Rapids, Emerald Rapids", sapphire_rapids, LMI_COUNT(sapphire_rapids), INTEL_REMARK},
  {"AMD Zen 3", zen_3, LMI_COUNT(zen_3), AMD_REMARK},
  {"AMD Zen 4", zen_4, LMI_COUNT(zen_4), AMD_REMARK},
  {"Alder Lake, Raptor Lake", alder_lake, LMI_COUNT(alder_lake), HYBRID_REMARK},
  {"Arm Neoverse", neoverse, LMI_COUNT(neoverse), ARM_REMARK},
};

static const struct {
  const char *vendor;
  int family, first_model, last_model, table;
} models[] = {
  {"GenuineIntel", 6, 85, 85, 0},
  {"GenuineIntel", 6, 106, 106, 1},
  {"GenuineIntel", 6, 108, 108, 1},
  {"GenuineIntel", 6, 143, 143, 2},
  {"GenuineIntel", 6, 207, 207, 2},
  {"AuthenticAMD", 25, 0x00, 0x0f, 3},
  {"AuthenticAMD", 25, 0x20, 0x5f, 3},
  {"AuthenticAMD", 25, 0x10, 0x1f, 4},
  {"AuthenticAMD", 25, 0x60, 0x7f, 4},
  {"AuthenticAMD", 25, 0xa0, 0xaf, 4},
  {"GenuineIntel", 6, 151, 151, 5},
  {"GenuineIntel", 6, 154, 154, 5},
  {"GenuineIntel", 6, 183, 183, 5},
  {"GenuineIntel", 6, 186, 186, 5},
  {"GenuineIntel", 6, 191, 191, 5},
  /* Arm: implementer and part. N1, V1, N2, V2. */
  {"Arm", 0x41, 0xd0c, 0xd0c, 6},
  {"Arm", 0x41, 0xd40, 0xd40, 6},
  {"Arm", 0x41, 0xd49, 0xd49, 6},
  {"Arm", 0x41, 0xd4f, 0xd4f, 6},
};

const char *lmi_meaning_name(lmi_meaning meaning)
{
  static const char *const names[] = {
#define NAME(name, text, count) text,
    LMI_MEANING_LIST(NAME)
#undef NAME
  };
  return (size_t)meaning < LMI_COUNT(names) ? names[meaning] : NULL;
}

int lmi_meaning_count(lmi_meaning meaning)
{
  static const int counts[] = {
#define COUNT(name, text, count) (int)(count),
    LMI_MEANING_LIST(COUNT)
#undef COUNT
  };
  return (size_t)meaning < LMI_COUNT(counts) ? counts[meaning] : -1;
}

const lmi_event_table *lmi_event_table_find(const char *vendor, int family, int model)
{
  for (size_t i = 0; i < LMI_COUNT(models); i++)
    if (strcmp(models[i].vendor, vendor) == 0 && models[i].family == family && model >= models[i].first_model &&
        model <= models[i].last_model)
      return &tables[models[i].table];
  return NULL;
}

/* The value behind "key\t: " at the beginning of a line. */
static const char *cpuinfo_value(const char *text, const char *key, char *value, size_t size)
{
  const size_t length = strlen(key);
  value[0] = '\0';
  for (const char *line = text; line != NULL && *line != '\0';) {
    const char *end = line + strcspn(line, "\n");
    const char *colon = strchr(line, ':');
    if (strncmp(line, key, length) == 0 && (line[length] == '\t' || line[length] == ' ') && line[length + 1] != 'n' &&
        colon != NULL && colon < end) {
      colon += 1 + strspn(colon + 1, " ");
      snprintf(value, size, "%.*s", (int)(end - colon), colon);
      break;
    }
    line = *end == '\n' ? end + 1 : NULL;
  }
  return value;
}

static const lmi_event_table *find_in(const char *text)
{
  char vendor[32], family[16], model[16];
  int64_t family_number = -1, model_number = -1;
  if (lmi_parse_int64(cpuinfo_value(text, "cpu family", family, sizeof family), &family_number) &&
      lmi_parse_int64(cpuinfo_value(text, "model", model, sizeof model), &model_number))
    return lmi_event_table_find(cpuinfo_value(text, "vendor_id", vendor, sizeof vendor), (int)family_number,
                                (int)model_number);
  const long implementer = strtol(cpuinfo_value(text, "CPU implementer", family, sizeof family), NULL, 0);
  const long part = strtol(cpuinfo_value(text, "CPU part", model, sizeof model), NULL, 0);
  return lmi_event_table_find("Arm", (int)implementer, (int)part);
}

lamina_status lmi_event_table_here(lamina_context *ctx, const char *root, const lmi_event_table **table)
{
  lmi_text text = {0};
  *table = NULL;
  LMI_TRY(lmi_sysfs_whole(ctx, root, "/proc/cpuinfo", &text));
  if (text.data != NULL)
    *table = find_in(text.data);
  lmi_text_free(ctx, &text);
  return LAMINA_OK;
}

bool lmi_event_attribute(const char *root, const lmi_event_row *row, struct perf_event_attr *attribute)
{
  int64_t type = PERF_TYPE_RAW;
  if (row->pmu != NULL && !lmi_sysfs_int64(root, &type, "/sys/bus/event_source/devices/%s/type", row->pmu))
    return false;
  attribute->type = (uint32_t)type;
  attribute->config = row->config;
  attribute->config1 = row->config1;
  return true;
}

void lmi_event_coverage(const char *root, const lmi_event_table *table, char *text, size_t size)
{
  const char *last = NULL;
  text[0] = '\0';
  for (size_t i = 0; i < table->count; i++) {
    char processors[128];
    const char *pmu = table->rows[i].pmu;
    if (pmu == NULL || (last != NULL && strcmp(pmu, last) == 0) || strstr(text, pmu) != NULL)
      continue;
    last = pmu;
    const bool is_there =
      lmi_sysfs_text(root, processors, sizeof processors, "/sys/bus/event_source/devices/%s/cpus", pmu);
    const size_t used = strlen(text);
    snprintf(text + used, size - used, "; %s %s%s", pmu, is_there ? "counts on processors " : "is not there",
             is_there ? processors : "");
  }
}
