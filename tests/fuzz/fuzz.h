/* SPDX-License-Identifier: Apache-2.0 */
/* Mutation testing of what reads files. A target is one file with the two functions below; fuzz_main.c changes its
 * seeds at random for some seconds and feeds them in. Any crash, sanitizer report, hang or allocation beyond
 * LMI_FUZZ_MOST_BYTES ends the program and leaves the input in the file "input".
 *
 * lmi_fuzz_one has the shape of libFuzzer's entry, so the same targets can be linked with clang -fsanitize=fuzzer by
 * -DLLVMFuzzerTestOneInput=lmi_fuzz_one, where coverage guidance is wanted. */
#ifndef LMI_FUZZ_H
#define LMI_FUZZ_H

#include <stddef.h>
#include <stdint.h>

#include <lamina/context.h>

static const size_t LMI_FUZZ_MOST_BYTES = (size_t)1 << 30;

/* Feeds one input; it stands in the file "input" too. Returns 0. */
int lmi_fuzz_one(const uint8_t *data, size_t bytes);

/* Calls `add` for each valid input. */
typedef void lmi_fuzz_add(const void *data, size_t bytes);
void lmi_fuzz_seed(lmi_fuzz_add *add);

/* A context of one thread whose allocator ends the program when it is asked for too much. */
lamina_context *lmi_fuzz_context(void);

/* Adds a whole file as a seed. */
void lmi_fuzz_add_file(const char *path, lmi_fuzz_add *add);

#endif
