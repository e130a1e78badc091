/* SPDX-License-Identifier: Apache-2.0 */
#include "decode_x86.h"

#include <string.h>

/* Encodings are read in this order: legacy prefixes, REX or VEX or EVEX, opcode of one of the maps, ModRM, SIB,
 * displacement, immediate. */
typedef struct decoder {
  const uint8_t *code;
  size_t size, at;
  lmi_x86_instruction *out;
  bool operand_16, repeat, repeat_not, segment; /* 66, F3, F2, 64/65 */
  bool rex_w, rex_r, rex_x, rex_b, has_rex;
  bool is_vector;        /* VEX or EVEX */
  bool broadcast;        /* EVEX.b */
  uint8_t vector_length; /* bytes */
  uint8_t extra;         /* VEX.vvvv as a register */
  uint8_t map;           /* 0: one byte, 1: 0F, 2: 0F38, 3: 0F3A */
  uint8_t opcode;
  uint8_t mod, reg, rm; /* of ModRM, extended by REX */
  bool has_modrm, ended;
} decoder;

static uint8_t take_byte(decoder *d)
{
  if (d->at >= d->size || d->at >= LMI_X86_MOST_BYTES) {
    d->ended = true;
    return 0;
  }
  return d->code[d->at++];
}

static int64_t take_signed(decoder *d, int bytes)
{
  uint64_t value = 0;
  for (int i = 0; i < bytes; i++)
    value |= (uint64_t)take_byte(d) << (8 * i);
  if (bytes > 0 && bytes < 8 && (value >> (8 * bytes - 1) & 1) != 0)
    value |= ~UINT64_C(0) << (8 * bytes);
  return (int64_t)value;
}

/* ---- prefixes ---- */

static void take_legacy_prefixes(decoder *d)
{
  for (;;) {
    const uint8_t byte = d->at < d->size ? d->code[d->at] : 0x90;
    switch (byte) {
    case 0x66: d->operand_16 = true; break;
    case 0xf3: d->repeat = true; break;
    case 0xf2: d->repeat_not = true; break;
    case 0x64:
    case 0x65: d->segment = true; break;
    case 0x26:
    case 0x2e:
    case 0x36:
    case 0x3e:
    case 0x67:
    case 0xf0: break;
    default: return;
    }
    take_byte(d);
    if (d->ended)
      return;
  }
}

static void set_simd_prefix(decoder *d, uint8_t pp)
{
  d->operand_16 = pp == 1;
  d->repeat = pp == 2;
  d->repeat_not = pp == 3;
}

static void take_vex(decoder *d, bool three_bytes)
{
  uint8_t byte = take_byte(d);
  d->rex_r = (byte & 0x80) == 0;
  d->map = 1;
  if (three_bytes) {
    d->rex_x = (byte & 0x40) == 0;
    d->rex_b = (byte & 0x20) == 0;
    d->map = byte & 0x1f;
    byte = take_byte(d);
    d->rex_w = (byte & 0x80) != 0;
  }
  d->is_vector = true;
  d->extra = (uint8_t)(~byte >> 3 & 0xf);
  d->vector_length = (byte & 4) != 0 ? 32 : 16;
  set_simd_prefix(d, byte & 3);
}

static void take_evex(decoder *d)
{
  const uint8_t p0 = take_byte(d), p1 = take_byte(d), p2 = take_byte(d);
  d->rex_r = (p0 & 0x80) == 0;
  d->rex_x = (p0 & 0x40) == 0;
  d->rex_b = (p0 & 0x20) == 0;
  d->map = p0 & 7;
  d->rex_w = (p1 & 0x80) != 0;
  d->extra = (uint8_t)(~p1 >> 3 & 0xf);
  set_simd_prefix(d, p1 & 3);
  d->vector_length = (uint8_t)(16u << (p2 >> 5 & 3));
  d->broadcast = (p2 & 0x10) != 0;
  d->is_vector = true;
  d->out->is_evex = true;
}

