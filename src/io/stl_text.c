/* SPDX-License-Identifier: Apache-2.0 */
/* STL as text: words between blanks, in any case. What stands between "solid" or "endsolid" and the end of its line is
 * a name, and may be anything. */
#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "stl.h"

typedef struct scanner {
  lamina_context *ctx;
  const char *path;
  const char *at, *end;
  int64_t line;
  const char *word; /* the current one; length 0 at the end of the text */
  size_t length;
} scanner;

static void next_word(scanner *s)
{
  while (s->at < s->end && (isspace((unsigned char)*s->at) || *s->at == '\0')) {
    /* CR LF is one line end, as is CR alone. */
    if (*s->at == '\n' || (*s->at == '\r' && (s->at + 1 == s->end || s->at[1] != '\n')))
      s->line++;
    s->at++;
  }
  s->word = s->at;
  while (s->at < s->end && !isspace((unsigned char)*s->at) && *s->at != '\0')
    s->at++;
  s->length = (size_t)(s->at - s->word);
}

static void skip_line(scanner *s)
{
  while (s->at < s->end && *s->at != '\n' && *s->at != '\r')
    s->at++;
}

static bool is_word(const scanner *s, const char *word)
{
  return s->length == strlen(word) && strncasecmp(s->word, word, s->length) == 0;
}

static int shown(const scanner *s)
{
  return s->length < 40 ? (int)s->length : 40;
}

static lamina_status fail_word(const scanner *s, const char *wanted, size_t facets)
{
  if (s->length == 0)
    return lmi_fail(s->ctx, LAMINA_ERROR_CASE,
                    "%s:%lld: the text ends where '%s' should stand: it is cut short after %zu "
                    "whole facets",
                    s->path, (long long)s->line, wanted, facets);
  return lmi_fail(s->ctx, LAMINA_ERROR_CASE, "%s:%lld: '%.*s' stands where '%s' should (facet %zu)", s->path,
                  (long long)s->line, shown(s), s->word, wanted, facets + 1);
}

/* The next word must be this one. */
static lamina_status expect(scanner *s, const char *word, size_t facets)
{
  next_word(s);
  return is_word(s, word) ? LAMINA_OK : fail_word(s, word, facets);
}

/* Reads "e-12" at *at; false when no digit follows. */
static bool parse_exponent(const char **at, const char *end, int *exponent)
{
  (*at)++;
  const int sign = *at < end && **at == '-' ? -1 : 1;
  *at += *at < end && (**at == '-' || **at == '+');
  const char *first = *at;
  for (; *at < end && isdigit((unsigned char)**at) && *at - first < 4; (*at)++)
    *exponent = 10 * *exponent + (**at - '0');
  *exponent *= sign;
  return *at > first;
}

/* Digits with at most one point; false when there are none, or more than a double surely holds. */
static bool parse_digits(const char **at, const char *end, int64_t *digits, int *scale)
{
  int count = 0;
  bool has_point = false;
  for (; *at < end && count <= 15 && (isdigit((unsigned char)**at) || (**at == '.' && !has_point)); (*at)++) {
    if (**at == '.') {
      has_point = true;
      continue;
    }
    *digits = 10 * *digits + (**at - '0');
    *scale -= has_point;
    count++;
  }
  return count > 0 && count <= 15;
}

