/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of keys and the readers of their values. A map of the case file is an array of lmi_case_key; every message has
 * the form cavity.yaml:12: fluid.reynolds: -5 is outside (0, 1e+12]; give U L / viscosity */
#ifndef LMI_CASE_READ_H
#define LMI_CASE_READ_H

#include "case_file.h"
#include "case_quantity.h"

typedef struct lmi_case_reader {
  lamina_context *ctx;
  lamina_case *flow;
  char path[128]; /* of the value being read: "output.2.every" */
} lmi_case_reader;

typedef struct lmi_case_key lmi_case_key;

/* Reads `node` into `target`, as `key` says. */
typedef lamina_status lmi_case_read_value(lmi_case_reader *reader, const lmi_tree_node *node, const lmi_case_key *key,
                                          void *target);

/* A name and the value it stands for. */
typedef struct lmi_case_word {
  const char *name;
  int value;
} lmi_case_word;

struct lmi_case_key {
  const char *name;
  lmi_case_read_value *read;
  size_t offset;    /* of the target in the struct of the map */
  double low, high; /* numbers: allowed from low to high */
  bool above_low;   /* low itself is not allowed */
  lmi_dimension dimension;
  const char *hint;           /* what to do: "give U L / viscosity"; NULL: nothing to add */
  const lmi_case_word *words; /* choices: NULL-name terminated */
};

/* Reads a map by its table: unknown keys are refused with the nearest known one. */
LAMINA_NODISCARD lamina_status lmi_case_read_map(lmi_case_reader *reader, const lmi_tree_node *node,
                                                 const lmi_case_key *keys, size_t count, void *target);

/* Readers for tables. Targets: lmi_case_real, _integer, _choice, _text, _span; _vector takes 1 to 3 numbers. */
lmi_case_read_value lmi_case_read_real, lmi_case_read_integer, lmi_case_read_choice, lmi_case_read_text,
  lmi_case_read_span, lmi_case_read_vector;

/* One number (also the entry of a list) into *value. */
LAMINA_NODISCARD lamina_status lmi_case_read_number(lmi_case_reader *reader, const lmi_tree_node *node,
                                                    const lmi_case_key *key, double *value);

/* Adds ".word" to the path; returns the length to restore with lmi_case_leave. */
size_t lmi_case_enter(lmi_case_reader *reader, const char *word);
size_t lmi_case_enter_entry(lmi_case_reader *reader, size_t index);
void lmi_case_leave(lmi_case_reader *reader, size_t length);

/* CASE error: "FILE:LINE: PATH: sentence". */
lamina_status lmi_case_fail(lmi_case_reader *reader, const lmi_tree_node *node, const char *format, ...)
  LMI_PRINTF(3, 4);

/* "a, b, c" of a word list. */
const char *lmi_case_list_words(const lmi_case_word *words, char *buffer, size_t capacity);

#endif
