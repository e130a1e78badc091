/* SPDX-License-Identifier: Apache-2.0 */
/* Samples of the processor's clock with the user's registers. They need neither hardware counters nor rights. The code
 * at the sample is decoded and the addresses of its accesses are computed from the registers; one of them, drawn
 * evenly, is what the sample counts. Shares are of time, not of accesses: code that waits for memory is seen more often
 * than code that does not. */
#define _GNU_SOURCE
#include <asm/perf_regs.h>
#include <string.h>

#include "decode_x86.h"
#include "operand.h"
#include "recorder.h"

enum { CLOCK_EVENT, FAULT_EVENT, EVENT_COUNT };

#define BIT(name) (UINT64_C(1) << PERF_REG_X86_##name)
const uint64_t lmi_stack_and_ip_registers = BIT(SP) | BIT(IP);

/* In the order in which the kernel hands them out; `encoding` is the number in instructions, -1 for the instruction
 * pointer. */
#define REGISTER_LIST(X) \
  X(AX, 0)               \
  X(BX, 3)               \
  X(CX, 1)               \
  X(DX, 2)               \
  X(SI, 6)               \
  X(DI, 7)               \
  X(BP, 5)               \
  X(SP, 4)               \
  X(IP, -1)              \
  X(R8, 8)               \
  X(R9, 9)               \
  X(R10, 10)             \
  X(R11, 11)             \
  X(R12, 12)             \
  X(R13, 13)             \
  X(R14, 14)             \
  X(R15, 15)

static const int8_t encodings[] = {
#define ENCODING(name, encoding) encoding,
  REGISTER_LIST(ENCODING)
#undef ENCODING
};

static uint64_t register_mask(void)
{
  return 0
#define MASK_BIT(name, encoding) | BIT(name)
    REGISTER_LIST(MASK_BIT)
#undef MASK_BIT
      ;
}

static size_t clock_events(const lamina_record_options *options, struct perf_event_attr *attributes,
                           const char **reason)
{
  (void)reason;
  attributes[CLOCK_EVENT] = (struct perf_event_attr){.type = PERF_TYPE_SOFTWARE,
                                                     .config = PERF_COUNT_SW_CPU_CLOCK,
                                                     .sample_period = (uint64_t)(1e9 / options->clock_hz),
                                                     .sample_type = PERF_SAMPLE_REGS_USER,
                                                     .sample_regs_user = register_mask(),
                                                     .disabled = 1,
                                                     .enable_on_exec = 1,
                                                     .exclude_kernel = 1,
                                                     .exclude_hv = 1};
  lmi_fault_event(&attributes[FAULT_EVENT]);
  return EVENT_COUNT;
}

static lamina_status clock_sample(lmi_recorder *recorder, lmi_observed_process *process, const lmi_perf_sample *sample)
{
  uint64_t registers[LMI_X86_REGISTERS] = {0};
  lmi_access accesses[LMI_MOST_ACCESSES];
  size_t unknown = 0;
  if (sample->event == FAULT_EVENT)
    return lmi_fault_sample(recorder, process, sample);
  LMI_TRY(lmi_observed_count_thread(&recorder->observed, process, sample->tid));
  if (sample->registers_abi != PERF_SAMPLE_REGS_ABI_64) { /* a 32-bit program has other encodings */
    process->unresolved++;
    return LAMINA_OK;
  }
  for (size_t i = 0; i < LMI_COUNT(encodings); i++)
    if (encodings[i] >= 0)
      registers[encodings[i]] = sample->registers[i];
  lmi_code_view view = {&recorder->observed, process};
  const size_t count =
    lmi_operand_walk(lmi_observed_code, &view, sample->ip, registers, accesses, LMI_MOST_ACCESSES, &unknown);
  if (count == 0) {
    process->unresolved++;
    return LAMINA_OK;
  }
  const lmi_access *drawn = &accesses[lmi_recorder_random(recorder) % count];
  const lmi_observed_access access = {.address = drawn->address,
                                      .ip = drawn->instruction,
                                      .stack = registers[LMI_X86_RSP],
                                      .time = sample->time,
                                      .tid = sample->tid};
  return lmi_observed_take(&recorder->observed, process, &access);
}

const lmi_source lmi_source_clock = {
  .name = LAMINA_RECORD_CLOCK,
  .kind = LAMINA_SOURCE_CLOCK,
  .says = "clock samples: shares are of processor time, spread evenly over the accesses of the code at the sample; "
          "they are not "
          "misses, and bytes and flops are not measured",
  .events = clock_events,
  .sample = clock_sample,
};
