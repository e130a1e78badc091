/* SPDX-License-Identifier: Apache-2.0 */
/* From the left: margin, picture, gap, colour bar, its numbers, margin; the title on top. */
#include "image.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "canvas.h"
#include "contour.h"

enum {
  MARGIN = 18,
  TITLE_HEIGHT = 30,
  BAR_GAP = 20,
  BAR_WIDTH = 20,
  TICK_LENGTH = 5,
  LETTER = 10, /* height of a capital */
  TITLE_LETTER = 13,
  LEAST_LETTER = 7,
  MOST_TICKS = 7,
  LEAST_SIDE = 8, /* pixels of a side, however thin the plane */
  LARGEST_PICTURE = 8192,
  LEAST_BAR = 60, /* room for the numbers, however thin the plane */
  MOST_CONTOURS = 64,
};

static const lmi_colour PAPER = {255, 255, 255}, INK = {32, 32, 32}, SOLID = {150, 150, 150}, CHALK = {255, 255, 255};

lmi_image_options lmi_image_options_default(void)
{
  return (lmi_image_options){.map = LMI_COLOUR_SEQUENTIAL, .pixels = 720, .contour_count = 12};
}

void lmi_stream_function(const lmi_image_data *u, double spacing, double *psi)
{
  for (lamina_index i = 0; i < u->width; i++) {
    double below = 0.0, sum = 0.0;
    for (lamina_index j = 0; j < u->height; j++) {
      const lamina_index cell = j * u->width + i;
      const double here = isfinite(u->values[cell]) ? u->values[cell] : 0.0;
      sum += j == 0 ? 0.25 * here : 0.5 * (below + here); // half a cell from the edge, where u is 0
      psi[cell] = isfinite(u->values[cell]) ? sum * spacing : (double)NAN;
      below = here;
    }
  }
}

/* ---- range and ticks ---- */

static lmi_image_range find_range(const lmi_image_data *data, const lmi_image_options *options)
{
  lmi_image_range range = {.data_low = (double)NAN, .data_high = (double)NAN};
  for (lamina_index i = 0; i < data->width * data->height; i++)
    if (isfinite(data->values[i])) {
      range.data_low = fmin(range.data_low, data->values[i]); // fmin leaves a NaN aside
      range.data_high = fmax(range.data_high, data->values[i]);
    }
  range.low = isfinite(range.data_low) ? range.data_low : 0.0;
  range.high = isfinite(range.data_high) ? range.data_high : 0.0;
  if (options->has_range) {
    range.low = options->low;
    range.high = options->high;
  } else if (options->map == LMI_COLOUR_DIVERGING) {
    range.high = fmax(fabs(range.low), fabs(range.high));
    range.low = -range.high;
  }
  if (!(range.high > range.low)) { // one value everywhere: put it in the middle
    const double half = range.low != 0.0 ? 0.5 * fabs(range.low) : 1.0;
    range.low -= half;
    range.high += half;
  }
  return range;
}

/* 1, 2 or 5 times a power of ten. */
static double nice_step(double span)
{
  const double least = span / MOST_TICKS;
  const double power = pow(10.0, floor(log10(least)));
  const double digits = least / power;
  return power * (digits <= 1.0 ? 1.0 : digits <= 2.0 ? 2.0 : digits <= 5.0 ? 5.0 : 10.0);
}

/* The value with the decimals of the step: 0.3, not 0.30000000000000004. */
static const char *tick_label(double value, double step, char *buffer)
{
  const double decimals = fmin(fmax(-floor(log10(step) + 1e-9), 0.0), 300.0);
  const double power = pow(10.0, decimals);
  const double rounded = rint(value * power) / power;
  return lmi_format_double(isfinite(rounded) ? rounded + 0.0 : value, buffer);
}

/* The numbers at the bar: multiples of the step within the range. */
typedef struct ticks {
  int count;
  double step, value[MOST_TICKS + 2];
} ticks;

static ticks choose_ticks(lmi_image_range range)
{
  ticks t = {.step = nice_step(range.high - range.low)};
  const double first = ceil(range.low / t.step - 1e-9);
  while (t.count < MOST_TICKS + 2 && (first + t.count) * t.step <= range.high + 1e-9 * t.step) {
    t.value[t.count] = (first + t.count) * t.step;
    t.count++;
  }
  return t;
}

static double widest_label(const ticks *t)
{
  double widest = 0.0;
  for (int i = 0; i < t->count; i++) {
    char label[32];
    widest = fmax(widest, lmi_canvas_text_width(tick_label(t->value[i], t->step, label), LETTER));
  }
  return widest;
}