static void take_opcode(decoder *d)
{
  take_legacy_prefixes(d);
  uint8_t byte = take_byte(d);
  if ((byte & 0xf0) == 0x40) {
    d->has_rex = true;
    d->rex_w = (byte & 8) != 0;
    d->rex_r = (byte & 4) != 0;
    d->rex_x = (byte & 2) != 0;
    d->rex_b = (byte & 1) != 0;
    byte = take_byte(d);
  }
  if (!d->has_rex && (byte == 0xc4 || byte == 0xc5 || byte == 0x62)) {
    if (byte == 0x62)
      take_evex(d);
    else
      take_vex(d, byte == 0xc4);
    d->opcode = take_byte(d);
    return;
  }
  if (byte == 0x0f) {
    d->map = 1;
    byte = take_byte(d);
    if (byte == 0x38 || byte == 0x3a) {
      d->map = byte == 0x38 ? 2 : 3;
      byte = take_byte(d);
    }
  }
  d->opcode = byte;
}

/* ---- which opcodes have a ModRM byte and an immediate ---- */

static bool one_byte_has_modrm(uint8_t op)
{
  if (op < 0x40)
    return (op & 7) < 4;
  static const uint8_t singles[] = {0x63, 0x69, 0x6b, 0xc0, 0xc1, 0xc6, 0xc7, 0xf6, 0xf7, 0xfe, 0xff};
  return (op >= 0x80 && op <= 0x8f) || (op >= 0xd0 && op <= 0xd3) || (op >= 0xd8 && op <= 0xdf) ||
         memchr(singles, op, sizeof singles) != NULL;
}

static bool two_byte_has_modrm(uint8_t op)
{
  if ((op >= 0x80 && op <= 0x8f) || (op >= 0xc8 && op <= 0xcf) || (op >= 0x30 && op <= 0x37))
    return false;
  static const uint8_t bare[] = {0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0b, 0x0e,
                                 0x77, 0xa0, 0xa1, 0xa2, 0xa8, 0xa9, 0xaa};
  return memchr(bare, op, sizeof bare) == NULL;
}

static bool has_modrm(const decoder *d)
{
  if (d->is_vector)
    return !(d->map == 1 && d->opcode == 0x77);
  return d->map == 0 ? one_byte_has_modrm(d->opcode) : d->map == 1 ? two_byte_has_modrm(d->opcode) : true;
}

static int word_immediate(const decoder *d)
{
  return d->operand_16 && !d->rex_w ? 2 : 4;
}

// NOLINTNEXTLINE(readability-function-cognitive-complexity): an opcode map
static int one_byte_immediate(const decoder *d)
{
  const uint8_t op = d->opcode;
  if (op < 0x40)
    return (op & 7) == 4 ? 1 : (op & 7) == 5 ? word_immediate(d) : 0;
  if ((op >= 0x70 && op <= 0x7f) || (op >= 0xb0 && op <= 0xb7))
    return 1;
  if (op >= 0xb8 && op <= 0xbf)
    return d->rex_w ? 8 : word_immediate(d);
  static const uint8_t bytes[] = {0x6a, 0x6b, 0x80, 0x83, 0xa8, 0xc0, 0xc1, 0xc6, 0xcd,
                                  0xe0, 0xe1, 0xe2, 0xe3, 0xe4, 0xe5, 0xe6, 0xe7, 0xeb};
  static const uint8_t words[] = {0x68, 0x69, 0x81, 0xa9, 0xc7};
  if (memchr(bytes, op, sizeof bytes) != NULL || (op == 0xf6 && (d->reg & 7) < 2))
    return 1;
  if (memchr(words, op, sizeof words) != NULL || (op == 0xf7 && (d->reg & 7) < 2))
    return word_immediate(d);
  if (op == 0xe8 || op == 0xe9)
    return 4;
  if (op == 0xc2 || op == 0xca)
    return 2;
  return op == 0xc8 ? 3 : op >= 0xa0 && op <= 0xa3 ? 8 : 0;
}

static int immediate_bytes(const decoder *d)
{
  if (d->map == 0)
    return one_byte_immediate(d);
  if (d->map == 3)
    return 1;
  if (d->map != 1)
    return 0;
  if (!d->is_vector && d->opcode >= 0x80 && d->opcode <= 0x8f)
    return 4;
  static const uint8_t with_byte[] = {0x0f, 0x70, 0x71, 0x72, 0x73, 0xa4, 0xac, 0xba, 0xc2, 0xc4, 0xc5, 0xc6};
  return memchr(with_byte, d->opcode, sizeof with_byte) != NULL ? 1 : 0;
}

