/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "case_read.h"

size_t lmi_case_enter(lmi_case_reader *reader, const char *word)
{
  const size_t length = strlen(reader->path);
  snprintf(reader->path + length, sizeof reader->path - length, "%s%.60s", length > 0 ? "." : "", word);
  return length;
}

size_t lmi_case_enter_entry(lmi_case_reader *reader, size_t index)
{
  char word[24];
  snprintf(word, sizeof word, "%zu", index);
  return lmi_case_enter(reader, word);
}

void lmi_case_leave(lmi_case_reader *reader, size_t length)
{
  reader->path[length] = '\0';
}

lamina_status lmi_case_fail(lmi_case_reader *reader, const lmi_tree_node *node, const char *format, ...)
{
  char sentence[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(sentence, sizeof sentence, format, arguments);
  va_end(arguments);
  char place[256];
  lmi_tree_place(node, place, sizeof place);
  if (reader->path[0] == '\0')
    return lmi_fail(reader->ctx, LAMINA_ERROR_CASE, "%s: %s", place, sentence);
  return lmi_fail(reader->ctx, LAMINA_ERROR_CASE, "%s: %s: %s", place, reader->path, sentence);
}

/* ---- maps ---- */

static const lmi_case_key *find_key(const lmi_case_key *keys, size_t count, const char *name)
{
  for (size_t i = 0; i < count; i++)
    if (strcmp(keys[i].name, name) == 0)
      return &keys[i];
  return NULL;
}

static lamina_status fail_unknown(lmi_case_reader *reader, const lmi_tree_node *node, const lmi_case_key *keys,
                                  size_t count)
{
  enum { MOST_KEYS = 40 };
  const char *names[MOST_KEYS];
  char list[320] = "";
  size_t used = 0;
  const size_t shown = count < MOST_KEYS ? count : MOST_KEYS;
  for (size_t i = 0; i < shown; i++) {
    names[i] = keys[i].name;
    used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i > 0 ? ", " : "", keys[i].name);
    if (used >= sizeof list)
      used = sizeof list - 1;
  }
  const char *nearest = lmi_nearest_word(node->key, names, shown);
  if (nearest != NULL)
    return lmi_case_fail(reader, node, "unknown key '%.60s'; did you mean '%s'? Known here: %s", node->key, nearest,
                         list);
  return lmi_case_fail(reader, node, "unknown key '%.60s'; known here: %s", node->key, list);
}

lamina_status lmi_case_read_map(lmi_case_reader *reader, const lmi_tree_node *node, const lmi_case_key *keys,
                                size_t count, void *target)
{
  char what[64];
  if (node->kind != LMI_TREE_MAP)
    return lmi_case_fail(reader, node, "%s is not a map; write `%s: ...` below it, first key",
                         lmi_tree_describe(node, what, sizeof what), keys[0].name);
  for (const lmi_tree_node *child = node->first; child != NULL; child = child->next) {
    const lmi_case_key *key = find_key(keys, count, child->key);
    if (key == NULL)
      return fail_unknown(reader, child, keys, count);
    const size_t length = lmi_case_enter(reader, key->name);
    LMI_TRY(key->read(reader, child, key, (char *)target + key->offset));
    lmi_case_leave(reader, length);
  }
  return LAMINA_OK;
}

/* ---- numbers ---- */

static const char *hint_of(const lmi_case_key *key, char *buffer, size_t capacity)
{
  buffer[0] = '\0';
  if (key->hint != NULL)
    snprintf(buffer, capacity, "; %s", key->hint);
  return buffer;
}

