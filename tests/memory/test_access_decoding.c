/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions with what the manual says of them, and walks through code that was assembled by hand. */
#include "support/test.h"

#include "memory/decode_x86.h"
#include "memory/operand.h"

typedef struct encoding {
  const char *text;
  uint8_t code[16];
  uint8_t length;
  bool has_memory, reads, writes;
  uint8_t bytes;
  uint32_t written;
} encoding;

#define R(n) (UINT32_C(1) << (n))

static const encoding encodings[] = {
  {"mov (%rax),%rcx", {0x48, 0x8b, 0x08}, 3, true, true, false, 8, R(1)},
  {"mov %ecx,0x10(%rsp)", {0x89, 0x4c, 0x24, 0x10}, 4, true, false, true, 4, 0},
  {"add %rax,8(%rdi,%rsi,8)", {0x48, 0x01, 0x44, 0xf7, 0x08}, 5, true, true, true, 8, 0},
  {"cmp $1,(%rbx)", {0x83, 0x3b, 0x01}, 3, true, true, false, 4, 0},
  {"lea 4(%rax,%rax,2),%rdx", {0x48, 0x8d, 0x54, 0x40, 0x04}, 5, false, false, false, 0, R(2)},
  {"nopw 0(%rax,%rax)", {0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00}, 6, false, false, false, 0, 0},
  {"prefetcht0 (%rax)", {0x0f, 0x18, 0x08}, 3, false, false, false, 0, 0},
  {"movabs $..,%r10", {0x49, 0xba, 1, 2, 3, 4, 5, 6, 7, 8}, 10, false, false, false, 0, R(10)},
  {"push %r12", {0x41, 0x54}, 2, true, false, true, 8, R(4)},
  {"ret", {0xc3}, 1, true, true, false, 8, R(4)},
  {"movsd (%rdx),%xmm0", {0xf2, 0x0f, 0x10, 0x02}, 4, true, true, false, 8, 0},
  {"movss %xmm1,(%rdx)", {0xf3, 0x0f, 0x11, 0x0a}, 4, true, false, true, 4, 0},
  {"vmovups (%rax),%ymm0", {0xc5, 0xfc, 0x10, 0x00}, 4, true, true, false, 32, 0},
  {"vfmadd231pd (%rcx,%rax),%ymm1,%ymm2", {0xc4, 0xe2, 0xf5, 0xb8, 0x14, 0x01}, 6, true, true, false, 32, 0},
  {"vmovupd %zmm0,64(%rax)", {0x62, 0xf1, 0xfd, 0x48, 0x11, 0x40, 0x01}, 7, true, false, true, 64, 0},
  {"vmovsd 8(%rax),%xmm1", {0xc5, 0xfb, 0x10, 0x48, 0x08}, 5, true, true, false, 8, 0},
  {"movzbl (%rsi),%eax", {0x0f, 0xb6, 0x06}, 3, true, true, false, 1, R(0)},
  {"rep stosq", {0xf3, 0x48, 0xab}, 3, true, false, true, 8, R(7) | R(1)},
  {"imul $3,%rdx,%rax", {0x48, 0x6b, 0xc2, 0x03}, 4, false, false, false, 0, R(0)},
  {"movntps %xmm0,(%rdi)", {0x0f, 0x2b, 0x07}, 3, true, false, true, 16, 0},
  {"mov 0x1000(%rip),%rax", {0x48, 0x8b, 0x05, 0x00, 0x10, 0, 0}, 7, true, true, false, 8, R(0)},
  {"testl $..,(%rax)", {0xf7, 0x00, 1, 0, 0, 0}, 6, true, true, false, 4, 0},
  {"vmovd %xmm0,%eax", {0xc5, 0xf9, 0x7e, 0xc0}, 4, false, false, false, 0, R(0)},
};