/* ---- picture ---- */

/* Where the plane lies on the canvas. */
typedef struct picture {
  int left, top, width, height;
  double scale_x, scale_y; /* pixels a cell */
} picture;

static picture place_picture(const lmi_image_data *data, const lmi_image_options *options)
{
  const double longest = (double)(data->width > data->height ? data->width : data->height);
  const double scale = options->pixels / longest;
  picture p = {.left = MARGIN, .top = MARGIN + (options->title != NULL ? TITLE_HEIGHT : 0)};
  p.width = (int)fmax(LEAST_SIDE, rint((double)data->width * scale));
  p.height = (int)fmax(LEAST_SIDE, rint((double)data->height * scale));
  p.scale_x = p.width / (double)data->width;
  p.scale_y = p.height / (double)data->height;
  return p;
}

static double cell_value(const lmi_image_data *data, lamina_index i, lamina_index j, double instead)
{
  const lamina_index x = i < 0 ? 0 : i >= data->width ? data->width - 1 : i;
  const lamina_index y = j < 0 ? 0 : j >= data->height ? data->height - 1 : j;
  const double value = data->values[y * data->width + x];
  return isfinite(value) ? value : instead;
}

/* Between four centres; a solid neighbour counts as the cell itself, so its colour does not leak. */
static double interpolate(const lmi_image_data *data, double x, double y)
{
  const double own = cell_value(data, (lamina_index)x, (lamina_index)y, (double)NAN);
  const double left = floor(x - 0.5), low = floor(y - 0.5);
  const double sx = x - 0.5 - left, sy = y - 0.5 - low;
  const lamina_index i = (lamina_index)left, j = (lamina_index)low;
  if (!isfinite(own))
    return own;
  return (1 - sy) * ((1 - sx) * cell_value(data, i, j, own) + sx * cell_value(data, i + 1, j, own)) +
         sy * ((1 - sx) * cell_value(data, i, j + 1, own) + sx * cell_value(data, i + 1, j + 1, own));
}

/* A box of cells, where several share a pixel. */
typedef struct footprint {
  double x0, x1, y0, y1;
} footprint;

static double average(const lmi_image_data *data, footprint f)
{
  double sum = 0.0;
  lamina_index finite = 0, all = 0;
  for (lamina_index j = (lamina_index)f.y0; j < (lamina_index)ceil(f.y1); j++)
    for (lamina_index i = (lamina_index)f.x0; i < (lamina_index)ceil(f.x1); i++) {
      const double value = cell_value(data, i, j, (double)NAN);
      all++;
      if (isfinite(value)) {
        finite++;
        sum += value;
      }
    }
  return 2 * finite > all ? sum / (double)finite : (double)NAN;
}

static double pixel_value(const lmi_image_data *data, const picture *p, int column, int row)
{
  const double x = column / p->scale_x, y = (p->height - 1 - row) / p->scale_y;
  if (p->scale_x >= 1.0 && p->scale_y >= 1.0)
    return interpolate(data, x + 0.5 / p->scale_x, y + 0.5 / p->scale_y);
  return average(data, (footprint){x, x + 1 / p->scale_x, y, y + 1 / p->scale_y});
}

static lmi_colour colour_of(double value, lmi_image_range range, const lmi_colour table[LMI_COLOUR_STEPS])
{
  if (!isfinite(value))
    return SOLID;
  const double t = fmin(fmax((value - range.low) / (range.high - range.low), 0.0), 1.0);
  return table[(int)(t * (LMI_COLOUR_STEPS - 1) + 0.5)];
}

static void draw_cells(lmi_canvas *canvas, const picture *p, const lmi_image_data *data, lmi_image_range range,
                       const lmi_colour table[LMI_COLOUR_STEPS])
{
  for (int row = 0; row < p->height; row++)
    for (int column = 0; column < p->width; column++)
      lmi_canvas_set(canvas, p->left + column, p->top + row,
                     colour_of(pixel_value(data, p, column, row), range, table));
}

/* ---- contour lines ---- */

typedef struct contour_pen {
  const lmi_canvas *canvas;
  const picture *picture;
  unsigned char *mask;
  double thickness;
} contour_pen;

static void gather_piece(void *user, double x0, double y0, double x1, double y1)
{
  const contour_pen *c = user;
  const picture *p = c->picture;
  const double bottom = p->top + p->height;
  lmi_canvas_gather(c->canvas, c->mask, (lmi_point){p->left + x0 * p->scale_x, bottom - y0 * p->scale_y},
                    (lmi_point){p->left + x1 * p->scale_x, bottom - y1 * p->scale_y}, c->thickness);
}

