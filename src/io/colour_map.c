/* SPDX-License-Identifier: Apache-2.0 */
/* Both maps are paths through OKLab (Ottosson 2020), whose first axis is perceived lightness: straight in lightness,
 * with a hue that turns (sequential) or changes sides (diverging). Chroma gives way where sRGB has no such colour. */
#include "colour_map.h"

#include <math.h>
#include <stdbool.h>

static const double PI = 3.14159265358979323846;

/* Lightness 0 to 1, chroma, hue in degrees. */
typedef struct oklch {
  double lightness, chroma, hue;
} oklch;

typedef struct linear_rgb {
  double red, green, blue;
} linear_rgb;

static double cube(double x)
{
  return x * x * x;
}

static linear_rgb to_linear_rgb(oklch colour)
{
  const double a = colour.chroma * cos(colour.hue * PI / 180.0);
  const double b = colour.chroma * sin(colour.hue * PI / 180.0);
  const double l = cube(colour.lightness + 0.3963377774 * a + 0.2158037573 * b);
  const double m = cube(colour.lightness - 0.1055613458 * a - 0.0638541728 * b);
  const double s = cube(colour.lightness - 0.0894841775 * a - 1.2914855480 * b);
  return (linear_rgb){.red = 4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
                      .green = -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
                      .blue = -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s};
}

static bool is_displayable(linear_rgb c)
{
  return c.red >= 0 && c.red <= 1 && c.green >= 0 && c.green <= 1 && c.blue >= 0 && c.blue <= 1;
}

/* The transfer function of sRGB, to 8 bits. */
static unsigned char encode(double linear)
{
  const double clipped = fmin(fmax(linear, 0.0), 1.0);
  const double value = clipped <= 0.0031308 ? 12.92 * clipped : 1.055 * pow(clipped, 1.0 / 2.4) - 0.055;
  return (unsigned char)lround(255.0 * value);
}

/* Takes chroma back until the colour exists; lightness and hue stay. */
static lmi_colour to_display(oklch colour)
{
  double low = 0.0, high = colour.chroma;
  if (!is_displayable(to_linear_rgb(colour)))
    for (int i = 0; i < 24; i++) {
      colour.chroma = 0.5 * (low + high);
      if (is_displayable(to_linear_rgb(colour)))
        low = colour.chroma;
      else
        high = colour.chroma;
    }
  const linear_rgb rgb = to_linear_rgb(colour);
  return (lmi_colour){encode(rgb.red), encode(rgb.green), encode(rgb.blue)};
}

/* Night violet over blue, teal and green to pale yellow; steps differ by less than 6 % in OKLab. */
static oklch sequential(double t)
{
  return (oklch){.lightness = 0.22 + 0.74 * t, .chroma = 0.12 * sin(PI * (0.14 + 0.74 * t)), .hue = 300.0 - 195.0 * t};
}

/* Blue, near white, red. */
static oklch diverging(double t)
{
  const double side = 2.0 * t - 1.0;
  return (oklch){.lightness = 0.97 - 0.55 * fabs(side), .chroma = 0.19 * fabs(side), .hue = side < 0 ? 255.0 : 28.0};
}

void lmi_colour_map_fill(lmi_colour_map map, lmi_colour table[LMI_COLOUR_STEPS])
{
  for (int i = 0; i < LMI_COLOUR_STEPS; i++) {
    const double t = (double)i / (LMI_COLOUR_STEPS - 1);
    table[i] = to_display(map == LMI_COLOUR_DIVERGING ? diverging(t) : sequential(t));
  }
}
