/* SPDX-License-Identifier: Apache-2.0 */
/* A cpu-clock sample says where the program is, not what it touches. Within a straight piece of code every instruction
 * runs equally often, so each of its accesses is as likely as any other: the caller draws one of them. What a register
 * holds further on is computed for the few forms that loops are made of (constants added, moves, lea, sums, shifts);
 * anything else makes it unknown, never guessed. */
#include "operand.h"

#include <string.h>

#include "decode_x86.h"

enum { MOST_STEPS = 96, LONGEST_LOOP_BYTES = 4096 };

typedef struct walk {
  uint64_t value[LMI_X86_REGISTERS];
  uint32_t known; /* one bit a register */
  uint64_t at, start;
  bool has_looped;
} walk;

static bool is_known(const walk *w, uint8_t reg)
{
  return reg < LMI_X86_REGISTERS && (w->known >> reg & 1) != 0;
}

/* The address an operand names now; false when a part of it is not known. */
static bool address_of(const walk *w, const lmi_x86_instruction *in, uint64_t *address)
{
  const lmi_x86_operand *operand = &in->operand;
  uint64_t sum = (uint64_t)operand->displacement;
  if (operand->has_segment || operand->is_uncertain)
    return false;
  if (operand->base == LMI_X86_RIP)
    sum += w->at + in->length;
  else if (operand->base != LMI_X86_NONE) {
    if (!is_known(w, operand->base))
      return false;
    sum += w->value[operand->base];
  }
  if (operand->index != LMI_X86_NONE) {
    if (!is_known(w, operand->index))
      return false;
    sum += w->value[operand->index] * operand->scale;
  }
  *address = sum;
  return true;
}

/* The second operand of an effect: a constant or a register. */
static bool second_operand(const walk *w, const lmi_x86_instruction *in, uint64_t *value)
{
  *value = in->has_value && in->effect != LMI_X86_EFFECT_SCALE ? (uint64_t)in->value : w->value[in->source];
  return (in->has_value && in->effect != LMI_X86_EFFECT_SCALE) || is_known(w, in->source);
}

static uint64_t shifted(const lmi_x86_instruction *in, uint64_t target, uint64_t amount)
{
  const unsigned by = (unsigned)amount & (in->is_32_bit ? 31u : 63u);
  if (in->effect == LMI_X86_EFFECT_SHIFT_LEFT)
    return target << by;
  if (in->effect == LMI_X86_EFFECT_SHIFT_RIGHT)
    return (in->is_32_bit ? (uint32_t)target : target) >> by;
  const uint64_t sign = in->is_32_bit ? (uint64_t)(int64_t)(int32_t)target : target;
  return (sign >> by) | ((sign >> 63) != 0 && by > 0 ? ~UINT64_C(0) << (64 - by) : 0);
}

/* The new value of in->target, or false. */
static bool effect_value(const walk *w, const lmi_x86_instruction *in, uint64_t *value)
{
  uint64_t second = 0;
  const bool second_known = second_operand(w, in, &second);
  const uint64_t target = w->value[in->target];
  if (in->effect == LMI_X86_EFFECT_ADDRESS)
    return address_of(w, in, value);
  switch (in->effect) { /* these do not need what the target held */
  case LMI_X86_EFFECT_MOVE: *value = second; return second_known;
  case LMI_X86_EFFECT_SCALE: *value = second * (uint64_t)in->value; return second_known;
  case LMI_X86_EFFECT_EXTEND_32: *value = (uint64_t)(int64_t)(int32_t)second; return second_known;
  case LMI_X86_EFFECT_ZERO_8: *value = second & 0xff; return second_known;
  case LMI_X86_EFFECT_ZERO_16: *value = second & 0xffff; return second_known;
  default: break;
  }
  switch (in->effect) {
  case LMI_X86_EFFECT_ADD: *value = target + second; break;
  case LMI_X86_EFFECT_SUBTRACT: *value = target - second; break;
  case LMI_X86_EFFECT_AND: *value = target & second; break;
  case LMI_X86_EFFECT_OR: *value = target | second; break;
  case LMI_X86_EFFECT_XOR: *value = target ^ second; break;
  case LMI_X86_EFFECT_MULTIPLY: *value = target * second; break;
  case LMI_X86_EFFECT_SHIFT_LEFT:
  case LMI_X86_EFFECT_SHIFT_RIGHT:
  case LMI_X86_EFFECT_SHIFT_SIGN: *value = shifted(in, target, second); break;
  default: return false;
  }
  return second_known && is_known(w, in->target);
}

/* Division changes two registers. Only the form that compilers use for indices: the upper half is zero. */
static void divide(walk *w, const lmi_x86_instruction *in)
{
  uint64_t dividend = w->value[LMI_X86_RAX], upper = w->value[LMI_X86_RDX], divisor = w->value[in->source];
  const bool known = is_known(w, LMI_X86_RAX) && is_known(w, LMI_X86_RDX) && is_known(w, in->source);
  if (in->is_32_bit)
    dividend = (uint32_t)dividend, upper = (uint32_t)upper, divisor = (uint32_t)divisor;
  w->known &= ~in->written;
  if (!known || upper != 0 || divisor == 0)
    return;
  w->known |= in->written;
  w->value[LMI_X86_RAX] = dividend / divisor;
  w->value[LMI_X86_RDX] = dividend % divisor;
}

static void apply(walk *w, const lmi_x86_instruction *in)
{
  uint64_t value = 0;
  if (in->effect == LMI_X86_EFFECT_DIVIDE) {
    divide(w, in);
    return;
  }
  const bool has_value = in->effect != LMI_X86_EFFECT_UNKNOWN && effect_value(w, in, &value);
  w->known &= ~in->written;
  if (!has_value)
    return;
  w->known |= UINT32_C(1) << in->target;
  w->value[in->target] = in->is_32_bit ? (uint32_t)value : value;
}

/* Where control goes next; false at the end of the straight piece. */
static bool advance(walk *w, const lmi_x86_instruction *in)
{
  const uint64_t next = w->at + in->length;
  const uint64_t target = next + (uint64_t)in->relative;
  switch (in->flow) {
  case LMI_X86_NEXT: w->at = next; return true;
  case LMI_X86_JUMP: w->at = target; return true;
  case LMI_X86_BRANCH:
    if (target > w->at || w->at - target > LONGEST_LOOP_BYTES || w->has_looped)
      return false;
    w->has_looped = true;
    w->at = target;
    return true;
  default: return false;
  }
}

size_t lmi_operand_walk(lmi_code_reader *read, void *user, uint64_t ip, const uint64_t *registers, lmi_access *accesses,
                        size_t most, size_t *unknown)
{
  walk w = {.known = UINT32_C(0xffff), .at = ip, .start = ip};
  size_t count = 0;
  memcpy(w.value, registers, sizeof w.value);
  *unknown = 0;
  for (int step = 0; step < MOST_STEPS && count < most; step++) {
    uint8_t code[LMI_X86_MOST_BYTES];
    lmi_x86_instruction in;
    const size_t size = read(user, w.at, code, sizeof code);
    if (size == 0 || !lmi_x86_decode(code, size, &in))
      break;
    if (in.operand.is_present && (in.operand.reads || in.operand.writes)) {
      uint64_t address = 0;
      if (address_of(&w, &in, &address))
        accesses[count++] = (lmi_access){address, w.at, in.operand.bytes, in.operand.reads, in.operand.writes};
      else
        (*unknown)++;
    }
    apply(&w, &in);
    if (!advance(&w, &in) || w.at == w.start)
      break;
  }
  return count;
}
