/* SPDX-License-Identifier: Apache-2.0 */
/* Which memory a program is about to touch, from nothing but the registers of a sample and the code at its instruction
 * pointer: a walk forward through the code that carries the registers along as far as they stay known. */
#ifndef LMI_OPERAND_H
#define LMI_OPERAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Copies code at `address` into buffer, at most `size` bytes; returns how many there are. */
typedef size_t lmi_code_reader(void *user, uint64_t address, uint8_t *buffer, size_t size);

typedef struct lmi_access {
  uint64_t address, instruction;
  uint8_t bytes;
  bool reads, writes;
} lmi_access;

enum { LMI_MOST_ACCESSES = 64 };

/* The accesses of the straight piece of code at `ip`: up to the first call, return, indirect jump or forward branch.
 * One backward branch is taken as taken, so that a sample anywhere in a simple loop sees the whole loop. `registers` in
 * the order of the encodings (decode_x86.h). Accesses whose address is not known (it depends on memory read on the way)
 * are left out; their number goes to *unknown. */
size_t lmi_operand_walk(lmi_code_reader *read, void *user, uint64_t ip, const uint64_t *registers, lmi_access *accesses,
                        size_t most, size_t *unknown);

#endif