/* Levels up to an extreme, closer together towards 0 where the weak eddies are. */
static void gather_side(contour_pen *pen, const lmi_image_data *contour, double extreme, int count)
{
  for (int k = 1; k <= count; k++)
    lmi_contour_trace(contour, extreme * pow((k - 0.5) / count, 2.0), gather_piece, pen);
}

static lamina_status draw_contours(lamina_context *ctx, lmi_canvas *canvas, const picture *p,
                                   const lmi_image_data *data, const lmi_image_options *options)
{
  if (options->contour == NULL)
    return LAMINA_OK;
  const lmi_image_data contour = {data->width, data->height, options->contour};
  const lmi_image_range range = find_range(&contour, &(lmi_image_options){.map = LMI_COLOUR_SEQUENTIAL});
  const double largest = fmax(fabs(range.data_low), fabs(range.data_high));
  contour_pen pen = {.canvas = canvas, .picture = p, .thickness = 1.2};
  LMI_TRY(LMI_ALLOC(ctx, (size_t)canvas->width * (size_t)canvas->height, &pen.mask));
  // A side that is only round-off of the other shows nothing but noise.
  if (range.data_low < -1e-6 * largest)
    gather_side(&pen, &contour, range.data_low, options->contour_count);
  if (range.data_high > 1e-6 * largest)
    gather_side(&pen, &contour, range.data_high, options->contour_count);
  lmi_canvas_draw_mask(canvas, pen.mask,
                       (lmi_pen){.colour = options->map == LMI_COLOUR_DIVERGING ? INK : CHALK, .opacity = 0.65});
  lmi_free(ctx, pen.mask);
  return LAMINA_OK;
}

/* ---- lines between regions ---- */

static lamina_status draw_regions(lamina_context *ctx, lmi_canvas *canvas, const picture *p, const lmi_image_data *data,
                                  const lmi_image_options *options)
{
  const uint8_t *regions = options->regions;
  const lamina_index w = data->width;
  if (regions == NULL)
    return LAMINA_OK;
  contour_pen pen = {.canvas = canvas, .picture = p, .thickness = 1.2};
  LMI_TRY(LMI_ALLOC(ctx, (size_t)canvas->width * (size_t)canvas->height, &pen.mask));
  for (lamina_index j = 0; j < data->height; j++)
    for (lamina_index i = 0; i < w; i++) {
      const double x = (double)i, y = (double)j;
      if (i > 0 && regions[j * w + i] != regions[j * w + i - 1])
        gather_piece(&pen, x, y, x, y + 1.0);
      if (j > 0 && regions[j * w + i] != regions[(j - 1) * w + i])
        gather_piece(&pen, x, y, x + 1.0, y);
    }
  lmi_canvas_draw_mask(canvas, pen.mask,
                       (lmi_pen){.colour = options->map == LMI_COLOUR_DIVERGING ? INK : CHALK, .opacity = 0.9});
  lmi_free(ctx, pen.mask);
  return LAMINA_OK;
}

/* ---- colour bar ---- */

static void draw_bar(lmi_canvas *canvas, const picture *p, lmi_image_range range, const char *unit,
                     const lmi_colour table[LMI_COLOUR_STEPS])
{
  const lmi_pen pen = {.colour = INK, .thickness = 1.0, .opacity = 1.0};
  const int left = p->left + p->width + BAR_GAP;
  const int top = p->top + (unit != NULL ? LETTER + 10 : 0);
  const int height = p->top + (p->height > LEAST_BAR ? p->height : LEAST_BAR) - top;
  for (int row = 0; row < height; row++)
    for (int column = 0; column < BAR_WIDTH; column++)
      lmi_canvas_set(canvas, left + column, top + row,
                     table[(LMI_COLOUR_STEPS - 1) * (height - 1 - row) / (height > 1 ? height - 1 : 1)]);
  lmi_canvas_frame(canvas, (lmi_point){left, top}, (lmi_point){left + BAR_WIDTH, top + height}, pen);
  if (unit != NULL)
    lmi_canvas_text(canvas, unit, (lmi_point){left, p->top + LETTER}, LETTER, INK);

  const ticks t = choose_ticks(range);
  for (int i = 0; i < t.count; i++) {
    char label[32];
    const double y = top + height * (range.high - t.value[i]) / (range.high - range.low);
    const double right = left + BAR_WIDTH;
    lmi_canvas_line(canvas, (lmi_point){right, y}, (lmi_point){right + TICK_LENGTH, y}, pen);
    lmi_canvas_text(canvas, tick_label(t.value[i], t.step, label),
                    (lmi_point){right + TICK_LENGTH + 5, y + 0.5 * LETTER}, LETTER, INK);
  }
}