static lamina_status fail_quantity(lmi_case_reader *reader, const lmi_tree_node *node, const lmi_case_key *key,
                                   lmi_quantity_fault fault)
{
  char what[64], hint[160];
  lmi_tree_describe(node, what, sizeof what);
  hint_of(key, hint, sizeof hint);
  const char *units = lmi_dimension_units(key->dimension);
  if (fault == LMI_QUANTITY_NOT_FINITE)
    return lmi_case_fail(reader, node, "%s is not a finite number; allowed %s%.6g to %.6g%s", what,
                         key->above_low ? "above " : "", key->low, key->high, hint);
  if (fault == LMI_QUANTITY_UNKNOWN_UNIT && units[0] == '\0')
    return lmi_case_fail(reader, node, "%s has a unit, but this is a pure number%s", what, hint);
  if (fault == LMI_QUANTITY_UNKNOWN_UNIT)
    return lmi_case_fail(reader, node, "%s has an unknown unit; allowed: %s%s", what, units, hint);
  return lmi_case_fail(reader, node, "%s is not a number%s%s%s%s", what,
                       units[0] != '\0' ? "; a number with one of the units " : "", units,
                       units[0] != '\0' ? ", or without (SI)" : "", hint);
}

lamina_status lmi_case_read_number(lmi_case_reader *reader, const lmi_tree_node *node, const lmi_case_key *key,
                                   double *value)
{
  if (node->kind != LMI_TREE_SCALAR)
    return fail_quantity(reader, node, key, LMI_QUANTITY_NOT_A_NUMBER);
  const lmi_quantity_fault fault = lmi_quantity_parse(node->text, key->dimension, value);
  if (fault != LMI_QUANTITY_OK)
    return fail_quantity(reader, node, key, fault);
  const bool is_inside = (key->above_low ? *value > key->low : *value >= key->low) && *value <= key->high;
  if (!is_inside) {
    char hint[160];
    return lmi_case_fail(reader, node, "%.40s is outside %c%.6g, %.6g]%s", node->text, key->above_low ? '(' : '[',
                         key->low, key->high, hint_of(key, hint, sizeof hint));
  }
  return LAMINA_OK;
}

lamina_status lmi_case_read_real(lmi_case_reader *reader, const lmi_tree_node *node, const lmi_case_key *key,
                                 void *target)
{
  lmi_case_real *real = target;
  real->where = node;
  return lmi_case_read_number(reader, node, key, &real->value);
}

lamina_status lmi_case_read_integer(lmi_case_reader *reader, const lmi_tree_node *node, const lmi_case_key *key,
                                    void *target)
{
  lmi_case_integer *integer = target;
  char what[64], hint[160];
  integer->where = node;
  int64_t value = 0;
  double real = 0;
  if (node->kind != LMI_TREE_SCALAR || lmi_quantity_parse(node->text, LMI_DIMENSION_NONE, &real) != LMI_QUANTITY_OK)
    return lmi_case_fail(reader, node, "%s is not a whole number; allowed %.0f to %.0f%s",
                         lmi_tree_describe(node, what, sizeof what), key->low, key->high,
                         hint_of(key, hint, sizeof hint));
  if (real < key->low || real > key->high)
    return lmi_case_fail(reader, node, "%.40s is outside [%.0f, %.0f]%s", node->text, key->low, key->high,
                         hint_of(key, hint, sizeof hint));
  if (!lmi_parse_int64(node->text, &value)) {
    if (floor(real) != real)
      return lmi_case_fail(reader, node, "%.40s is not a whole number; allowed %.0f to %.0f%s", node->text, key->low,
                           key->high, hint_of(key, hint, sizeof hint));
    value = (int64_t)real;
  }
  integer->value = value;
  return LAMINA_OK;
}

lamina_status lmi_case_read_vector(lmi_case_reader *reader, const lmi_tree_node *node, const lmi_case_key *key,
                                   void *target)
{
  lmi_case_vector *vector = target;
  char what[64];
  vector->where = node;
  vector->count = 0;
  if (node->kind != LMI_TREE_LIST)
    return lmi_case_fail(reader, node, "%s is not a list of numbers; write [x, y] or [x, y, z]",
                         lmi_tree_describe(node, what, sizeof what));
  for (const lmi_tree_node *child = node->first; child != NULL; child = child->next) {
    if (vector->count == 3)
      return lmi_case_fail(reader, child, "more than three numbers; write [x, y] or [x, y, z]");
    const size_t length = lmi_case_enter_entry(reader, (size_t)vector->count);
    LMI_TRY(lmi_case_read_number(reader, child, key, &vector->value[vector->count]));
    lmi_case_leave(reader, length);
    vector->count++;
  }
  if (vector->count < 2)
    return lmi_case_fail(reader, node, "a list of %d; write [x, y] or [x, y, z]", vector->count);
  return LAMINA_OK;
}