static bool is_invalid(const decoder *d)
{
  if (d->is_vector)
    return d->map == 0 || d->map > 6 || d->map == 4;
  if (d->map != 0)
    return false;
  static const uint8_t none[] = {0x06, 0x07, 0x0e, 0x16, 0x17, 0x1e, 0x1f, 0x27, 0x2f, 0x37, 0x3f, 0x60,
                                 0x61, 0x62, 0x82, 0x9a, 0xc4, 0xc5, 0xce, 0xd4, 0xd5, 0xd6, 0xea};
  return memchr(none, d->opcode, sizeof none) != NULL;
}

/* ---- the memory operand ---- */

/* One vector element: the access of a scalar instruction, the unit of a broadcast. */
static uint8_t element_bytes(const decoder *d)
{
  return d->repeat_not || (!d->repeat && d->rex_w) ? 8 : 4;
}

static bool is_scalar_fma(const decoder *d)
{
  const uint8_t low = d->opcode & 0xf;
  return d->map == 2 && d->opcode >= 0x90 && d->opcode <= 0xbf && low >= 9 && (low & 1) != 0;
}

static bool is_scalar_vector(const decoder *d)
{
  if (is_scalar_fma(d))
    return true;
  if (d->map != 1 || !(d->repeat || d->repeat_not))
    return false;
  const unsigned op = d->opcode;
  return op == 0x10 || op == 0x11 || op == 0x2a || op == 0x2c || op == 0x2d || (op >= 0x51 && op <= 0x5f) || op == 0xc2;
}

/* Accesses of vector instructions; moves of halves and of single words are listed, everything else takes a whole
 * vector. */
// NOLINTNEXTLINE(readability-function-cognitive-complexity): an opcode map
static uint8_t vector_bytes(const decoder *d)
{
  const uint8_t whole = d->is_vector ? d->vector_length : 16;
  if (d->broadcast)
    return d->rex_w ? 8 : 4;
  if (is_scalar_vector(d))
    return is_scalar_fma(d) ? (d->rex_w ? 8 : 4) : element_bytes(d);
  if (d->map == 1) {
    switch (d->opcode) {
    case 0x12:
    case 0x13:
    case 0x16:
    case 0x17:
    case 0xd6: return 8;
    case 0x6e: return d->rex_w ? 8 : 4;
    case 0x7e: return d->repeat || d->rex_w ? 8 : 4;
    case 0x2e:
    case 0x2f: return d->operand_16 ? 8 : 4;
    default: return whole;
    }
  }
  if (d->map == 2 && (d->opcode == 0x18 || d->opcode == 0x19))
    return d->opcode == 0x18 ? 4 : 8;
  if (d->map == 2 && (d->opcode == 0x1a || d->opcode == 0x5a))
    return 16;
  return whole;
}

/* AVX-512 scales one-byte displacements by the size of the access. It is certain for whole, scalar and broadcast
 * operands; conversions and partial moves (map 2, 10 to 3F, and their kin) are not followed. */
static bool displacement_scale_is_known(const decoder *d)
{
  if (d->broadcast || is_scalar_vector(d))
    return true;
  if (d->map == 1)
    return !(d->opcode == 0x5a || d->opcode == 0x5b || d->opcode == 0xe6 || (d->opcode >= 0x78 && d->opcode <= 0x7b));
  if (d->map == 2)
    return d->opcode >= 0x36 || d->opcode < 0x10;
  return d->map == 3 && d->opcode < 0x18;
}

static void take_displacement(decoder *d)
{
  lmi_x86_operand *operand = &d->out->operand;
  const bool base_less = operand->base == LMI_X86_NONE || operand->base == LMI_X86_RIP;
  if (d->mod == 1) {
    operand->displacement = take_signed(d, 1);
    if (d->out->is_evex) {
      operand->displacement *= vector_bytes(d);
      operand->is_uncertain = operand->is_uncertain || (operand->displacement != 0 && !displacement_scale_is_known(d));
    }
  } else if (d->mod == 2 || (d->mod == 0 && base_less)) {
    operand->displacement = take_signed(d, 4);
  }
}

