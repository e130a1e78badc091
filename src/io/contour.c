/* SPDX-License-Identifier: Apache-2.0 */
#include "contour.h"

#include <math.h>

/* A square between four cell centres, its corners counter-clockwise from the lower left. */
typedef struct square {
  double x, y; /* of the lower left corner */
  double value[4];
} square;

/* Where the level crosses the edge from corner `edge` to the next. */
static void cross(const square *s, int edge, double level, double *x, double *y)
{
  static const double corner_x[] = {0, 1, 1, 0}, corner_y[] = {0, 0, 1, 1};
  const int next = (edge + 1) % 4;
  const double share = (level - s->value[edge]) / (s->value[next] - s->value[edge]);
  *x = s->x + corner_x[edge] + share * (corner_x[next] - corner_x[edge]);
  *y = s->y + corner_y[edge] + share * (corner_y[next] - corner_y[edge]);
}

/* Crossings come in pairs; with four of them (a saddle) the centre's side decides which belong together. */
static void trace_square(const square *s, double level, lmi_contour_function *function, void *user)
{
  double x[4], y[4];
  int count = 0;
  for (int edge = 0; edge < 4; edge++)
    if ((s->value[edge] < level) != (s->value[(edge + 1) % 4] < level)) {
      cross(s, edge, level, &x[count], &y[count]);
      count++;
    }
  if (count == 2)
    function(user, x[0], y[0], x[1], y[1]);
  if (count == 4) {
    const double centre = 0.25 * (s->value[0] + s->value[1] + s->value[2] + s->value[3]);
    const int shift = (centre < level) == (s->value[0] < level) ? 0 : 1;
    function(user, x[shift], y[shift], x[shift + 1], y[shift + 1]);
    function(user, x[(shift + 2) % 4], y[(shift + 2) % 4], x[(shift + 3) % 4], y[(shift + 3) % 4]);
  }
}

void lmi_contour_trace(const lmi_image_data *data, double level, lmi_contour_function *function, void *user)
{
  for (lamina_index j = 0; j + 1 < data->height; j++)
    for (lamina_index i = 0; i + 1 < data->width; i++) {
      const double *low = data->values + j * data->width + i;
      const double *high = low + data->width;
      const square s = {(double)i + 0.5, (double)j + 0.5, {low[0], low[1], high[1], high[0]}};
      if (isfinite(low[0]) && isfinite(low[1]) && isfinite(high[0]) && isfinite(high[1]))
        trace_square(&s, level, function, user);
    }
}