/* ---- times ---- */

/* "100 steps" */
static bool parse_steps(const char *text, int64_t *steps)
{
  char number[32];
  const size_t length = strspn(text, "0123456789");
  const char *rest = text + length;
  rest += strspn(rest, " ");
  if (length == 0 || length >= sizeof number || (strcmp(rest, "steps") != 0 && strcmp(rest, "step") != 0))
    return false;
  memcpy(number, text, length);
  number[length] = '\0';
  return lmi_parse_int64(number, steps);
}

lamina_status lmi_case_read_span(lmi_case_reader *reader, const lmi_tree_node *node, const lmi_case_key *key,
                                 void *target)
{
  lmi_case_span *span = target;
  span->where = node;
  int64_t steps = 0;
  if (node->kind == LMI_TREE_SCALAR && parse_steps(node->text, &steps)) {
    if (steps < 1)
      return lmi_case_fail(reader, node, "'%.40s' is no time at all; at least 1 step", node->text);
    span->is_steps = true;
    span->steps = steps;
    return LAMINA_OK;
  }
  return lmi_case_read_number(reader, node, key, &span->seconds);
}

/* ---- words ---- */

const char *lmi_case_list_words(const lmi_case_word *words, char *buffer, size_t capacity)
{
  size_t used = 0;
  buffer[0] = '\0';
  for (const lmi_case_word *word = words; word->name != NULL && used < capacity; word++)
    used += (size_t)snprintf(buffer + used, capacity - used, "%s%s", word == words ? "" : ", ", word->name);
  return buffer;
}

lamina_status lmi_case_read_choice(lmi_case_reader *reader, const lmi_tree_node *node, const lmi_case_key *key,
                                   void *target)
{
  lmi_case_choice *choice = target;
  choice->where = node;
  enum { MOST_WORDS = 16 };
  const char *names[MOST_WORDS];
  size_t count = 0;
  for (const lmi_case_word *word = key->words; word->name != NULL && count < MOST_WORDS; word++) {
    if (node->kind == LMI_TREE_SCALAR && strcmp(word->name, node->text) == 0) {
      choice->value = word->value;
      return LAMINA_OK;
    }
    names[count++] = word->name;
  }
  char list[256], what[64];
  lmi_case_list_words(key->words, list, sizeof list);
  const char *nearest = node->kind == LMI_TREE_SCALAR ? lmi_nearest_word(node->text, names, count) : NULL;
  return lmi_case_fail(reader, node, "%s is not one of: %s%s%s%s", lmi_tree_describe(node, what, sizeof what), list,
                       nearest != NULL ? "; did you mean '" : "", nearest != NULL ? nearest : "",
                       nearest != NULL ? "'?" : "");
}

lamina_status lmi_case_read_text(lmi_case_reader *reader, const lmi_tree_node *node, const lmi_case_key *key,
                                 void *target)
{
  lmi_case_text *text = target;
  char what[64];
  text->where = node;
  if (node->kind != LMI_TREE_SCALAR)
    return lmi_case_fail(reader, node, "%s is not a text", lmi_tree_describe(node, what, sizeof what));
  const size_t length = strlen(node->text);
  if ((double)length > key->high || (double)length < key->low)
    return lmi_case_fail(reader, node, "a text of %zu characters; allowed %.0f to %.0f", length, key->low, key->high);
  for (const char *c = node->text; *c != '\0'; c++)
    if ((unsigned char)*c < 0x20)
      return lmi_case_fail(reader, node, "the text holds a line break or control character; write it in one line");
  text->value = node->text;
  return LAMINA_OK;
}
