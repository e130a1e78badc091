/* SPDX-License-Identifier: Apache-2.0 */
#include "stl.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "safe_file.h"

enum { HEADER_BYTES = 84, FACET_BYTES = 50 };
static const size_t MOST_BYTES = (size_t)1 << 36;
static const size_t MOST_FACETS = UINT32_MAX / 8 - 1;

/* ---- facets ---- */

lamina_status lmi_facets_add(lamina_context *ctx, lmi_facets *facets, const double corners[9])
{
  if (facets->count == facets->capacity) {
    const size_t capacity = facets->capacity > 0 ? 2 * facets->capacity : 64;
    double *grown = NULL;
    LMI_TRY(LMI_ALLOC(ctx, 9 * capacity, &grown));
    if (facets->count > 0)
      memcpy(grown, facets->corners, 9 * facets->count * sizeof *grown);
    lmi_free(ctx, facets->corners);
    facets->corners = grown;
    facets->capacity = capacity;
  }
  memcpy(&facets->corners[9 * facets->count++], corners, 9 * sizeof *corners);
  return LAMINA_OK;
}

/* ---- binary ---- */

static uint32_t little_uint32(const char *bytes)
{
  const unsigned char *b = (const unsigned char *)bytes;
  return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static double little_float(const char *bytes)
{
  const uint32_t bits = little_uint32(bytes);
  float value;
  memcpy(&value, &bits, sizeof value);
  return (double)value;
}

static lamina_status check_binary_size(lamina_context *ctx, const char *path, const char *data, size_t bytes,
                                       size_t *count)
{
  *count = little_uint32(data + HEADER_BYTES - 4);
  const size_t room = (bytes - HEADER_BYTES) / FACET_BYTES;
  LMI_REQUIRE(ctx, *count > 0 || room == 0, LAMINA_ERROR_CASE,
              "%s: the header declares 0 facets, but the file holds %zu; save it again, with the right count", path,
              room);
  LMI_REQUIRE(ctx, *count > 0, LAMINA_ERROR_CASE, "%s: no triangles in the file", path);
  LMI_REQUIRE(ctx, *count <= room, LAMINA_ERROR_CASE,
              "%s: the header declares %zu facets (%zu bytes), but the file holds %zu (%zu bytes): it is cut short, or "
              "no STL file",
              path, *count, HEADER_BYTES + FACET_BYTES * *count, room, bytes);
  LMI_REQUIRE(ctx, *count <= MOST_FACETS, LAMINA_ERROR_CASE, "%s: %zu facets; at most %zu", path, *count, MOST_FACETS);
  return LAMINA_OK;
}

static lamina_status parse_binary(lamina_context *ctx, const char *path, const char *data, size_t bytes, lmi_stl *stl,
                                  lmi_facets *facets)
{
  size_t count = 0;
  LMI_TRY(check_binary_size(ctx, path, data, bytes, &count));
  LMI_TRY(LMI_ALLOC(ctx, 9 * count, &facets->corners));
  facets->capacity = facets->count = count;
  for (size_t i = 0; i < count; i++) {
    const char *facet = data + HEADER_BYTES + FACET_BYTES * i + 12;
    for (size_t k = 0; k < 9; k++) {
      const double value = little_float(facet + 4 * k);
      LMI_REQUIRE(ctx, isfinite(value), LAMINA_ERROR_CASE,
                  "%s: facet %zu of %zu has a corner at %c = %s; mend the file, or take that facet out", path, i + 1,
                  count, "xyz"[k % 3],
                  isnan(value) ? "nan"
                  : value < 0  ? "-inf"
                               : "inf");
      facets->corners[9 * i + k] = value;
    }
  }
  stl->solid_count = 1;
  stl->trailing_bytes = bytes - HEADER_BYTES - FACET_BYTES * count;
  return LAMINA_OK;
}

/* ---- what the file is ---- */

/* Begins with "solid", or what stands for it, and has no zero byte where a binary file always has one. */
static bool looks_like_text(const char *data, size_t bytes)
{
  size_t at = bytes >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
  while (at < bytes && isspace((unsigned char)data[at]))
    at++;
  const bool has_word =
    bytes - at >= 5 && (strncasecmp(data + at, "solid", 5) == 0 || strncasecmp(data + at, "facet", 5) == 0);
  return has_word && memchr(data, '\0', bytes < 4096 ? bytes : 4096) == NULL;
}

static bool fits_binary(const char *data, size_t bytes)
{
  return bytes >= HEADER_BYTES && bytes == HEADER_BYTES + FACET_BYTES * (size_t)little_uint32(data + HEADER_BYTES - 4);
}

/* What a file of another kind begins with, and what to say. */
static const char *foreign_kind(const char *data, size_t bytes)
{
  static const struct {
    const char *start, *text;
  } KINDS[] = {{"PK\x03\x04", "a zip archive (3MF?)"},
               {"ply", "a PLY file"},
               {"ISO-10303", "a STEP file"},
               {"OFF", "an OFF file"},
               {"v ", "an OBJ file"},
               {"# ", "an OBJ file or a script"},
               {"<?xml", "an XML file (AMF, VTP?)"},
               {"\x1f\x8b", "compressed"},
               {"glTF", "a glTF file"},
               {"\x89PNG", "a picture"},
               {"\x89HDF", "an HDF5 file"}};
  for (size_t i = 0; i < LMI_COUNT(KINDS); i++)
    if (bytes >= strlen(KINDS[i].start) && memcmp(data, KINDS[i].start, strlen(KINDS[i].start)) == 0)
      return KINDS[i].text;
  return NULL;
}

static lamina_status parse_facets(lamina_context *ctx, const char *path, const char *data, size_t bytes, lmi_stl *stl,
                                  lmi_facets *facets)
{
  LMI_REQUIRE(ctx, bytes > 0, LAMINA_ERROR_CASE, "%s: the file is empty", path);
  stl->is_text = !fits_binary(data, bytes) && looks_like_text(data, bytes);
  const char *kind = stl->is_text ? NULL : foreign_kind(data, bytes);
  if (stl->is_text)
    return lmi_stl_parse_text(ctx, path, data, bytes, stl, facets);
  LMI_REQUIRE(ctx, kind == NULL || fits_binary(data, bytes), LAMINA_ERROR_CASE,
              "%s: not an STL file, it looks like %s; export it as STL", path, kind);
  LMI_REQUIRE(ctx, bytes >= HEADER_BYTES, LAMINA_ERROR_CASE,
              "%s: %zu bytes that do not begin with 'solid': no STL file (a binary one has at least %d)", path, bytes,
              HEADER_BYTES);
  return parse_binary(ctx, path, data, bytes, stl, facets);
}

/* ---- facets to mesh ---- */

/* Equal numbers have equal bits, but for the sign of zero. */
static void make_keys(const lmi_facets *facets, int64_t *keys)
{
  for (size_t i = 0; i < 9 * facets->count; i++) {
    const double value = facets->corners[i] == 0.0 ? 0.0 : facets->corners[i];
    memcpy(&keys[i], &value, sizeof value);
  }
}

static void note_bounds(lmi_stl *stl)
{
  const double *v = stl->vertices;
  double low[3] = {v[0], v[1], v[2]}, high[3] = {v[0], v[1], v[2]};
  for (size_t i = 0; i < 3 * stl->mesh.vertex_count; i++) {
    low[i % 3] = fmin(low[i % 3], v[i]);
    high[i % 3] = fmax(high[i % 3], v[i]);
  }
  stl->low = (lamina_real3){low[0], low[1], low[2]};
  stl->high = (lamina_real3){high[0], high[1], high[2]};
}

/* Numbers go from corners to triangles, the first corner of each number gives the vertex. */
static void fill_mesh(const lmi_facets *facets, const uint32_t *numbers, lmi_stl *stl)
{
  size_t next = 0, kept = 0;
  for (size_t i = 0; i < 3 * facets->count; i++)
    if (numbers[i] == next) {
      for (size_t a = 0; a < 3; a++)
        stl->vertices[3 * next + a] = facets->corners[3 * i + a] + 0.0;
      next++;
    }
  for (size_t i = 0; i < facets->count; i++) {
    const uint32_t *t = &numbers[3 * i];
    if (t[0] == t[1] || t[1] == t[2] || t[2] == t[0])
      continue;
    memcpy(&stl->triangles[3 * kept++], t, 3 * sizeof *t);
  }
  stl->collapsed_count += facets->count - kept;
  stl->mesh = (lamina_mesh){stl->vertices, next, stl->triangles, kept};
}

static lamina_status weld(lamina_context *ctx, const char *path, const lmi_facets *facets, lmi_stl *stl)
{
  int64_t *keys = NULL;
  uint32_t *numbers = NULL;
  size_t distinct = 0;
  lamina_status status = LAMINA_OK;
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, 9 * facets->count, &keys), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, 3 * facets->count, &numbers), cleanup);
  make_keys(facets, keys);
  LMI_TRY_GOTO(status, lmi_weld(ctx, keys, 3 * facets->count, numbers, &distinct), cleanup);
  lmi_free(ctx, keys);
  keys = NULL;
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, 3 * distinct, &stl->vertices), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, 3 * facets->count, &stl->triangles), cleanup);
  fill_mesh(facets, numbers, stl);
  if (stl->mesh.triangle_count == 0)
    status =
      lmi_fail(ctx, LAMINA_ERROR_CASE, "%s: no triangles in the file: each of its %zu facets has two equal corners",
               path, facets->count);

