/* SPDX-License-Identifier: Apache-2.0 */
/* Boxes over the triangles of a mesh: triangles sorted along a Morton curve, four to a leaf, and a complete binary tree
 * of boxes over the leaves. Sorting is stable and by integers, so the tree is the same on every machine. */
#include <math.h>
#include <string.h>

#include "geometry_internal.h"

enum { CODE_BITS = 20, DIGIT_BITS = 12, DIGITS = 1 << DIGIT_BITS };

typedef struct place {
  uint64_t code;
  uint32_t triangle;
} place;

/* Puts two zero bits before each of the lowest 20. */
static uint64_t spread(uint64_t x)
{
  x = (x | x << 32) & 0x001f00000000ffffULL;
  x = (x | x << 16) & 0x001f0000ff0000ffULL;
  x = (x | x << 8) & 0x100f00f00f00f00fULL;
  x = (x | x << 4) & 0x10c30c30c30c30c3ULL;
  return (x | x << 2) & 0x1249249249249249ULL;
}

/* How far the widest extent must be shifted down to fit CODE_BITS. */
static int code_shift(const lmi_tree_box *bounds)
{
  int64_t widest = 1;
  for (int a = 0; a < 3; a++)
    widest = bounds->high[a] - bounds->low[a] > widest ? bounds->high[a] - bounds->low[a] : widest;
  int shift = 0;
  while (widest >> shift >= (int64_t)1 << CODE_BITS)
    shift++;
  return shift;
}

static uint64_t code_of(const lmi_body *body, size_t triangle, int shift)
{
  uint64_t code = 0;
  for (int a = 0; a < 3; a++) {
    int64_t sum = 0;
    for (int k = 0; k < 3; k++)
      sum += body->vertices[body->triangles[triangle][k]][a] - body->bounds.low[a];
    code |= spread((uint64_t)(sum / 3) >> shift) << a;
  }
  return code;
}

/* One pass of a radix sort, by DIGIT_BITS bits from `shift` on. */
static void sort_digit(const place *from, place *to, size_t count, int shift, size_t *starts)
{
  memset(starts, 0, DIGITS * sizeof *starts);
  for (size_t i = 0; i < count; i++)
    starts[(from[i].code >> shift) & (DIGITS - 1)]++;
  size_t sum = 0;
  for (size_t d = 0; d < DIGITS; d++) {
    const size_t next = sum + starts[d];
    starts[d] = sum;
    sum = next;
  }
  for (size_t i = 0; i < count; i++)
    to[starts[(from[i].code >> shift) & (DIGITS - 1)]++] = from[i];
}

static lamina_status sort_triangles(lamina_context *ctx, lmi_body *body)
{
  const size_t count = body->triangle_count;
  place *places[2] = {NULL, NULL};
  size_t *starts = NULL;
  lmi_corner3 *sorted = NULL;
  lamina_status status = LAMINA_OK;
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, count, &places[0]), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, count, &places[1]), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, (size_t)DIGITS, &starts), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, count, &sorted), cleanup);
  const int shift = code_shift(&body->bounds);
  for (size_t i = 0; i < count; i++)
    places[0][i] = (place){code_of(body, i, shift), (uint32_t)i};
  int now = 0;
  for (int digit = 0; digit < 3 * CODE_BITS; digit += DIGIT_BITS, now = 1 - now)
    sort_digit(places[now], places[1 - now], count, digit, starts);
  for (size_t i = 0; i < count; i++)
    memcpy(sorted[i], body->triangles[places[now][i].triangle], sizeof sorted[i]);
  lmi_corner3 *before = body->triangles;
  body->triangles = sorted;
  sorted = before;

cleanup:
  lmi_free(ctx, sorted);
  lmi_free(ctx, starts);
  lmi_free(ctx, places[1]);
  lmi_free(ctx, places[0]);
  return status;
}

/* ---- boxes ---- */

static const lmi_tree_box NOTHING = {{INT64_MAX, INT64_MAX, INT64_MAX}, {INT64_MIN, INT64_MIN, INT64_MIN}};

static void include_box(lmi_tree_box *box, const lmi_tree_box *other)
{
  for (int a = 0; a < 3; a++) {
    box->low[a] = other->low[a] < box->low[a] ? other->low[a] : box->low[a];
    box->high[a] = other->high[a] > box->high[a] ? other->high[a] : box->high[a];
  }
}

static lmi_tree_box box_of(const lmi_body *body, size_t triangle)
{
  lmi_tree_box box = NOTHING;
  for (int k = 0; k < 3; k++) {
    const int64_t *v = body->vertices[body->triangles[triangle][k]];
    include_box(&box, &(lmi_tree_box){{v[0], v[1], v[2]}, {v[0], v[1], v[2]}});
  }
  return box;
}

/* Leaf l holds the triangles from this one to below that of leaf l + 1: evenly dealt, at most LMI_LEAF_TRIANGLES. */
static size_t leaf_begin(const lmi_body *body, size_t leaf)
{
  return leaf * body->triangle_count / body->tree.leaf_count;
}

lamina_status lmi_triangle_tree_build(lamina_context *ctx, lmi_body *body)
{
  LMI_TRY(sort_triangles(ctx, body));
  lmi_triangle_tree *tree = &body->tree;
  tree->leaf_count = 1;
  while (tree->leaf_count * LMI_LEAF_TRIANGLES < body->triangle_count)
    tree->leaf_count *= 2;
  LMI_TRY(LMI_ALLOC(ctx, 2 * tree->leaf_count - 1, &tree->nodes));
  for (size_t leaf = 0; leaf < tree->leaf_count; leaf++) {
    lmi_tree_box *box = &tree->nodes[tree->leaf_count - 1 + leaf];
    *box = NOTHING;
    for (size_t i = leaf_begin(body, leaf); i < leaf_begin(body, leaf + 1); i++) {
      const lmi_tree_box one = box_of(body, i);
      include_box(box, &one);
    }
  }
  for (size_t i = tree->leaf_count - 1; i-- > 0;) {
    tree->nodes[i] = tree->nodes[2 * i + 1];
    include_box(&tree->nodes[i], &tree->nodes[2 * i + 2]);
  }
  return LAMINA_OK;
}

static bool boxes_meet(const lmi_tree_box *a, const lmi_tree_box *b)
{
  for (int k = 0; k < 3; k++)
    if (a->low[k] > b->high[k] || a->high[k] < b->low[k])
      return false;
  return true;
}

void lmi_triangle_tree_visit(const lmi_body *body, const lmi_tree_box *box, lmi_triangle_visit *visit, void *user)
{
  enum { MOST_DEPTH = 64 };
  const lmi_triangle_tree *tree = &body->tree;
  size_t stack[MOST_DEPTH];
  int depth = 0;
  stack[depth++] = 0;
  while (depth > 0) {
    const size_t node = stack[--depth];
    if (!boxes_meet(&tree->nodes[node], box))
      continue;
    if (node < tree->leaf_count - 1) {
      stack[depth++] = 2 * node + 2;
      stack[depth++] = 2 * node + 1;
      continue;
    }
    const size_t leaf = node - (tree->leaf_count - 1);
    for (size_t i = leaf_begin(body, leaf); i < leaf_begin(body, leaf + 1); i++) {
      const lmi_tree_box one = box_of(body, i);
      if (boxes_meet(&one, box) && !visit(user, i))
        return;
    }
  }
}