/* A number without a library call, where that is exact: up to 15 digits and a power of ten that a double holds. */
static bool parse_short(const char *text, size_t length, double *value)
{
  static const double POWERS[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                  1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  const char *at = text, *end = text + length;
  const bool is_negative = at < end && *at == '-';
  at += at < end && (*at == '-' || *at == '+');
  int64_t digits = 0;
  int scale = 0, exponent = 0;
  if (!parse_digits(&at, end, &digits, &scale))
    return false;
  if (at < end && (*at == 'e' || *at == 'E') && !parse_exponent(&at, end, &exponent))
    return false;
  const int power = exponent + scale;
  if (at != end || power < -22 || power > 22)
    return false;
  const double magnitude = power < 0 ? (double)digits / POWERS[-power] : (double)digits * POWERS[power];
  *value = is_negative ? -magnitude : magnitude;
  return true;
}

static lamina_status read_number(scanner *s, size_t facets, double *value)
{
  next_word(s);
  if (parse_short(s->word, s->length, value))
    return LAMINA_OK;
  char text[64];
  if (s->length == 0)
    return fail_word(s, "a number", facets);
  const size_t length = s->length < sizeof text ? s->length : sizeof text - 1;
  for (size_t i = 0; i < length; i++)
    text[i] = (char)(s->word[i] == 'd' || s->word[i] == 'D' ? 'e' : s->word[i]); /* exponents as Fortran writes them */
  text[length] = '\0';
  if (s->length >= sizeof text || strpbrk(text, "xXpP") != NULL || !lmi_parse_double(text, value))
    return lmi_fail(s->ctx, LAMINA_ERROR_CASE,
                    "%s:%lld: '%.*s' is not a finite number (facet %zu); write it like 1.5 or 1.5e-3", s->path,
                    (long long)s->line, shown(s), s->word, facets + 1);
  return LAMINA_OK;
}

/* What follows "facet": its normal, three corners, its end. */
static lamina_status read_facet(scanner *s, size_t facets, double corners[9])
{
  LMI_TRY(expect(s, "normal", facets));
  for (int k = 0; k < 3; k++) {
    next_word(s); /* not used, and often nan */
    if (s->length == 0)
      return fail_word(s, "a number", facets);
  }
  LMI_TRY(expect(s, "outer", facets));
  LMI_TRY(expect(s, "loop", facets));
  for (int k = 0; k < 3; k++) {
    LMI_TRY(expect(s, "vertex", facets));
    for (int a = 0; a < 3; a++)
      LMI_TRY(read_number(s, facets, &corners[3 * k + a]));
  }
  next_word(s);
  LMI_REQUIRE(s->ctx, !is_word(s, "vertex"), LAMINA_ERROR_CASE,
              "%s:%lld: facet %zu has more than three corners; STL has triangles only", s->path, (long long)s->line,
              facets + 1);
  if (!is_word(s, "endloop"))
    return fail_word(s, "endloop", facets);
  return expect(s, "endfacet", facets);
}

/* "endsolid NAME" and "end solid NAME" */
static bool ends_solid(scanner *s)
{
  if (is_word(s, "endsolid"))
    return true;
  if (!is_word(s, "end"))
    return false;
  next_word(s);
  return is_word(s, "solid");
}

static lamina_status read_all(scanner *s, lmi_stl *stl, lmi_facets *facets)
{
  bool is_open = false;
  for (next_word(s); s->length > 0; next_word(s)) {
    if (is_word(s, "solid")) {
      stl->solid_count++;
      is_open = true;
      skip_line(s);
    } else if (is_word(s, "facet")) {
      double corners[9];
      LMI_TRY(read_facet(s, facets->count, corners));
      LMI_REQUIRE(s->ctx, facets->count < UINT32_MAX / 8 - 1, LAMINA_ERROR_CASE, "%s: more than %zu facets", s->path,
                  facets->count);
      LMI_TRY(lmi_facets_add(s->ctx, facets, corners));
    } else if (ends_solid(s)) {
      is_open = false;
      skip_line(s);
    } else {
      return fail_word(s, "facet' or 'endsolid", facets->count);
    }
  }
  stl->lacks_end = is_open;
  return LAMINA_OK;
}

lamina_status lmi_stl_parse_text(lamina_context *ctx, const char *path, const char *text, size_t bytes, lmi_stl *stl,
                                 lmi_facets *facets)
{
  scanner s = {.ctx = ctx, .path = path, .at = text, .end = text + bytes, .line = 1};
  if (bytes >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
    s.at += 3;
  LMI_TRY(read_all(&s, stl, facets));
  LMI_REQUIRE(ctx, facets->count > 0, LAMINA_ERROR_CASE, "%s: no triangles in the file", path);
  return LAMINA_OK;
}