cleanup:
  lmi_free(ctx, numbers);
  lmi_free(ctx, keys);
  return status;
}

static lamina_status make_mesh(lamina_context *ctx, const char *path, const lmi_facets *facets, lmi_stl *stl)
{
  lmi_free(ctx, stl->vertices);
  lmi_free(ctx, stl->triangles);
  stl->vertices = NULL;
  stl->triangles = NULL;
  LMI_TRY(weld(ctx, path, facets, stl));
  note_bounds(stl);
  return lmi_mesh_find_open_edges(ctx, &stl->mesh, &stl->open, NULL);
}

lamina_status lmi_stl_unweld(lamina_context *ctx, const lmi_stl *stl, lmi_facets *facets)
{
  const size_t count = stl->mesh.triangle_count;
  *facets = (lmi_facets){0};
  LMI_TRY(LMI_ALLOC(ctx, 9 * count, &facets->corners));
  facets->count = facets->capacity = count;
  for (size_t i = 0; i < 3 * count; i++)
    memcpy(&facets->corners[3 * i], &stl->vertices[3 * (size_t)stl->triangles[i]], 3 * sizeof *facets->corners);
  return LAMINA_OK;
}

/* ---- the whole ---- */

static lamina_status mend(lamina_context *ctx, const char *path, lmi_stl *stl)
{
  lmi_facets facets = {0};
  stl->open_before = stl->open.count;
  lamina_status status = lmi_stl_unweld(ctx, stl, &facets);
  if (status == LAMINA_OK)
    status = lmi_stl_repair(ctx, path, stl, &facets);
  if (status == LAMINA_OK)
    status = make_mesh(ctx, path, &facets, stl);
  lmi_free(ctx, facets.corners);
  stl->is_repaired = true;
  return status;
}

