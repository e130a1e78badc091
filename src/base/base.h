/* SPDX-License-Identifier: Apache-2.0 */
/* What every layer may use: failing with a sentence, allocation, clocks, text. Knows nothing of grids or flows.
 *
 * Three macros hide control flow, and only these (docs/dev/errors.md):
 *   LMI_TRY(call)                          return the status upward
 *   LMI_TRY_GOTO(status, call, label)      same, when this function owns something
 *   LMI_REQUIRE(ctx, cond, status, ...)    fail with a sentence unless cond holds */
#ifndef LMI_BASE_H
#define LMI_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lamina/context.h>

#define LMI_PRINTF(format_index, first) __attribute__((format(printf, format_index, first)))

#define LMI_TRY(call)                            \
  do {                                           \
    const lamina_status lmi_try_status = (call); \
    if (lmi_try_status != LAMINA_OK)             \
      return lmi_try_status;                     \
  } while (0)

#define LMI_TRY_GOTO(status, call, label) \
  do {                                    \
    (status) = (call);                    \
    if ((status) != LAMINA_OK)            \
      goto label;                         \
  } while (0)

#define LMI_REQUIRE(ctx, condition, status, ...)     \
  do {                                               \
    if (!(condition))                                \
      return lmi_fail((ctx), (status), __VA_ARGS__); \
  } while (0)

#ifdef NDEBUG
#define LMI_ASSERT(condition) ((void)0)
#else
#include <assert.h>
#define LMI_ASSERT(condition) assert(condition)
#endif

#define LMI_COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- failing ---- */

/* Keeps the sentence if it is the first failure since the last clear, and returns `status`. */
lamina_status lmi_fail(lamina_context *ctx, lamina_status status, const char *format, ...) LMI_PRINTF(3, 4);

/* lmi_fail with ": " and the text of `error_number` (an errno value) behind the sentence. */
lamina_status lmi_fail_errno(lamina_context *ctx, lamina_status status, int error_number, const char *format, ...)
  LMI_PRINTF(4, 5);

/* Puts "prefix" in front of the kept sentence: context added on the way up ("case.yaml: ..."). */
lamina_status lmi_fail_within(lamina_context *ctx, lamina_status status, const char *format, ...) LMI_PRINTF(3, 4);

void lmi_log(lamina_context *ctx, lamina_log_level level, const char *format, ...) LMI_PRINTF(3, 4);

/* ---- memory: nothing is allocated outside these ---- */

#define LMI_LINE_BYTES 64u

/* Zeroed array of `count` elements, aligned to a cache line. count * size may overflow: that is a MEMORY error with
 * both numbers in the sentence. count 0 gives a valid pointer. On failure *memory is NULL. */
LAMINA_NODISCARD lamina_status lmi_alloc_array(lamina_context *ctx, size_t count, size_t size, void **memory);
#define LMI_ALLOC(ctx, count, pointer) lmi_alloc_array((ctx), (count), sizeof **(pointer), (void **)(pointer))

/* Large untouched memory on 2 MiB pages where the kernel grants them: whoever writes a page first places it. */
LAMINA_NODISCARD lamina_status lmi_alloc_pages(lamina_context *ctx, size_t bytes, void **memory);
void lmi_free_pages(lamina_context *ctx, void *memory, size_t bytes);

void lmi_free(lamina_context *ctx, void *memory);

/* Copy of a string, or of its first `length` bytes. */
LAMINA_NODISCARD lamina_status lmi_string_copy(lamina_context *ctx, const char *text, char **copy);
LAMINA_NODISCARD lamina_status lmi_string_copy_n(lamina_context *ctx, const char *text, size_t length, char **copy);

/* Number of allocations made through this context so far: tests assert that a time loop leaves it alone. */
uint64_t lmi_allocation_count(const lamina_context *ctx);

/* Another number of worker threads, before anything was made from the context: the case may say how many pay. */
void lmi_set_thread_count(lamina_context *ctx, int threads);

/* ---- text ---- */

/* A string that grows; `data` is never NULL after a successful append. Start with {0}; release with lmi_text_free. */
typedef struct lmi_text {
  char *data;
  size_t length, capacity;
} lmi_text;

LAMINA_NODISCARD lamina_status lmi_text_append(lamina_context *ctx, lmi_text *text, const char *format, ...)
  LMI_PRINTF(3, 4);
void lmi_text_free(lamina_context *ctx, lmi_text *text);

/* The candidate nearest to `word` by edit distance, or NULL when none is within a third of its length. */
const char *lmi_nearest_word(const char *word, const char *const *candidates, size_t count);

/* "512 B", "1.50 GiB": bytes for people. `buffer` holds at least 32 bytes; returns it. */
const char *lmi_format_bytes(double bytes, char *buffer);

/* Numbers in any locale: a point is the decimal sign. false when `text` is not one finite number to its end. */
bool lmi_parse_double(const char *text, double *value);
bool lmi_parse_int64(const char *text, int64_t *value);

/* The fewest digits that read back as the same double, with a point in any locale; "nan", "inf", "-inf". `buffer` holds
 * at least 32 bytes; returns it. */
const char *lmi_format_double(double value, char *buffer);

/* ---- the processor ---- */

/* UNAVAILABLE with a sentence when this processor cannot run the kernels. Asked where a solver is made: what only
 * measures other programs works everywhere. */
LAMINA_NODISCARD lamina_status lmi_require_kernels(lamina_context *ctx);

/* ---- time ---- */

/* Monotonic seconds since an arbitrary start. */
double lmi_clock_seconds(void);

/* ---- integers that must not overflow ---- */

/* a * b into *product; false when it does not fit. */
bool lmi_multiply_size(size_t a, size_t b, size_t *product);

/* ---- libraries found at run time ---- */

typedef struct lmi_symbol {
  const char *name;
  size_t offset; /* of the function pointer in the table struct */
  bool optional;
} lmi_symbol;

/* Opens the first of `names` that exists (NULL-terminated list) and fills `table`. UNAVAILABLE with the loader's own
 * text when none opens or a symbol is missing. *handle is released with lmi_library_close. */
LAMINA_NODISCARD lamina_status lmi_library_open(lamina_context *ctx, const char *const *names,
                                                const lmi_symbol *symbols, size_t symbol_count, void *table,
                                                void **handle);
void lmi_library_close(void *handle);

#endif