static void instructions_are_what_the_manual_says(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof encodings / sizeof encodings[0]; i++) {
    const encoding *e = &encodings[i];
    lmi_x86_instruction in;
    print_message("%s\n", e->text);
    assert_true(lmi_x86_decode(e->code, sizeof e->code, &in));
    assert_int_equal(in.length, e->length);
    assert_int_equal(in.operand.is_present, e->has_memory);
    assert_int_equal(in.written, e->written);
    if (!e->has_memory)
      continue;
    assert_int_equal(in.operand.reads, e->reads);
    assert_int_equal(in.operand.writes, e->writes);
    assert_int_equal(in.operand.bytes, e->bytes);
  }
}

static void compressed_displacements_are_scaled(void **state)
{
  (void)state;
  const uint8_t code[] = {0x62, 0xf1, 0xfd, 0x48, 0x11, 0x40, 0x01}; /* vmovupd %zmm0,64(%rax): stored as 1 */
  lmi_x86_instruction in;
  assert_true(lmi_x86_decode(code, sizeof code, &in));
  assert_true(in.is_evex);
  assert_int_equal(in.operand.displacement, 64);
  assert_false(in.operand.is_uncertain);
}

static void half_instructions_are_refused(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof encodings / sizeof encodings[0]; i++) {
    lmi_x86_instruction in;
    for (size_t size = 0; size < encodings[i].length; size++)
      assert_false(lmi_x86_decode(encodings[i].code, size, &in));
  }
}

/* Any bytes at all: never more than 15 of them, never beyond what is there. */
static void random_bytes_do_no_harm(void **state)
{
  (void)state;
  uint64_t random = 1;
  for (int round = 0; round < 300000; round++) {
    uint8_t code[16];
    lmi_x86_instruction in;
    for (size_t i = 0; i < sizeof code; i++) {
      random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
      code[i] = (uint8_t)(random >> 56);
    }
    const size_t size = random >> 40 & 15;
    if (!lmi_x86_decode(code, size, &in))
      continue;
    assert_in_range(in.length, 1, size);
    assert_true(in.written < UINT32_C(1) << 16);
  }
}

/* ---- walks ---- */

typedef struct program {
  const uint8_t *code;
  size_t size;
  uint64_t at;
} program;

static size_t read_program(void *user, uint64_t address, uint8_t *buffer, size_t size)
{
  const program *p = user;
  if (address < p->at || address >= p->at + p->size)
    return 0;
  const size_t offset = (size_t)(address - p->at), left = p->size - offset;
  const size_t take = left < size ? left : size;
  memcpy(buffer, p->code + offset, take);
  return take;
}

static size_t walk_from(program *p, size_t offset, const uint64_t *registers, lmi_access *accesses, size_t *unknown)
{
  return lmi_operand_walk(read_program, p, p->at + offset, registers, accesses, LMI_MOST_ACCESSES, unknown);
}

/* loop: movsd (%rsi,%rax,8); movsd %xmm0,(%rdi,%rax,8); add $1,%rax; cmp %rcx,%rax; jne loop */
static const uint8_t copy_loop[] = {0xf2, 0x0f, 0x10, 0x04, 0xc6, 0xf2, 0x0f, 0x11, 0x04, 0xc7,
                                    0x48, 0x83, 0xc0, 0x01, 0x48, 0x39, 0xc8, 0x75, 0xed};

/* From the middle of the loop on, the store of this round and the load of the next one are known. */
static void a_loop_is_seen_whole(void **state)
{
  (void)state;
  program p = {copy_loop, sizeof copy_loop, 0x400000};
  uint64_t registers[16] = {[0] = 10, [6] = 0x10000, [7] = 0x20000};
  lmi_access accesses[LMI_MOST_ACCESSES];
  size_t unknown = 0;
  assert_int_equal(walk_from(&p, 5, registers, accesses, &unknown), 2);
  assert_int_equal(unknown, 0);
  assert_true(accesses[0].address == 0x20000 + 80 && accesses[0].writes && accesses[0].instruction == 0x400005);
  assert_true(accesses[1].address == 0x10000 + 88 && accesses[1].reads && accesses[1].instruction == 0x400000);
}