lamina_status lmi_stl_parse(lamina_context *ctx, const char *path, const char *data, size_t bytes, bool repair,
                            lmi_stl *stl)
{
  memset(stl, 0, sizeof *stl);
  lmi_facets facets = {0};
  lamina_status status = parse_facets(ctx, path, data, bytes, stl, &facets);
  stl->facet_count = facets.count;
  if (status == LAMINA_OK)
    status = make_mesh(ctx, path, &facets, stl);
  lmi_free(ctx, facets.corners);
  if (status == LAMINA_OK && repair && stl->open.count > 0)
    status = mend(ctx, path, stl);
  if (status != LAMINA_OK)
    lmi_stl_free(ctx, stl);
  return status;
}

lamina_status lmi_stl_read(lamina_context *ctx, const char *path, bool repair, lmi_stl *stl)
{
  memset(stl, 0, sizeof *stl);
  char *data = NULL;
  size_t bytes = 0;
  LMI_TRY(lmi_file_read_all(ctx, path, MOST_BYTES, &data, &bytes));
  const lamina_status status = lmi_stl_parse(ctx, path, data, bytes, repair, stl);
  lmi_free(ctx, data);
  return status;
}

void lmi_stl_free(lamina_context *ctx, lmi_stl *stl)
{
  lmi_free(ctx, stl->vertices);
  lmi_free(ctx, stl->triangles);
  memset(stl, 0, sizeof *stl);
}

