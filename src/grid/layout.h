/* SPDX-License-Identifier: Apache-2.0 */
/* Where component c of a place lies: one index function, four layouts.
 *
 * Planes of cells that are treated alike form a span. Inside a span components lie side by side, each as all planes of
 * the span: offset(c, k, p) = base + c * component_stride + (k - first) * plane_stride + p * stride, k a stored plane
 * and p a place in it. One span for everything is SoA; halo, boundary and private planes as five spans are the
 * disaggregated layout (arXiv 2503.07898, section 3); every plane a span is plane order; a component stride of 1 is
 * AoS. A message of neighbouring components of one plane is one contiguous range wherever that plane is a span of its
 * own (lbm-spec section 3). */
#ifndef LMI_LAYOUT_H
#define LMI_LAYOUT_H

#include "base/base.h"
#include "kernel/prelude_host.h"

#include "kernel/dense.h"
#include <lamina/types.h>

typedef struct lmi_layout_request {
  lamina_layout layout;
  int components;              /* 1 to 32 */
  int64_t planes;              /* owned, at least 1 */
  int low_planes, high_planes; /* halo planes stored below and above: 0 or 1 each */
  int64_t places;              /* of one component in one plane, without padding */
  size_t element_bytes;
  bool packed; /* planes and spans follow each other without skew: `places` is already what a device wants */
} lmi_layout_request;

typedef struct lmi_layout {
  lmi_layout_request request;
  int64_t stored_planes;
  int64_t plane_stride; /* elements between planes of a span */
  int64_t stride;       /* elements between neighbouring places */
  int64_t elements;     /* of the whole field */
  /* Plane order would need as many spans as planes: it is one span whose planes are Q components apart. */
  int span_count;
  lmk_span spans[LMK_MAX_SPANS];
} lmi_layout;

/* Runs of elements: `rows` of them, `pitch` apart; one run wherever components do not alternate. */
typedef struct lmi_range {
  int64_t first, count, rows, pitch;
} lmi_range;

/* Errors: ARGUMENT when the field does not fit 2^47 elements. */
LAMINA_NODISCARD lamina_status lmi_layout_make(lamina_context *ctx, const lmi_layout_request *request,
                                               lmi_layout *layout);

/* First element of a component in a stored plane (0 is the lower halo where there is one). */
int64_t lmi_layout_element(const lmi_layout *layout, int component, int64_t stored_plane);

/* The ranges that hold components [first, first + count) of a stored plane, joined where they touch. `ranges` has room
 * for `count`; returns how many: the alpha of that message. In AoS the components of a plane alternate: `whole_plane`
 * takes them all in one run, as the paper counts it; otherwise they are one range of many short rows. */
int lmi_layout_ranges(const lmi_layout *layout, int64_t stored_plane, int first, int count, bool whole_plane,
                      lmi_range *ranges);

#endif
