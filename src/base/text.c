/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"

enum { MAX_WORD = 48 };

lamina_status lmi_text_append(lamina_context *ctx, lmi_text *text, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  const int needed = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  LMI_REQUIRE(ctx, needed >= 0, LAMINA_ERROR_SYSTEM, "a text could not be formatted");

  const size_t wanted = text->length + (size_t)needed + 1;
  if (wanted > text->capacity) {
    const size_t capacity = wanted < 256 ? 256 : 2 * wanted;
    char *grown = NULL;
    LMI_TRY(LMI_ALLOC(ctx, capacity, &grown));
    if (text->length > 0)
      memcpy(grown, text->data, text->length);
    lmi_free(ctx, text->data);
    text->data = grown;
    text->capacity = capacity;
  }
  va_start(arguments, format);
  vsnprintf(text->data + text->length, (size_t)needed + 1, format, arguments);
  va_end(arguments);
  text->length += (size_t)needed;
  return LAMINA_OK;
}

void lmi_text_free(lamina_context *ctx, lmi_text *text)
{
  lmi_free(ctx, text->data);
  *text = (lmi_text){0};
}

/* Levenshtein distance; words are short, so two rows on the stack do. */
static size_t edit_distance(const char *a, const char *b)
{
  const size_t n = strlen(b);
  size_t row[MAX_WORD + 1];
  for (size_t j = 0; j <= n; j++)
    row[j] = j;
  for (size_t i = 1; a[i - 1] != '\0'; i++) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= n; j++) {
      const size_t substituted = diagonal + (a[i - 1] != b[j - 1]);
      const size_t changed = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
      diagonal = row[j];
      row[j] = substituted < changed ? substituted : changed;
    }
  }
  return row[n];
}

const char *lmi_nearest_word(const char *word, const char *const *candidates, size_t count)
{
  const size_t length = strlen(word);
  if (length > MAX_WORD)
    return NULL;
  const char *nearest = NULL;
  size_t best = length / 3 + 2;
  for (size_t i = 0; i < count; i++) {
    if (strlen(candidates[i]) > MAX_WORD)
      continue;
    const size_t distance = edit_distance(word, candidates[i]);
    if (distance < best && distance < strlen(candidates[i])) {
      best = distance;
      nearest = candidates[i];
    }
  }
  return nearest;
}

const char *lmi_format_bytes(double bytes, char *buffer)
{
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  size_t unit = 0;
  while (bytes >= 1024.0 && unit + 1 < LMI_COUNT(units)) {
    bytes /= 1024.0;
    unit++;
  }
  snprintf(buffer, 32, unit == 0 ? "%.0f %s" : "%.2f %s", bytes, units[unit]);
  return buffer;
}

bool lmi_parse_double(const char *text, double *value)
{
  locale_t point = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
  if (point == (locale_t)0)
    return false;
  char *end = NULL;
  const double parsed = strtod_l(text, &end, point);
  freelocale(point);
  if (end == text || *end != '\0' || !isfinite(parsed))
    return false;
  *value = parsed;
  return true;
}

const char *lmi_format_double(double value, char *buffer)
{
  if (!isfinite(value)) {
    snprintf(buffer, 32, "%s", isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
    return buffer;
  }
  locale_t point = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
  const locale_t kept = point != (locale_t)0 ? uselocale(point) : (locale_t)0;
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(buffer, 32, "%.*g", digits, value);
    if (strtod(buffer, NULL) == value)
      break;
  }
  if (point != (locale_t)0) {
    uselocale(kept);
    freelocale(point);
  }
  return buffer;
}

bool lmi_parse_int64(const char *text, int64_t *value)
{
  char *end = NULL;
  errno = 0;
  const long long parsed = strtoll(text, &end, 10);
  if (end == text || *end != '\0' || errno != 0)
    return false;
  *value = parsed;
  return true;
}