static void take_address(decoder *d)
{
  lmi_x86_operand *operand = &d->out->operand;
  operand->is_present = true;
  operand->has_segment = d->segment;
  operand->index = LMI_X86_NONE;
  operand->scale = 1;
  const uint8_t low = d->rm & 7;
  if (low == 4) {
    const uint8_t sib = take_byte(d);
    const uint8_t index = (uint8_t)((sib >> 3 & 7) | (d->rex_x ? 8 : 0));
    operand->scale = (uint8_t)(1u << (sib >> 6));
    operand->index = index == LMI_X86_RSP ? LMI_X86_NONE : index;
    operand->base = (uint8_t)((sib & 7) | (d->rex_b ? 8 : 0));
    if ((sib & 7) == 5 && d->mod == 0)
      operand->base = LMI_X86_NONE;
    /* gathers and scatters: the index is a vector */
    operand->is_uncertain = d->is_vector && d->map == 2 &&
                            ((d->opcode >= 0x90 && d->opcode <= 0x93) || (d->opcode >= 0xa0 && d->opcode <= 0xa3));
  } else {
    operand->base = low == 5 && d->mod == 0 ? LMI_X86_RIP : d->rm;
  }
  take_displacement(d);
}

static void take_modrm(decoder *d)
{
  const uint8_t byte = take_byte(d);
  d->has_modrm = true;
  d->mod = byte >> 6;
  d->reg = (uint8_t)((byte >> 3 & 7) | (d->rex_r ? 8 : 0));
  d->rm = (uint8_t)((byte & 7) | (d->rex_b ? 8 : 0));
  if (d->mod != 3)
    take_address(d);
}

/* ---- what it does ---- */

static uint32_t bit(uint8_t reg)
{
  return UINT32_C(1) << reg;
}

/* The r/m operand is written: a register bit, or the memory. */
static void write_rm(decoder *d)
{
  if (d->mod == 3)
    d->out->written |= bit(d->rm);
  else
    d->out->operand.writes = true;
}

static void write_reg(decoder *d)
{
  d->out->written |= bit(d->reg);
}

static void add_effect(decoder *d, lmi_x86_effect effect, uint8_t target, uint8_t source)
{
  if (d->operand_16 && !d->rex_w)
    return; /* parts of registers are not followed */
  d->out->effect = effect;
  d->out->target = target;
  d->out->source = source;
  d->out->is_32_bit = !d->rex_w;
}

static void add_constant_effect(decoder *d, lmi_x86_effect effect, uint8_t target, int64_t value)
{
  add_effect(d, effect, target, target);
  d->out->has_value = true;
  d->out->value = value;
}

/* add or adc sbb and sub xor cmp, as the middle bits of opcodes and the reg field of groups number them. */
static lmi_x86_effect arithmetic_effect(uint8_t operation)
{
  static const lmi_x86_effect effects[8] = {LMI_X86_EFFECT_ADD,     LMI_X86_EFFECT_OR,     LMI_X86_EFFECT_UNKNOWN,
                                            LMI_X86_EFFECT_UNKNOWN, LMI_X86_EFFECT_AND,    LMI_X86_EFFECT_SUBTRACT,
                                            LMI_X86_EFFECT_XOR,     LMI_X86_EFFECT_UNKNOWN};
  return effects[operation & 7];
}

static uint8_t integer_bytes(const decoder *d, bool is_byte)
{
  return is_byte ? 1 : d->rex_w ? 8 : d->operand_16 ? 2 : 4;
}

/* Opcodes 00 to 3F: eight operations in six forms. */
static void arithmetic(decoder *d, int64_t value)
{
  const uint8_t form = d->opcode & 7, operation = d->opcode >> 3;
  const bool compares = operation == 7;
  lmi_x86_operand *operand = &d->out->operand;
  operand->bytes = integer_bytes(d, (form & 1) == 0);
  operand->reads = true;
  if (compares)
    return;
  if (form < 2)
    write_rm(d);
  else if (form < 4)
    write_reg(d);
  else
    d->out->written |= bit(LMI_X86_RAX);
  if (form == 5)
    add_constant_effect(d, arithmetic_effect(operation), LMI_X86_RAX, value);
  if (d->mod != 3 || (form != 1 && form != 3))
    return;
  const uint8_t target = form == 1 ? d->rm : d->reg, source = form == 1 ? d->reg : d->rm;
  if ((operation == 6 || operation == 5) && target == source)
    add_constant_effect(d, LMI_X86_EFFECT_MOVE, target, 0); /* xor r,r; sub r,r */
  else
    add_effect(d, arithmetic_effect(operation), target, source);
}

