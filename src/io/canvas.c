/* SPDX-License-Identifier: Apache-2.0 */
#include "canvas.h"

#include <math.h>
#include <png.h>
#include <string.h>

#include "safe_file.h"
#include "stroke_font.h"

lamina_status lmi_canvas_create(lamina_context *ctx, int width, int height, lmi_colour background, lmi_canvas *canvas)
{
  *canvas = (lmi_canvas){.width = width, .height = height};
  const size_t count = (size_t)width * (size_t)height;
  LMI_TRY(LMI_ALLOC(ctx, count, &canvas->pixels));
  for (size_t i = 0; i < count; i++)
    canvas->pixels[i] = background;
  return LAMINA_OK;
}

void lmi_canvas_free(lamina_context *ctx, lmi_canvas *canvas)
{
  lmi_free(ctx, canvas->pixels);
  *canvas = (lmi_canvas){0};
}

static unsigned char mix(unsigned char under, unsigned char over, double share)
{
  return (unsigned char)lround(under + (over - under) * share);
}

static void blend(lmi_canvas *canvas, int x, int y, lmi_colour colour, double share)
{
  lmi_colour *pixel = &canvas->pixels[(size_t)y * (size_t)canvas->width + (size_t)x];
  *pixel = (lmi_colour){mix(pixel->red, colour.red, share), mix(pixel->green, colour.green, share),
                        mix(pixel->blue, colour.blue, share)};
}

static double distance_to_segment(double x, double y, lmi_point a, lmi_point b)
{
  const double dx = b.x - a.x, dy = b.y - a.y;
  const double length2 = dx * dx + dy * dy;
  double along = length2 > 0 ? ((x - a.x) * dx + (y - a.y) * dy) / length2 : 0.0;
  along = fmin(fmax(along, 0.0), 1.0);
  return hypot(x - a.x - along * dx, y - a.y - along * dy);
}

static int clamp_index(double value, int count)
{
  return value < 0 ? 0 : value > count - 1 ? count - 1 : (int)value;
}

/* The pixels that a pen may touch. */
typedef struct touched {
  int x0, x1, y0, y1;
} touched;

static touched touched_pixels(const lmi_canvas *canvas, lmi_point from, lmi_point to, double reach)
{
  return (touched){.x0 = clamp_index(floor(fmin(from.x, to.x) - reach), canvas->width),
                   .x1 = clamp_index(ceil(fmax(from.x, to.x) + reach), canvas->width),
                   .y0 = clamp_index(floor(fmin(from.y, to.y) - reach), canvas->height),
                   .y1 = clamp_index(ceil(fmax(from.y, to.y) + reach), canvas->height)};
}

/* Round ends; a pixel is covered by as much as the pen's edge has passed its centre. */
void lmi_canvas_line(lmi_canvas *canvas, lmi_point from, lmi_point to, lmi_pen pen)
{
  const double reach = 0.5 * pen.thickness + 0.5;
  const touched t = touched_pixels(canvas, from, to, reach);
  for (int y = t.y0; y <= t.y1; y++)
    for (int x = t.x0; x <= t.x1; x++) {
      const double covered = reach - distance_to_segment(x + 0.5, y + 0.5, from, to);
      if (covered > 0)
        blend(canvas, x, y, pen.colour, pen.opacity * fmin(covered, 1.0));
    }
}

void lmi_canvas_gather(const lmi_canvas *canvas, unsigned char *mask, lmi_point from, lmi_point to, double thickness)
{
  const double reach = 0.5 * thickness + 0.5;
  const touched t = touched_pixels(canvas, from, to, reach);
  for (int y = t.y0; y <= t.y1; y++)
    for (int x = t.x0; x <= t.x1; x++) {
      const double covered = fmin(reach - distance_to_segment(x + 0.5, y + 0.5, from, to), 1.0);
      unsigned char *pixel = &mask[(size_t)y * (size_t)canvas->width + (size_t)x];
      if (covered * 255 > *pixel)
        *pixel = (unsigned char)(covered * 255);
    }
}

void lmi_canvas_draw_mask(lmi_canvas *canvas, const unsigned char *mask, lmi_pen pen)
{
  for (int y = 0; y < canvas->height; y++)
    for (int x = 0; x < canvas->width; x++) {
      const unsigned char covered = mask[(size_t)y * (size_t)canvas->width + (size_t)x];
      if (covered > 0)
        blend(canvas, x, y, pen.colour, pen.opacity * covered / 255);
    }
}

void lmi_canvas_frame(lmi_canvas *canvas, lmi_point low, lmi_point high, lmi_pen pen)
{
  const lmi_point corners[] = {low, {high.x, low.y}, high, {low.x, high.y}, low};
  for (size_t i = 0; i + 1 < LMI_COUNT(corners); i++)
    lmi_canvas_line(canvas, corners[i], corners[i + 1], pen);
}

static double letter_width(const char *strokes)
{
  return *strokes == '\0' ? LMI_FONT_BLANK : lmi_font_width(strokes) + LMI_FONT_GAP;
}

double lmi_canvas_text_width(const char *text, double capital_height)
{
  double width = 0;
  while (*text != '\0')
    width += letter_width(lmi_font_next(&text));
  return width * capital_height / LMI_FONT_CAPITAL;
}

static int hexadecimal(char digit)
{
  return digit <= '9' ? digit - '0' : digit - 'a' + 10;
}

static lmi_point place(const char *point, lmi_point at, double unit)
{
  return (lmi_point){at.x + (point[0] - '0') * unit, at.y - (hexadecimal(point[1]) - LMI_FONT_BASELINE) * unit};
}

static void draw_letter(lmi_canvas *canvas, const char *strokes, lmi_point at, double unit, lmi_pen pen)
{
  for (const char *point = strokes; *point != '\0'; point++) {
    if (*point == ' ')
      continue;
    const lmi_point from = place(point, at, unit);
    const bool has_next = point[2] != '\0' && point[2] != ' ';
    if (has_next)
      lmi_canvas_line(canvas, from, place(point + 2, at, unit), pen);
    point++; // and the loop steps over the second character
  }
}

void lmi_canvas_text(lmi_canvas *canvas, const char *text, lmi_point at, double capital_height, lmi_colour colour)
{
  const double unit = capital_height / LMI_FONT_CAPITAL;
  const lmi_pen pen = {.colour = colour, .thickness = fmax(1.2, 1.15 * unit), .opacity = 1.0};
  while (*text != '\0') {
    const char *strokes = lmi_font_next(&text);
    draw_letter(canvas, strokes, at, unit, pen);
    at.x += letter_width(strokes) * unit;
  }
}

lamina_status lmi_canvas_write_png(lamina_context *ctx, const lmi_canvas *canvas, const char *path)
{
  png_image image = {.version = PNG_IMAGE_VERSION,
                     .width = (png_uint_32)canvas->width,
                     .height = (png_uint_32)canvas->height,
                     .format = PNG_FORMAT_RGB};
  png_alloc_size_t bytes = PNG_IMAGE_PNG_SIZE_MAX(image);
  unsigned char *data = NULL;
  LMI_TRY(LMI_ALLOC(ctx, bytes, &data));
  lamina_status status = LAMINA_OK;
  if (png_image_write_to_memory(&image, data, &bytes, 0, canvas->pixels, 0, NULL) == 0)
    status = lmi_fail(ctx, LAMINA_ERROR_SYSTEM, "libpng cannot encode %s: %s", path, image.message);
  else
    status = lmi_safe_file_put(ctx, path, data, bytes);
  png_image_free(&image);
  lmi_free(ctx, data);
  return status;
}
