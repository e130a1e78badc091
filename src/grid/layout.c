/* SPDX-License-Identifier: Apache-2.0 */
#include "layout.h"

/* Streams whose bases differ by a multiple of 4 KiB fight for the same cache sets (4 to 8 times slower on some
 * processors). An odd number of lines between components spreads any 27 of them; the margin keeps neighbours apart. */
enum { LINES_OF_4K = 64, MARGIN_LINES = 5 };
static const int64_t SMALL_PLANE_BYTES = 32768; /* below it the margin would cost more memory than it is worth */
static const int64_t MAX_ELEMENTS = (int64_t)1 << 47;

static int64_t skewed_lines(int64_t bytes, bool with_margin)
{
  int64_t lines = (bytes + LMI_LINE_BYTES - 1) / LMI_LINE_BYTES;
  if (with_margin && lines % LINES_OF_4K < MARGIN_LINES)
    lines += MARGIN_LINES - lines % LINES_OF_4K;
  if (with_margin && lines % LINES_OF_4K > LINES_OF_4K - MARGIN_LINES)
    lines += LINES_OF_4K - lines % LINES_OF_4K + MARGIN_LINES;
  return lines | 1;
}

static int64_t skewed_elements(const lmi_layout_request *request, int64_t elements)
{
  if (request->packed)
    return elements;
  const size_t element_bytes = request->element_bytes;
  const int64_t bytes = elements * (int64_t)element_bytes;
  return skewed_lines(bytes, bytes >= SMALL_PLANE_BYTES) * (int64_t)(LMI_LINE_BYTES / element_bytes);
}

/* Adds a span of `planes` planes after the ones so far. */
static void add_span(lmi_layout *layout, int64_t first, int64_t planes)
{
  if (planes <= 0)
    return;
  const int64_t plane = layout->plane_stride;
  const int64_t stride = planes == 1 ? plane : skewed_elements(&layout->request, planes * plane);
  layout->spans[layout->span_count++] = (lmk_span){first, layout->elements, stride};
  layout->elements += stride * layout->request.components;
}

static void make_disaggregated(lmi_layout *layout)
{
  const int64_t low = layout->request.low_planes, owned = layout->request.planes;
  add_span(layout, 0, low);
  add_span(layout, low, 1);
  add_span(layout, low + 1, owned - 2);
  if (owned > 1)
    add_span(layout, low + owned - 1, 1);
  add_span(layout, low + owned, layout->request.high_planes);
}

lamina_status lmi_layout_make(lamina_context *ctx, const lmi_layout_request *request, lmi_layout *layout)
{
  *layout = (lmi_layout){.request = *request, .stride = 1};
  layout->stored_planes = request->planes + request->low_planes + request->high_planes;
  const double elements = (double)request->places * (double)layout->stored_planes * request->components;
  LMI_REQUIRE(ctx, elements < (double)MAX_ELEMENTS, LAMINA_ERROR_ARGUMENT,
              "a field of %.3g elements is larger than this program can index (2^47)", elements);

  const int64_t plane = skewed_elements(request, request->places);
  layout->plane_stride = plane;
  switch (request->layout) {
  case LAMINA_LAYOUT_SOA: add_span(layout, 0, layout->stored_planes); break;
  case LAMINA_LAYOUT_DISAGGREGATED: make_disaggregated(layout); break;
  case LAMINA_LAYOUT_PLANE:
    layout->plane_stride = plane * request->components;
    layout->spans[layout->span_count++] = (lmk_span){0, 0, plane};
    layout->elements = layout->plane_stride * layout->stored_planes;
    break;
  case LAMINA_LAYOUT_AOS:
    layout->stride = request->components;
    layout->plane_stride = plane * request->components;
    layout->spans[layout->span_count++] = (lmk_span){0, 0, 1};
    layout->elements = layout->plane_stride * layout->stored_planes;
    break;
  }
  return LAMINA_OK;
}

int64_t lmi_layout_element(const lmi_layout *layout, int component, int64_t stored_plane)
{
  int s = layout->span_count - 1;
  while (s > 0 && stored_plane < layout->spans[s].first)
    s--;
  const lmk_span *span = &layout->spans[s];
  return span->base + component * span->component_stride + (stored_plane - span->first) * layout->plane_stride;
}

int lmi_layout_ranges(const lmi_layout *layout, int64_t stored_plane, int first, int count, bool whole_plane,
                      lmi_range *ranges)
{
  if (count <= 0)
    return 0;
  if (layout->request.layout == LAMINA_LAYOUT_AOS) {
    const int64_t at = lmi_layout_element(layout, whole_plane ? 0 : first, stored_plane);
    ranges[0] = whole_plane ? (lmi_range){at, layout->plane_stride, 1, layout->plane_stride}
                            : (lmi_range){at, count, layout->plane_stride / layout->stride, layout->stride};
    return 1;
  }
  const int64_t plane =
    layout->request.layout == LAMINA_LAYOUT_PLANE ? layout->spans[0].component_stride : layout->plane_stride;
  int used = 0;
  for (int c = first; c < first + count; c++) {
    const int64_t at = lmi_layout_element(layout, c, stored_plane);
    if (used > 0 && ranges[used - 1].first + ranges[used - 1].count == at)
      ranges[used - 1].count += plane;
    else
      ranges[used++] = (lmi_range){at, plane, 1, plane};
  }
  return used;
}