/* Groups 80, 81, 83 (arithmetic with a constant), C0, C1, D0 to D3 (shifts). */
static void constant_group(decoder *d, int64_t value)
{
  const uint8_t operation = d->reg & 7, op = d->opcode;
  lmi_x86_operand *operand = &d->out->operand;
  operand->bytes = integer_bytes(d, (op & 1) == 0);
  operand->reads = true;
  if (op >= 0x80 && op <= 0x83) {
    if (operation == 7)
      return;
    write_rm(d);
    if (d->mod == 3 && op != 0x80)
      add_constant_effect(d, arithmetic_effect(operation), d->rm, value);
    return;
  }
  write_rm(d);
  if (d->mod != 3 || (op != 0xc1 && op != 0xd1))
    return;
  const int64_t amount = op == 0xc1 ? value : 1;
  if (operation == 4)
    add_constant_effect(d, LMI_X86_EFFECT_SHIFT_LEFT, d->rm, amount);
  else if (operation == 5)
    add_constant_effect(d, LMI_X86_EFFECT_SHIFT_RIGHT, d->rm, amount);
  else if (operation == 7)
    add_constant_effect(d, LMI_X86_EFFECT_SHIFT_SIGN, d->rm, amount);
}

/* Groups F6, F7, FE, FF. */
static void unary_group(decoder *d)
{
  const uint8_t operation = d->reg & 7, op = d->opcode;
  lmi_x86_operand *operand = &d->out->operand;
  operand->bytes = integer_bytes(d, (op & 1) == 0);
  operand->reads = true;
  if (op == 0xf6 || op == 0xf7) {
    if (operation == 2 || operation == 3)
      write_rm(d);
    else if (operation >= 4)
      d->out->written |= bit(LMI_X86_RAX) | bit(LMI_X86_RDX);
    if (op == 0xf7 && operation == 6 && d->mod == 3)
      add_effect(d, LMI_X86_EFFECT_DIVIDE, LMI_X86_RAX, d->rm);
    return;
  }
  if (operation < 2) {
    write_rm(d);
    if (op == 0xff && d->mod == 3)
      add_constant_effect(d, LMI_X86_EFFECT_ADD, d->rm, operation == 0 ? 1 : -1);
    return;
  }
  operand->bytes = 8;
  if (operation == 6)
    d->out->written |= bit(LMI_X86_RSP);
  else
    d->out->flow = operation < 4 ? LMI_X86_CALL : LMI_X86_LEAVE;
}

/* movs, cmps, stos, lods, scas: the operand that matters most, rdi for stores and rsi for loads. */
static void string_operation(decoder *d)
{
  const uint8_t op = d->opcode & 0xfe;
  lmi_x86_operand *const operand = &d->out->operand;
  *operand = (lmi_x86_operand){
    .is_present = true, .base = op == 0xac ? LMI_X86_RSI : LMI_X86_RDI, .index = LMI_X86_NONE, .scale = 1};
  operand->bytes = integer_bytes(d, (d->opcode & 1) == 0);
  operand->writes = op == 0xa4 || op == 0xaa;
  operand->reads = !operand->writes;
  d->out->written |= op == 0xac ? bit(LMI_X86_RAX) : bit(LMI_X86_RDI);
  if (op == 0xa4 || op == 0xa6 || op == 0xac)
    d->out->written |= bit(LMI_X86_RSI);
  if (d->repeat || d->repeat_not)
    d->out->written |= bit(LMI_X86_RCX);
}

/* push, pop, call, ret and the like use memory at rsp. */
static void stack_operand(decoder *d, bool writes)
{
  lmi_x86_operand *operand = &d->out->operand;
  if (!operand->is_present)
    *operand = (lmi_x86_operand){.is_present = true,
                                 .base = LMI_X86_RSP,
                                 .index = LMI_X86_NONE,
                                 .scale = 1,
                                 .bytes = 8,
                                 .reads = !writes,
                                 .writes = writes,
                                 .displacement = writes ? -8 : 0};
  d->out->written |= bit(LMI_X86_RSP);
}

