/* SPDX-License-Identifier: Apache-2.0 */
/* Every command and every benchmark, in the order in which help lists them. X(name) stands for lmi_command_name,
 * defined in cmd_name.c, and for lmi_bench_name, defined in bench_name.c. */
#ifndef LMI_COMMAND_LIST_H
#define LMI_COMMAND_LIST_H

#define LMI_COMMAND_LIST(X) \
  X(run)                    \
  X(plan)                   \
  X(bench)                  \
  X(render)                 \
  X(voxelize)               \
  X(doctor)                 \
  X(machine)                \
  X(record)                 \
  X(report)                 \
  X(inject)                 \
  X(interfere)              \
  X(place)                  \
  X(schedule)               \
  X(help)

#define LMI_BENCH_LIST(X) X(dense) X(halo) X(levels) X(registers) X(machine)

#endif
