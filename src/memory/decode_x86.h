/* SPDX-License-Identifier: Apache-2.0 */
/* One x86-64 instruction: how long it is, which memory it names, which general registers it changes and whether control
 * goes on behind it. Enough to compute the addresses that a sampled program is about to touch from the registers of the
 * sample, and to walk through code. Knows SSE, AVX, BMI and AVX-512 encodings; x87 by length and memory operand only.
 *
 * Source of the encodings: Intel SDM volume 2, chapters 2 and appendix A. */
#ifndef LMI_DECODE_X86_H
#define LMI_DECODE_X86_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Registers by their number in encodings: rax 0, rcx 1, rdx 2, rbx 3, rsp 4, rbp 5, rsi 6, rdi 7, r8 ... r15. */
enum {
  LMI_X86_RAX = 0,
  LMI_X86_RCX = 1,
  LMI_X86_RDX = 2,
  LMI_X86_RSP = 4,
  LMI_X86_RBP = 5,
  LMI_X86_RSI = 6,
  LMI_X86_RDI = 7,
  LMI_X86_REGISTERS = 16,
  LMI_X86_NONE = 16,
  LMI_X86_RIP = 17,
  LMI_X86_MOST_BYTES = 15
};

typedef enum lmi_x86_flow {
  LMI_X86_NEXT,   /* goes on behind it */
  LMI_X86_JUMP,   /* to `relative` behind it, always */
  LMI_X86_BRANCH, /* to `relative` behind it, or goes on */
  LMI_X86_CALL,   /* somewhere else, and comes back */
  LMI_X86_LEAVE,  /* return, indirect jump, trap: what follows is not known */
} lmi_x86_flow;

/* What it does to register `target`, as far as addresses need it. Where `has_value` is set the second operand is
 * `value`, else register `source`. */
typedef enum lmi_x86_effect {
  LMI_X86_EFFECT_UNKNOWN, /* registers in `written` hold something new */
  LMI_X86_EFFECT_MOVE,
  LMI_X86_EFFECT_ADD,
  LMI_X86_EFFECT_SUBTRACT,
  LMI_X86_EFFECT_AND,
  LMI_X86_EFFECT_OR,
  LMI_X86_EFFECT_XOR,
  LMI_X86_EFFECT_MULTIPLY, /* target *= second */
  LMI_X86_EFFECT_SCALE,    /* target = source * value */
  LMI_X86_EFFECT_SHIFT_LEFT,
  LMI_X86_EFFECT_SHIFT_RIGHT, /* zeros move in */
  LMI_X86_EFFECT_SHIFT_SIGN,
  LMI_X86_EFFECT_EXTEND_32, /* target = source as a signed 32-bit number */
  LMI_X86_EFFECT_ZERO_8,    /* target = low byte of source */
  LMI_X86_EFFECT_ZERO_16,
  LMI_X86_EFFECT_DIVIDE,  /* rax, rdx = rdx:rax / source, rest; unsigned */
  LMI_X86_EFFECT_ADDRESS, /* target = the address of the operand (lea) */
} lmi_x86_effect;

typedef struct lmi_x86_operand {
  bool is_present; /* false for register forms, lea, nop, prefetch */
  bool reads, writes;
  bool has_segment;    /* fs or gs: the address is not computable from general registers */
  bool is_uncertain;   /* vector index (gather), or a compressed displacement of unknown scale */
  uint8_t base, index; /* register, LMI_X86_NONE, base also LMI_X86_RIP (address behind the instruction) */
  uint8_t scale;       /* 1, 2, 4, 8 */
  uint8_t bytes;       /* of the access; best knowledge */
  int64_t displacement;
} lmi_x86_operand;

typedef struct lmi_x86_instruction {
  uint8_t length;
  bool is_evex; /* needs AVX-512 */
  lmi_x86_flow flow;
  int64_t relative; /* of JUMP, BRANCH */
  lmi_x86_operand operand;
  uint32_t written; /* one bit a register */
  lmi_x86_effect effect;
  uint8_t target, source;
  bool has_value;
  bool is_32_bit; /* the effect works on the lower half and clears the upper half of target */
  int64_t value;
} lmi_x86_instruction;

/* Decodes the instruction at code[0]; false when the bytes are none, or need more than `size`. */
bool lmi_x86_decode(const uint8_t *code, size_t size, lmi_x86_instruction *instruction);

#endif