/* A pointer that was read on the way is not known: its use is counted as such, not guessed. */
static void a_loaded_pointer_is_unknown(void **state)
{
  (void)state;
  static const uint8_t code[] = {0x48, 0x8b, 0x07, 0x48, 0x8b, 0x08, 0xc3}; /* mov (%rdi),%rax; mov (%rax),%rcx; ret */
  program p = {code, sizeof code, 0x1000};
  uint64_t registers[16] = {[7] = 0x5000, [4] = 0x7000};
  lmi_access accesses[LMI_MOST_ACCESSES];
  size_t unknown = 0;
  assert_int_equal(walk_from(&p, 0, registers, accesses, &unknown), 2);
  assert_true(accesses[0].address == 0x5000 && accesses[1].address == 0x7000);
  assert_int_equal(unknown, 1);
}

/* imul, add, shr, and: an index out of a linear congruential generator. */
static void arithmetic_is_carried_along(void **state)
{
  (void)state;
  static const uint8_t code[] = {0x48, 0x69, 0xc0, 0x0d, 0x66, 0x19, 0x00, /* imul $1664525,%rax,%rax */
                                 0x48, 0x05, 0x5f, 0xf3, 0x6e, 0x3c,       /* add $1013904223,%rax */
                                 0x48, 0x89, 0xc2,                         /* mov %rax,%rdx */
                                 0x48, 0xc1, 0xea, 0x05,                   /* shr $5,%rdx */
                                 0x81, 0xe2, 0xff, 0x00, 0x00, 0x00,       /* and $255,%edx */
                                 0x48, 0x8b, 0x0c, 0xd7, 0xc3};            /* mov (%rdi,%rdx,8),%rcx; ret */
  program p = {code, sizeof code, 0x1000};
  uint64_t registers[16] = {[0] = 77, [7] = 0x100000, [4] = 0x7000};
  lmi_access accesses[LMI_MOST_ACCESSES];
  size_t unknown = 0;
  const uint64_t state_after = 77 * UINT64_C(1664525) + 1013904223;
  assert_int_equal(walk_from(&p, 0, registers, accesses, &unknown), 2);
  assert_int_equal(unknown, 0);
  assert_true(accesses[0].address == 0x100000 + 8 * ((state_after >> 5) & 255));
  registers[0] = state_after;
  assert_int_equal(walk_from(&p, 13, registers, accesses, &unknown), 2);
  assert_true(accesses[0].address == 0x100000 + 8 * ((state_after >> 5) & 255));
}

/* Neither a call nor a forward branch is followed; code that is not there ends the walk. */
static void walks_end_where_knowledge_ends(void **state)
{
  (void)state;
  static const uint8_t branch[] = {0x74, 0x10, 0x48, 0x8b, 0x07}; /* je +16; mov (%rdi),%rax */
  program p = {branch, sizeof branch, 0x1000};
  uint64_t registers[16] = {[7] = 0x5000};
  lmi_access accesses[LMI_MOST_ACCESSES];
  size_t unknown = 0;
  assert_int_equal(walk_from(&p, 0, registers, accesses, &unknown), 0);
  assert_int_equal(walk_from(&p, 2, registers, accesses, &unknown), 1);
  assert_int_equal(walk_from(&p, 100, registers, accesses, &unknown), 0);
}

LMI_TEST_MAIN(cmocka_unit_test(instructions_are_what_the_manual_says),
              cmocka_unit_test(compressed_displacements_are_scaled), cmocka_unit_test(half_instructions_are_refused),
              cmocka_unit_test(random_bytes_do_no_harm), cmocka_unit_test(a_loop_is_seen_whole),
              cmocka_unit_test(a_loaded_pointer_is_unknown), cmocka_unit_test(arithmetic_is_carried_along),
              cmocka_unit_test(walks_end_where_knowledge_ends))