static void move_group(decoder *d)
{
  lmi_x86_operand *operand = &d->out->operand;
  const uint8_t op = d->opcode;
  operand->bytes = integer_bytes(d, op == 0x88 || op == 0x8a || op == 0xc6);
  switch (op) {
  case 0x88:
  case 0x89:
  case 0xc6:
  case 0xc7:
    write_rm(d);
    if (op == 0x89 && d->mod == 3)
      add_effect(d, LMI_X86_EFFECT_MOVE, d->rm, d->reg);
    break;
  case 0x8a:
  case 0x8b:
    operand->reads = true;
    write_reg(d);
    if (op == 0x8b && d->mod == 3)
      add_effect(d, LMI_X86_EFFECT_MOVE, d->reg, d->rm);
    break;
  case 0x8d:
    write_reg(d);
    add_effect(d, LMI_X86_EFFECT_ADDRESS, d->reg, d->reg);
    operand->is_present = false;
    break;
  case 0x63:
    operand->reads = true;
    operand->bytes = 4;
    write_reg(d);
    if (d->mod == 3)
      add_effect(d, LMI_X86_EFFECT_EXTEND_32, d->reg, d->rm);
    break;
  default: /* 8C, 8E: segment registers; 8F: pop */
    operand->reads = op != 0x8c;
    if (op != 0x8e)
      write_rm(d);
    if (op == 0x8f)
      d->out->written |= bit(LMI_X86_RSP);
    break;
  }
}

/* Opcodes with the register in their low three bits. */
static bool register_opcode(decoder *d, int64_t value)
{
  const uint8_t op = d->opcode, reg = (uint8_t)((op & 7) | (d->rex_b ? 8 : 0));
  if (op >= 0x50 && op <= 0x57) {
    stack_operand(d, true);
  } else if (op >= 0x58 && op <= 0x5f) {
    stack_operand(d, false);
    d->out->written |= bit(reg);
  } else if (op >= 0x91 && op <= 0x97) {
    d->out->written |= bit(LMI_X86_RAX) | bit(reg);
  } else if (op >= 0xb0 && op <= 0xbf) {
    d->out->written |= bit(reg);
    if (op >= 0xb8)
      add_constant_effect(d, LMI_X86_EFFECT_MOVE, reg, value);
  } else {
    return false;
  }
  return true;
}

static bool control_opcode(decoder *d, int64_t value)
{
  const uint8_t op = d->opcode;
  lmi_x86_instruction *out = d->out;
  out->relative = value;
  if ((op >= 0x70 && op <= 0x7f) || (op >= 0xe0 && op <= 0xe3)) {
    out->flow = LMI_X86_BRANCH;
    if (op >= 0xe0 && op <= 0xe2)
      out->written |= bit(LMI_X86_RCX);
  } else if (op == 0xe9 || op == 0xeb) {
    out->flow = LMI_X86_JUMP;
  } else if (op == 0xe8) {
    out->flow = LMI_X86_CALL;
    stack_operand(d, true);
  } else if (op == 0xc2 || op == 0xc3) {
    out->flow = LMI_X86_LEAVE;
    stack_operand(d, false);
  } else if (op == 0xca || op == 0xcb || op == 0xcc || op == 0xcd || op == 0xcf || op == 0xf4) {
    out->flow = LMI_X86_LEAVE;
  } else {
    out->relative = 0;
    return false;
  }
  return true;
}

static void multiply_by_constant(decoder *d, int64_t value)
{
  d->out->operand.reads = true;
  d->out->operand.bytes = integer_bytes(d, false);
  write_reg(d);
  if (d->mod != 3)
    return;
  add_constant_effect(d, LMI_X86_EFFECT_SCALE, d->reg, value);
  d->out->source = d->rm;
}

// NOLINTNEXTLINE(readability-function-cognitive-complexity): an opcode map
static void one_byte(decoder *d, int64_t value)
{
  const uint8_t op = d->opcode;
  if (register_opcode(d, value) || control_opcode(d, value))
    return;
  if (op < 0x40)
    arithmetic(d, value);
  else if ((op >= 0x80 && op <= 0x83) || op == 0xc0 || op == 0xc1 || (op >= 0xd0 && op <= 0xd3))
    constant_group(d, value);
  else if (op == 0xf6 || op == 0xf7 || op == 0xfe || op == 0xff)
    unary_group(d);
  else if (op >= 0xa4 && op <= 0xaf && op != 0xa8 && op != 0xa9)
    string_operation(d);
  else if (op == 0x63 || (op >= 0x88 && op <= 0x8f) || op == 0xc6 || op == 0xc7)
    move_group(d);
  else if (op == 0x69 || op == 0x6b)
    multiply_by_constant(d, value);
  else if (op == 0x84 || op == 0x85)
    d->out->operand.reads = true, d->out->operand.bytes = integer_bytes(d, op == 0x84);
  else if (op == 0x86 || op == 0x87)
    d->out->operand.reads = true, d->out->operand.bytes = integer_bytes(d, op == 0x86), write_reg(d), write_rm(d);
  else if (op == 0x68 || op == 0x6a || op == 0x9c)
    stack_operand(d, true);
  else if (op == 0x9d)
    stack_operand(d, false);
  else if (op == 0xc8 || op == 0xc9)
    d->out->written |= bit(LMI_X86_RSP) | bit(LMI_X86_RBP);
  else if (op == 0x98 || (op >= 0xa0 && op <= 0xa1) || op == 0x9f || op == 0xe4 || op == 0xe5 || op == 0xec ||
           op == 0xed)
    d->out->written |= bit(LMI_X86_RAX);
  else if (op == 0x99)
    d->out->written |= bit(LMI_X86_RDX);
  else if (op >= 0xd8 && op <= 0xdf) {
    d->out->operand.reads = true;
    d->out->operand.bytes = 8;
    if (op == 0xdf && d->mod == 3)
      d->out->written |= bit(LMI_X86_RAX); /* fnstsw ax */
  }
}