static void place_point(lamina_real3 *point, const lamina_pose *placement)
{
  double values[3] = {point->x, point->y, point->z};
  lmi_mesh_place(values, 1, placement);
  *point = (lamina_real3){values[0], values[1], values[2]};
}

/* The bounds of the open edges are those of the placed corners of their bounds. */
static void place_open(lmi_open_edges *open, const lamina_pose *placement)
{
  const lamina_real3 ends[2] = {open->low, open->high};
  for (size_t i = 0; i < open->count && i < LMI_COUNT(open->from); i++) {
    place_point(&open->from[i], placement);
    place_point(&open->to[i], placement);
  }
  for (int corner = 0; corner < 8; corner++) {
    lamina_real3 p = {ends[corner & 1].x, ends[corner >> 1 & 1].y, ends[corner >> 2].z};
    place_point(&p, placement);
    if (corner == 0)
      open->low = open->high = p;
    open->low = (lamina_real3){fmin(open->low.x, p.x), fmin(open->low.y, p.y), fmin(open->low.z, p.z)};
    open->high = (lamina_real3){fmax(open->high.x, p.x), fmax(open->high.y, p.y), fmax(open->high.z, p.z)};
  }
}

void lmi_stl_place(lmi_stl *stl, const lamina_pose *placement)
{
  lmi_mesh_place(stl->vertices, stl->mesh.vertex_count, placement);
  note_bounds(stl);
  place_open(&stl->open, placement);
}

lamina_status lmi_stl_require_closed(lamina_context *ctx, const char *path, const lmi_stl *stl)
{
  char text[256];
  LMI_REQUIRE(ctx, stl->open.count == 0, LAMINA_ERROR_CASE, "%s: %s: what is not closed has no inside; %s", path,
              lmi_open_edges_describe(&stl->open, sizeof text, text),
              stl->is_repaired ? "repair did not close it, mend it where it was made"
                               : "ask for repair, or close it where it was made");
  return LAMINA_OK;
}

/* "car" for "models/car.stl" */
static lamina_status name_after_file(lamina_geometry *geometry, int number, const char *path)
{
  const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
  const char *dot = strrchr(name, '.');
  char *copy = NULL;
  lamina_context *ctx = lmi_geometry_context(geometry);
  LMI_TRY(lmi_string_copy_n(ctx, name, dot != NULL && dot != name ? (size_t)(dot - name) : strlen(name), &copy));
  const lamina_status status = lamina_geometry_name_body(geometry, number, copy);
  lmi_free(ctx, copy);
  return status;
}

lamina_status lamina_geometry_add_stl(lamina_geometry *geometry, const char *path, const lamina_pose *placement,
                                      bool repair, int *body)
{
  lamina_context *ctx = lmi_geometry_context(geometry);
  lmi_stl stl;
  int number = 0;
  LMI_TRY(lmi_stl_read(ctx, path, repair, &stl));
  lamina_status status = lmi_stl_require_closed(ctx, path, &stl);
  if (status == LAMINA_OK) {
    status = lamina_geometry_add_mesh(geometry, &stl.mesh, placement, &number);
    if (status != LAMINA_OK)
      status = lmi_fail_within(ctx, status, "%s", path);
  }
  if (status == LAMINA_OK)
    status = name_after_file(geometry, number, path);
  if (body != NULL)
    *body = number;
  lmi_stl_free(ctx, &stl);
  return status;
}
