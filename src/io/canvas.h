/* SPDX-License-Identifier: Apache-2.0 */
/* A picture in memory: smooth lines and letters drawn over colours. Pixel (0, 0) is at the top left; a pixel's centre
 * lies at half-integer coordinates. */
#ifndef LMI_CANVAS_H
#define LMI_CANVAS_H

#include "base/base.h"
#include "colour_map.h"

typedef struct lmi_canvas {
  int width, height;
  lmi_colour *pixels; /* rows from the top */
} lmi_canvas;

LAMINA_NODISCARD lamina_status lmi_canvas_create(lamina_context *ctx, int width, int height, lmi_colour background,
                                                 lmi_canvas *canvas);
void lmi_canvas_free(lamina_context *ctx, lmi_canvas *canvas);

static inline void lmi_canvas_set(lmi_canvas *canvas, int x, int y, lmi_colour colour)
{
  canvas->pixels[(size_t)y * (size_t)canvas->width + (size_t)x] = colour;
}

typedef struct lmi_point {
  double x, y;
} lmi_point;

/* A pen: colour, thickness in pixels, opacity 0 to 1. */
typedef struct lmi_pen {
  lmi_colour colour;
  double thickness, opacity;
} lmi_pen;

void lmi_canvas_line(lmi_canvas *canvas, lmi_point from, lmi_point to, lmi_pen pen);
void lmi_canvas_frame(lmi_canvas *canvas, lmi_point low, lmi_point high, lmi_pen pen);

/* Lines of many pieces: pieces are gathered in a mask (a byte a pixel, zero at first) and drawn at once, so that a
 * see-through pen shows no dots where they meet. */
void lmi_canvas_gather(const lmi_canvas *canvas, unsigned char *mask, lmi_point from, lmi_point to, double thickness);
void lmi_canvas_draw_mask(lmi_canvas *canvas, const unsigned char *mask, lmi_pen pen);

/* Letters of the height of a capital, with their baseline at `at`; what is no ASCII shows as a small box. */
void lmi_canvas_text(lmi_canvas *canvas, const char *text, lmi_point at, double capital_height, lmi_colour colour);
double lmi_canvas_text_width(const char *text, double capital_height);

/* Writes a PNG by way of a temporary name. */
LAMINA_NODISCARD lamina_status lmi_canvas_write_png(lamina_context *ctx, const lmi_canvas *canvas, const char *path);

#endif