/* Opcodes of map 0F (and its VEX and EVEX forms) that store to their r/m operand. */
static bool is_vector_store(const decoder *d)
{
  static const uint8_t two[] = {0x11, 0x13, 0x17, 0x29, 0x2b, 0x7f, 0xd6, 0xe7, 0xc3};
  static const uint8_t three[] = {0x14, 0x15, 0x16, 0x17, 0x19, 0x39, 0x1b, 0x3b, 0x1d};
  if (d->map == 1)
    return (d->opcode == 0x7e && !d->repeat) || (d->opcode == 0x91 && d->is_vector) ||
           memchr(two, d->opcode, sizeof two) != NULL;
  if (d->map == 2)
    return d->opcode == 0x2e || d->opcode == 0x2f || d->opcode == 0x8e || (d->opcode >= 0xa0 && d->opcode <= 0xa3) ||
           (!d->is_vector && d->opcode == 0xf1 && !d->repeat_not) ||
           (d->repeat && d->opcode >= 0x10 && d->opcode < 0x36) || d->opcode == 0x63 || d->opcode == 0x8a ||
           d->opcode == 0x8b;
  return d->map == 3 && memchr(three, d->opcode, sizeof three) != NULL;
}

/* Integer instructions of map 0F. false: it is none of them. */
// NOLINTNEXTLINE(readability-function-cognitive-complexity): an opcode map
static bool two_byte_integer(decoder *d)
{
  const uint8_t op = d->opcode;
  lmi_x86_operand *operand = &d->out->operand;
  const uint8_t word = integer_bytes(d, false);
  operand->reads = true;
  operand->bytes = word;
  if ((op >= 0x40 && op <= 0x4f) || op == 0xaf || op == 0xb8 || op == 0xbc || op == 0xbd) {
    write_reg(d);
    if (op == 0xaf && d->mod == 3)
      add_effect(d, LMI_X86_EFFECT_MULTIPLY, d->reg, d->rm);
  } else if (op >= 0x90 && op <= 0x9f) {
    operand->reads = false;
    operand->bytes = 1;
    write_rm(d);
  } else if (op == 0xb6 || op == 0xb7 || op == 0xbe || op == 0xbf) {
    operand->bytes = (op & 1) == 0 ? 1 : 2;
    write_reg(d);
    if (d->mod == 3 && (op == 0xb7 || (op == 0xb6 && (d->has_rex || d->rm < 4)))) /* without REX 4 to 7 are ah to bh */
      add_effect(d, op == 0xb6 ? LMI_X86_EFFECT_ZERO_8 : LMI_X86_EFFECT_ZERO_16, d->reg, d->rm);
  } else if (op == 0xa4 || op == 0xa5 || op == 0xac || op == 0xad || op == 0xab || op == 0xb3 || op == 0xbb) {
    write_rm(d);
  } else if (op == 0xba) {
    if ((d->reg & 7) > 4)
      write_rm(d);
  } else if (op == 0xb0 || op == 0xb1) {
    write_rm(d);
    d->out->written |= bit(LMI_X86_RAX);
  } else if (op == 0xc0 || op == 0xc1) {
    write_rm(d);
    write_reg(d);
  } else if (op == 0xc7) {
    write_rm(d);
    d->out->written |= bit(LMI_X86_RAX) | bit(LMI_X86_RDX);
  } else if (op >= 0xc8 && op <= 0xcf) {
    d->out->written |= bit((uint8_t)((op & 7) | (d->rex_b ? 8 : 0)));
  } else if (op != 0xa3) {
    operand->reads = false;
    return false;
  }
  return true;
}