static lamina_status check(lamina_context *ctx, const lmi_image_data *data, const lmi_image_options *options)
{
  LMI_REQUIRE(ctx, data->width >= 1 && data->height >= 1 && data->values != NULL, LAMINA_ERROR_ARGUMENT,
              "a picture of %" PRId64 " x %" PRId64 " cells cannot be drawn", data->width, data->height);
  LMI_REQUIRE(ctx, options->pixels >= 64 && options->pixels <= LARGEST_PICTURE, LAMINA_ERROR_ARGUMENT,
              "a picture of %d pixels cannot be drawn (64 to %d)", options->pixels, (int)LARGEST_PICTURE);
  LMI_REQUIRE(
    ctx, !options->has_range || (isfinite(options->low) && isfinite(options->high) && options->low < options->high),
    LAMINA_ERROR_ARGUMENT, "the range %g to %g is empty (low < high)", options->low, options->high);
  LMI_REQUIRE(ctx, options->contour == NULL || (options->contour_count >= 1 && options->contour_count <= MOST_CONTOURS),
              LAMINA_ERROR_ARGUMENT, "%d contour lines cannot be drawn (1 to %d)", options->contour_count,
              (int)MOST_CONTOURS);
  return LAMINA_OK;
}

/* A long title is written smaller, within reason. */
static double title_letter(const picture *p, const char *title)
{
  const double width = lmi_canvas_text_width(title, TITLE_LETTER);
  return fmax(LEAST_LETTER, TITLE_LETTER * fmin(1.0, (p->width + BAR_GAP + BAR_WIDTH) / width));
}

/* Room for the numbers at the bar and for the title. */
static lamina_status create_canvas(lamina_context *ctx, const picture *p, const lmi_image_options *options,
                                   lmi_image_range range, lmi_canvas *canvas)
{
  const ticks t = choose_ticks(range);
  const double unit = options->unit != NULL ? lmi_canvas_text_width(options->unit, LETTER) : 0.0;
  const double title =
    options->title != NULL ? lmi_canvas_text_width(options->title, title_letter(p, options->title)) : 0.0;
  const double numbers = fmax(widest_label(&t) + TICK_LENGTH + 5, unit - BAR_WIDTH);
  const double content = fmax(p->width + BAR_GAP + BAR_WIDTH + numbers, title);
  return lmi_canvas_create(ctx, (int)fmin(content, 2.0 * LARGEST_PICTURE) + 2 * MARGIN,
                           p->top + (p->height > LEAST_BAR ? p->height : LEAST_BAR) + MARGIN, PAPER, canvas);
}

static lamina_status draw(lamina_context *ctx, lmi_canvas *canvas, const picture *p, const lmi_image_data *data,
                          const lmi_image_options *options)
{
  const lmi_image_range range = find_range(data, options);
  lmi_colour table[LMI_COLOUR_STEPS];
  lmi_colour_map_fill(options->map, table);
  draw_cells(canvas, p, data, range, table);
  LMI_TRY(draw_contours(ctx, canvas, p, data, options));
  LMI_TRY(draw_regions(ctx, canvas, p, data, options));
  lmi_canvas_frame(canvas, (lmi_point){p->left, p->top}, (lmi_point){p->left + p->width, p->top + p->height},
                   (lmi_pen){.colour = INK, .thickness = 1.0, .opacity = 1.0});
  draw_bar(canvas, p, range, options->unit, table);
  if (options->title != NULL)
    lmi_canvas_text(canvas, options->title, (lmi_point){MARGIN, MARGIN + TITLE_LETTER}, title_letter(p, options->title),
                    INK);
  return LAMINA_OK;
}

lamina_status lmi_image_write(lamina_context *ctx, const char *path, const lmi_image_data *data,
                              const lmi_image_options *options, lmi_image_range *range)
{
  LMI_TRY(check(ctx, data, options));
  const lmi_image_range drawn = find_range(data, options);
  const picture p = place_picture(data, options);
  lmi_canvas canvas;
  LMI_TRY(create_canvas(ctx, &p, options, drawn, &canvas));
  lamina_status status = draw(ctx, &canvas, &p, data, options);
  if (status == LAMINA_OK)
    status = lmi_canvas_write_png(ctx, &canvas, path);
  lmi_canvas_free(ctx, &canvas);
  if (status == LAMINA_OK && range != NULL)
    *range = drawn;
  return status;
}
