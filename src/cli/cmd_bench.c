/* SPDX-License-Identifier: Apache-2.0 */
/* lamina bench: a table of benchmarks, each in a file bench_NAME.c of its own. */
#include "cli.h"
#include "command_list.h"

#define DECLARE_BENCH(name) extern const lmi_command lmi_bench_##name;
LMI_BENCH_LIST(DECLARE_BENCH)

#define BENCH_ADDRESS(name) &lmi_bench_##name,
static const lmi_command *const bench_table[] = {LMI_BENCH_LIST(BENCH_ADDRESS) NULL};

const lmi_command lmi_command_bench = {
  .name = "bench",
  .summary = "reproduces a table of the papers on this machine",
  .group = LMI_GROUP_SIMULATE,
  .description = "Each row comes with what the model predicts and with its share of the ceiling that is\n"
                 "measured in the same run.",
  .children = bench_table,
};