static bool two_byte_system(decoder *d, int64_t value)
{
  const uint8_t op = d->opcode;
  lmi_x86_instruction *out = d->out;
  if (op >= 0x80 && op <= 0x8f) {
    out->flow = LMI_X86_BRANCH;
    out->relative = value;
  } else if (op == 0x05 || op == 0x34) {
    out->flow = LMI_X86_CALL; /* a system call changes rax, rcx, r11, and memory as it likes */
    out->written |= bit(LMI_X86_RAX) | bit(LMI_X86_RCX) | bit(11);
  } else if (op == 0x0b || op == 0xb9 || op == 0xff || op == 0x07 || op == 0x35) {
    out->flow = LMI_X86_LEAVE;
  } else if (op == 0x0d || (op >= 0x18 && op <= 0x1f)) {
    out->operand.is_present = false; /* prefetch, nop */
    if (op == 0x1e && d->mod == 3)
      out->written |= bit(d->rm); /* rdssp */
  } else if (op == 0xa2 || op == 0x31 || op == 0x32 || op == 0x33 || op == 0x01) {
    out->written |= bit(LMI_X86_RAX) | bit(LMI_X86_RCX) | bit(LMI_X86_RDX) | bit(3);
  } else if (op == 0xae) {
    out->operand.reads = true;
    out->operand.bytes = 64;
    if (d->repeat && d->mod == 3)
      out->written |= bit(d->rm);
  } else if (op == 0xa0 || op == 0xa8) {
    stack_operand(d, true);
  } else if (op == 0xa1 || op == 0xa9) {
    stack_operand(d, false);
  } else {
    return false;
  }
  return true;
}

/* Vector and mask instructions whose destination is a general register. */
static void vector_to_integer(decoder *d)
{
  const uint8_t op = d->opcode;
  if (d->map == 1) {
    if (op == 0x2c || op == 0x2d || op == 0x50 || op == 0xd7 || op == 0xc5 || (d->is_vector && op == 0x93) ||
        (d->out->is_evex && (op == 0x78 || op == 0x79)))
      write_reg(d);
    else if (op == 0x7e && !d->repeat && d->mod == 3)
      d->out->written |= bit(d->rm);
  } else if (d->map == 3 && op >= 0x14 && op <= 0x17 && d->mod == 3) {
    d->out->written |= bit(d->rm);
  } else if (d->map == 2 && op >= 0xf0 &&
             op <= 0xf7) { /* movbe, crc32, andn, bls*, bzhi, pdep, pext, mulx, adx, bextr */
    d->out->operand.bytes = integer_bytes(d, false);
    if (op != 0xf3 && !(op == 0xf1 && d->mod != 3))
      write_reg(d);
    if (d->is_vector && (op == 0xf3 || op == 0xf6))
      d->out->written |= bit(d->extra);
  } else if (d->map == 3 && op == 0xf0) {
    d->out->operand.bytes = integer_bytes(d, false);
    write_reg(d); /* rorx */
  }
}

static void vector_operation(decoder *d)
{
  lmi_x86_operand *operand = &d->out->operand;
  operand->bytes = vector_bytes(d);
  operand->writes = is_vector_store(d);
  operand->reads = !operand->writes;
  vector_to_integer(d);
}

bool lmi_x86_decode(const uint8_t *code, size_t size, lmi_x86_instruction *instruction)
{
  decoder d = {.code = code, .size = size, .out = instruction, .extra = LMI_X86_NONE};
  *instruction = (lmi_x86_instruction){.operand = {.base = LMI_X86_NONE, .index = LMI_X86_NONE, .scale = 1}};
  take_opcode(&d);
  if (d.ended || is_invalid(&d))
    return false;
  if (has_modrm(&d))
    take_modrm(&d);
  const int bytes = immediate_bytes(&d);
  const int64_t value = take_signed(&d, bytes);
  if (d.ended)
    return false;
  instruction->length = (uint8_t)d.at;
  if (d.map == 0)
    one_byte(&d, value);
  else if (d.is_vector || d.map > 1 || !(two_byte_system(&d, value) || two_byte_integer(&d)))
    vector_operation(&d);
  return true;
}
