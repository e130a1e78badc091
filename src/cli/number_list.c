/* SPDX-License-Identifier: Apache-2.0 */
#include "number_list.h"

#include <string.h>

static const double RANGE_STEP = 10;

static lamina_status add(const lmi_call *call, const char *option, lmi_bounds bounds, double number, double *numbers,
                         size_t *count)
{
  if (!(number >= bounds.low && number <= bounds.high))
    return lmi_usage_error(call, "--%s: %g is not between %g and %g", option, number, bounds.low, bounds.high);
  if (*count == LMI_MOST_NUMBERS)
    return lmi_usage_error(call, "--%s: more than %d numbers", option, LMI_MOST_NUMBERS);
  numbers[(*count)++] = number;
  return LAMINA_OK;
}

/* One word between commas: a number, or "first..last". */
static lamina_status add_word(const lmi_call *call, const char *option, lmi_bounds bounds, char *word, double *numbers,
                              size_t *count)
{
  double first = 0, last = 0;
  char *dots = strstr(word, "..");
  if (dots != NULL)
    *dots = '\0';
  if (!lmi_parse_double(word, &first) || (dots != NULL && !lmi_parse_double(dots + 2, &last)))
    return lmi_usage_error(call, "--%s: \"%s\" is no number, and no range such as 0..50", option, word);
  if (dots == NULL)
    return add(call, option, bounds, first, numbers, count);
  if (last < first)
    return lmi_usage_error(call, "--%s: the range %g..%g falls", option, first, last);
  for (double number = first; number <= last + 1e-9; number += RANGE_STEP)
    LMI_TRY(add(call, option, bounds, number, numbers, count));
  return LAMINA_OK;
}

lamina_status lmi_number_list(const lmi_call *call, const char *option, const char *text, lmi_bounds bounds,
                              double *numbers, size_t *count)
{
  *count = 0;
  for (const char *at = text;; at++) {
    char word[64];
    const size_t length = strcspn(at, ",");
    if (length == 0 || length >= sizeof word)
      return lmi_usage_error(call, "--%s %s: a list of numbers such as 0,10,20 is needed", option, text);
    memcpy(word, at, length);
    word[length] = '\0';
    LMI_TRY(add_word(call, option, bounds, word, numbers, count));
    at += length;
    if (*at == '\0')
      return LAMINA_OK;
  }
}
