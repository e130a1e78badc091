/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "case_quantity.h"

typedef struct unit {
  lmi_dimension dimension;
  const char *name;
  double si;
} unit;

static const unit UNITS[] = {
  {LMI_DIMENSION_TIME, "s", 1.0},
  {LMI_DIMENSION_TIME, "ms", 1e-3},
  {LMI_DIMENSION_TIME, "us", 1e-6},
  {LMI_DIMENSION_TIME, "min", 60.0},
  {LMI_DIMENSION_TIME, "h", 3600.0},
  {LMI_DIMENSION_LENGTH, "m", 1.0},
  {LMI_DIMENSION_LENGTH, "cm", 1e-2},
  {LMI_DIMENSION_LENGTH, "mm", 1e-3},
  {LMI_DIMENSION_LENGTH, "um", 1e-6},
  {LMI_DIMENSION_LENGTH, "km", 1e3},
  {LMI_DIMENSION_SPEED, "m/s", 1.0},
  {LMI_DIMENSION_SPEED, "cm/s", 1e-2},
  {LMI_DIMENSION_SPEED, "mm/s", 1e-3},
  {LMI_DIMENSION_SPEED, "km/h", 1.0 / 3.6},
  {LMI_DIMENSION_VISCOSITY, "m2/s", 1.0},
  {LMI_DIMENSION_VISCOSITY, "mm2/s", 1e-6},
  {LMI_DIMENSION_VISCOSITY, "cSt", 1e-6},
  {LMI_DIMENSION_DENSITY, "kg/m3", 1.0},
  {LMI_DIMENSION_DENSITY, "g/cm3", 1e3},
  {LMI_DIMENSION_ACCELERATION, "m/s2", 1.0},
  {LMI_DIMENSION_ACCELERATION, "mm/s2", 1e-3},
  {LMI_DIMENSION_PRESSURE, "Pa", 1.0},
  {LMI_DIMENSION_PRESSURE, "hPa", 1e2},
  {LMI_DIMENSION_PRESSURE, "kPa", 1e3},
  {LMI_DIMENSION_PRESSURE, "mbar", 1e2},
  {LMI_DIMENSION_PRESSURE, "bar", 1e5},
  {LMI_DIMENSION_AREA, "m2", 1.0},
  {LMI_DIMENSION_AREA, "cm2", 1e-4},
  {LMI_DIMENSION_AREA, "mm2", 1e-6},
};

const char *lmi_dimension_units(lmi_dimension dimension)
{
  switch (dimension) {
  case LMI_DIMENSION_TIME: return "s, ms, us, min, h";
  case LMI_DIMENSION_LENGTH: return "m, cm, mm, um, km";
  case LMI_DIMENSION_SPEED: return "m/s, cm/s, mm/s, km/h";
  case LMI_DIMENSION_VISCOSITY: return "m2/s, mm2/s, cSt";
  case LMI_DIMENSION_DENSITY: return "kg/m3, g/cm3";
  case LMI_DIMENSION_ACCELERATION: return "m/s2, mm/s2";
  case LMI_DIMENSION_PRESSURE: return "Pa, hPa, kPa, mbar, bar";
  case LMI_DIMENSION_AREA: return "m2, cm2, mm2";
  case LMI_DIMENSION_NONE: break;
  }
  return "";
}

/* The length of the leading number: digits, sign, point, exponent. An `e` belongs to it only when digits follow. */
static size_t number_length(const char *text)
{
  size_t n = strspn(text, "+-");
  n += strspn(text + n, "0123456789.");
  if (text[n] == 'e' || text[n] == 'E') {
    const size_t sign = n + 1 + (text[n + 1] == '+' || text[n + 1] == '-');
    if (isdigit((unsigned char)text[sign]))
      n = sign + strspn(text + sign, "0123456789");
  }
  return n;
}

static bool names_non_finite(const char *text)
{
  static const char *const NAMES[] = {"nan", "inf", "infinity", ".nan", ".inf"};
  text += strspn(text, "+-");
  for (size_t i = 0; i < LMI_COUNT(NAMES); i++)
    if (strcasecmp(text, NAMES[i]) == 0)
      return true;
  return false;
}

/* True for a well-formed number that no double can hold: lmi_parse_double refuses both kinds alike. */
static bool is_overflow(const char *number)
{
  const char *exponent = strpbrk(number, "eE");
  return exponent != NULL && strpbrk(number, "0123456789") != NULL && strpbrk(exponent, "123456789") != NULL;
}

static bool unit_factor(const char *name, lmi_dimension dimension, double *factor)
{
  for (size_t i = 0; i < LMI_COUNT(UNITS); i++)
    if (UNITS[i].dimension == dimension && strcmp(UNITS[i].name, name) == 0) {
      *factor = UNITS[i].si;
      return true;
    }
  return false;
}

lmi_quantity_fault lmi_quantity_parse(const char *text, lmi_dimension dimension, double *value)
{
  if (names_non_finite(text))
    return LMI_QUANTITY_NOT_FINITE;
  char number[64];
  const size_t length = number_length(text);
  if (length == 0 || length >= sizeof number)
    return LMI_QUANTITY_NOT_A_NUMBER;
  memcpy(number, text, length);
  number[length] = '\0';
  double parsed = 0;
  if (!lmi_parse_double(number, &parsed))
    return is_overflow(number) ? LMI_QUANTITY_NOT_FINITE : LMI_QUANTITY_NOT_A_NUMBER;

  const char *rest = text + length;
  rest += strspn(rest, " ");
  double factor = 1.0;
  if (rest[0] != '\0' && !unit_factor(rest, dimension, &factor))
    return isalpha((unsigned char)rest[0]) ? LMI_QUANTITY_UNKNOWN_UNIT : LMI_QUANTITY_NOT_A_NUMBER;
  *value = parsed * factor;
  return isfinite(*value) ? LMI_QUANTITY_OK : LMI_QUANTITY_NOT_FINITE;
}
