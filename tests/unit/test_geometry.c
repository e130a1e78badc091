/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies as cells, against counts known from outside and the winding number. */
#include <math.h>
#include <stdlib.h>

#include "support/failing_allocator.h"
#include "support/test.h"

#include "flow/voxels.h"

static lamina_context *make_context(int threads)
{
  const lamina_context_options options = {.threads = threads};
  lamina_context *ctx = NULL;
  assert_int_equal(lamina_context_create(&options, &ctx), LAMINA_OK);
  return ctx;
}

static lamina_geometry *make_geometry(lamina_context *ctx)
{
  lamina_geometry *geometry = NULL;
  assert_int_equal(lamina_geometry_create(ctx, &geometry), LAMINA_OK);
  return geometry;
}

static lmi_voxels voxelize(lamina_context *ctx, const lamina_geometry *geometry, lamina_int3 cells)
{
  lmi_voxels voxels;
  const lmi_voxel_grid grid = {.cells = cells};
  const lamina_status status = lmi_geometry_voxelize(ctx, geometry, &grid, NULL, &voxels);
  if (status != LAMINA_OK)
    print_message("%s\n", lamina_error_message(ctx));
  assert_int_equal(status, LAMINA_OK);
  return voxels;
}

/* A generator that is the same everywhere. */
static uint64_t seed = 1;
static double uniform(double low, double high)
{
  seed ^= seed >> 12;
  seed ^= seed << 25;
  seed ^= seed >> 27;
  return low + (high - low) * (double)((seed * 0x2545f4914f6cdd1dULL) >> 11) / 9007199254740992.0;
}

/* ---- meshes ---- */

enum { MOST = 4096 };
typedef struct soup {
  double vertices[MOST][3];
  uint32_t triangles[MOST][3];
  size_t vertex_count, triangle_count;
} soup;

static lamina_mesh mesh_of(const soup *s)
{
  return (lamina_mesh){s->vertices[0], s->vertex_count, s->triangles[0], s->triangle_count};
}

static void add_box(soup *s, const double low[3], const double high[3])
{
  static const uint32_t BOX[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                                      {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
  for (size_t t = 0; t < 12; t++, s->triangle_count++)
    for (int k = 0; k < 3; k++)
      s->triangles[s->triangle_count][k] = (uint32_t)s->vertex_count + BOX[t][k];
  for (int i = 0; i < 8; i++, s->vertex_count++)
    for (int a = 0; a < 3; a++)
      s->vertices[s->vertex_count][a] = (i >> a) & 1 ? high[a] : low[a];
}

/* A bumpy sphere of 2 * rings * 2 * rings triangles about `centre`, its vertices on multiples of `grain` when that is
 * not 0: then corners, edges and faces run through centres of cells. */
static void add_blob(soup *s, const double centre[3], double radius, int rings, double bumps, double grain)
{
  const uint32_t first = (uint32_t)s->vertex_count;
  const int around = 2 * rings;
  for (int i = 0; i <= rings; i++)
    for (int j = 0; j < around; j++, s->vertex_count++) {
      const double theta = 3.14159265358979 * i / rings, phi = 2 * 3.14159265358979 * j / around;
      const double r = i == 0 || i == rings ? radius : radius * (1 + uniform(-bumps, bumps));
      const double at[3] = {r * sin(theta) * cos(phi), r * sin(theta) * sin(phi), r * cos(theta)};
      for (int a = 0; a < 3; a++) {
        const double x = i == 0 || i == rings ? centre[a] + (a == 2 ? at[a] : 0) : centre[a] + at[a];
        s->vertices[s->vertex_count][a] = grain > 0 ? grain * rint(x / grain) : x;
      }
    }
  for (int i = 0; i < rings; i++)
    for (int j = 0; j < around; j++) {
      const uint32_t a = first + (uint32_t)(i * around + j), b = first + (uint32_t)(i * around + (j + 1) % around);
      const uint32_t c = a + (uint32_t)around, d = b + (uint32_t)around;
      const uint32_t pair[2][3] = {{a, c, b}, {b, c, d}};
      for (int k = 0; k < 2; k++)
        memcpy(s->triangles[s->triangle_count++], pair[k], sizeof pair[k]);
    }
}

/* Sum of the solid angles over 4 pi (Van Oosterom and Strackee 1983). */
static double winding_number(const soup *s, const double p[3])
{
  double sum = 0;
  for (size_t t = 0; t < s->triangle_count; t++) {
    double r[3][3], l[3];
    for (int k = 0; k < 3; k++) {
      for (int a = 0; a < 3; a++)
        r[k][a] = s->vertices[s->triangles[t][k]][a] - p[a];
      l[k] = sqrt(r[k][0] * r[k][0] + r[k][1] * r[k][1] + r[k][2] * r[k][2]);
    }
    double d[3];
    for (int k = 0; k < 3; k++) {
      const double *x = r[(k + 1) % 3], *y = r[(k + 2) % 3];
      d[k] = x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
    }
    const double det = r[0][0] * (r[1][1] * r[2][2] - r[1][2] * r[2][1]) -
                       r[0][1] * (r[1][0] * r[2][2] - r[1][2] * r[2][0]) +
                       r[0][2] * (r[1][0] * r[2][1] - r[1][1] * r[2][0]);
    sum += 2 * atan2(det, l[0] * l[1] * l[2] + d[0] * l[0] + d[1] * l[1] + d[2] * l[2]);
  }
  return sum / (4 * 3.14159265358979323846);
}

/* On a triangle, to round-off: it splits into three parts as large as itself. */
static bool is_on_surface(const soup *s, const double p[3])
{
  for (size_t t = 0; t < s->triangle_count; t++) {
    double r[3][3], parts = 0, whole = 0;
    for (int k = 0; k < 3; k++)
      for (int a = 0; a < 3; a++)
        r[k][a] = s->vertices[s->triangles[t][k]][a] - p[a];
    for (int k = 0; k < 4; k++) {
      double u[3], v[3], n[3];
      for (int a = 0; a < 3; a++) {
        u[a] = k < 3 ? r[k][a] : r[1][a] - r[0][a];
        v[a] = k < 3 ? r[(k + 1) % 3][a] : r[2][a] - r[0][a];
      }
      for (int a = 0; a < 3; a++)
        n[a] = u[(a + 1) % 3] * v[(a + 2) % 3] - u[(a + 2) % 3] * v[(a + 1) % 3];
      const double area = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
      parts += k < 3 ? area : 0;
      whole = area;
    }
    if (whole > 0 && parts <= whole * (1 + 1e-12))
      return true;
  }
  return false;
}

static lamina_index count_mesh(lamina_context *ctx, const soup *s, const lamina_pose *placement, lamina_int3 cells)
{
  lamina_geometry *geometry = make_geometry(ctx);
  const lamina_mesh mesh = mesh_of(s);
  const lamina_status status = lamina_geometry_add_mesh(geometry, &mesh, placement, NULL);
  if (status != LAMINA_OK)
    print_message("%s\n", lamina_error_message(ctx));
  assert_int_equal(status, LAMINA_OK);
  lmi_voxels voxels = voxelize(ctx, geometry, cells);
  const lamina_index count = voxels.solid_count;
  lmi_voxels_free(ctx, &voxels);
  lamina_geometry_destroy(geometry);
  return count;
}

/* ---- cases ---- */

static void boxes_have_their_cells(void **state)
{
  (void)state;
  lamina_context *ctx = make_context(2);
  /* Between centres: the volume. On centres: the surface counts. Any size, odd or even. */
  for (int size = 1; size < 9; size++)
    for (int shift = 0; shift < 2; shift++) {
      static soup s;
      memset(&s, 0, sizeof s);
      const double low = 3 + 0.5 * shift;
      add_box(&s, (const double[3]){low, low, low}, (const double[3]){low + size, low + size, low + size});
      const lamina_index side = size + shift;
      assert_int_equal(count_mesh(ctx, &s, NULL, (lamina_int3){17, 16, 15}), side * side * side);
      lamina_geometry *geometry = make_geometry(ctx);
      assert_int_equal(lamina_geometry_add_box(geometry, (lamina_real3){low, low, low},
                                               (lamina_real3){low + size, low + size, low + size}, NULL, NULL),
                       LAMINA_OK);
      lmi_voxels voxels = voxelize(ctx, geometry, (lamina_int3){17, 16, 15});
      assert_int_equal(voxels.solid_count, side * side * side);
      lmi_voxels_free(ctx, &voxels);
      lamina_geometry_destroy(geometry);
    }
  lamina_context_destroy(ctx);
}

/* Every cell of random closed meshes, those with everything on cell centres too, against the winding number. */
static void meshes_agree_with_the_winding_number(void **state)
{
  (void)state;
  lamina_context *ctx = make_context(2);
  static soup s;
  int touched = 0;
  for (int round = 0; round < 12; round++) {
    memset(&s, 0, sizeof s);
    const double grain = round % 3 == 0 ? 0 : round % 3 == 1 ? 0.5 : 0.25;
    const double centre[3] = {8.5, 8 + 0.25 * (round % 4), 8.25};
    add_blob(&s, centre, 5.0, 5 + round % 4, 0.25, grain);
    lamina_geometry *geometry = make_geometry(ctx);
    const lamina_mesh mesh = mesh_of(&s);
    assert_int_equal(lamina_geometry_add_mesh(geometry, &mesh, NULL, NULL), LAMINA_OK);
    lmi_voxels voxels = voxelize(ctx, geometry, (lamina_int3){17, 17, 17});
    for (lamina_index z = 0; z < 17; z++)
      for (lamina_index y = 0; y < 17; y++)
        for (lamina_index x = 0; x < 17; x++) {
          const double p[3] = {(double)x + 0.5, (double)y + 0.5, (double)z + 0.5};
          const double w = winding_number(&s, p);
          const bool is_solid = lmi_voxels_is_solid(&voxels, (lamina_int3){x, y, z});
          if (is_on_surface(&s, p)) {
            assert_true(is_solid);
            touched++;
          } else {
            assert_true(fabs(w - rint(w)) < 1e-6);
            assert_int_equal(is_solid, rint(w) != 0);
          }
        }
    lmi_voxels_free(ctx, &voxels);
    lamina_geometry_destroy(geometry);
  }
  assert_true(touched > 100);
  lamina_context_destroy(ctx);
}

/* Cells of a turned or reflected mesh are the turned and reflected cells, one by one. */
static void quarter_turns_turn_the_cells(void **state)
{
  (void)state;
  lamina_context *ctx = make_context(2);
  static soup s, turned;
  enum { N = 18 };
  for (int round = 0; round < 12; round++) {
    memset(&s, 0, sizeof s);
    add_blob(&s, (const double[3]){9.0, 9.5, 8.5}, 5.5, 6, 0.3, round % 2 == 0 ? 0.5 : 0);
    lamina_geometry *first = make_geometry(ctx), *second = make_geometry(ctx);
    turned = s;
    for (size_t i = 0; i < s.vertex_count; i++)
      for (int a = 0; a < 3; a++)
        turned.vertices[i][a] = round & 4 ? s.vertices[i][(a + 1) % 3]
                                : a == 0  ? N - s.vertices[i][1]
                                          : s.vertices[i][a == 1 ? 0 : 2];
    const lamina_mesh one = mesh_of(&s), other = mesh_of(&turned);
    assert_int_equal(lamina_geometry_add_mesh(first, &one, NULL, NULL), LAMINA_OK);
    assert_int_equal(lamina_geometry_add_mesh(second, &other, NULL, NULL), LAMINA_OK);
    lmi_voxels a = voxelize(ctx, first, (lamina_int3){N, N, N}), b = voxelize(ctx, second, (lamina_int3){N, N, N});
    assert_true(a.solid_count > 100);
    for (lamina_index z = 0; z < N; z++)
      for (lamina_index y = 0; y < N; y++)
        for (lamina_index x = 0; x < N; x++) {
          const lamina_int3 image = round & 4 ? (lamina_int3){y, z, x} : (lamina_int3){N - 1 - y, x, z};
          assert_int_equal(lmi_voxels_is_solid(&a, (lamina_int3){x, y, z}), lmi_voxels_is_solid(&b, image));
        }
    lmi_voxels_free(ctx, &a);
    lmi_voxels_free(ctx, &b);
    lamina_geometry_destroy(first);
    lamina_geometry_destroy(second);
  }
  lamina_context_destroy(ctx);
}

static void order_and_orientation_do_not_matter(void **state)
{
  (void)state;
  lamina_context *ctx = make_context(2);
  static soup s, other;
  add_blob(&s, (const double[3]){8, 8, 8}, 5.0, 8, 0.2, 0.5);
  const lamina_index cells = count_mesh(ctx, &s, NULL, (lamina_int3){16, 16, 16});
  other = s;
  for (size_t i = 0; i < s.triangle_count; i++) { /* backwards, all inward */
    memcpy(other.triangles[i], s.triangles[s.triangle_count - 1 - i], sizeof other.triangles[i]);
    const uint32_t swap = other.triangles[i][0];
    other.triangles[i][0] = other.triangles[i][1];
    other.triangles[i][1] = swap;
  }
  assert_int_equal(count_mesh(ctx, &other, NULL, (lamina_int3){16, 16, 16}), cells);
  lamina_geometry *geometry = make_geometry(ctx);
  lamina_body_info info;
  lamina_mesh mesh = mesh_of(&other);
  assert_int_equal(lamina_geometry_add_mesh(geometry, &mesh, NULL, NULL), LAMINA_OK);
  assert_true(lamina_geometry_get_body(geometry, 1, &info));
  assert_true(info.is_inward && info.is_oriented);
  for (size_t i = 0; i < s.triangle_count; i += 3) { /* some outward, some inward */
    const uint32_t swap = other.triangles[i][0];
    other.triangles[i][0] = other.triangles[i][1];
    other.triangles[i][1] = swap;
  }
  assert_int_equal(count_mesh(ctx, &other, NULL, (lamina_int3){16, 16, 16}), cells);
  assert_int_equal(lamina_geometry_add_mesh(geometry, &mesh, NULL, NULL), LAMINA_OK);
  assert_true(lamina_geometry_get_body(geometry, 2, &info));
  assert_false(info.is_oriented);
  lamina_geometry_destroy(geometry);
  lamina_context_destroy(ctx);
}

/* Shells of one mesh: overlapping ones are united, one turned the other way inside is a cavity. */
static void shells_are_united_or_hollow(void **state)
{
  (void)state;
  lamina_context *ctx = make_context(2);
  static soup s;
  memset(&s, 0, sizeof s);
  add_box(&s, (const double[3]){2, 2, 2}, (const double[3]){8, 8, 8});
  add_box(&s, (const double[3]){5, 5, 5}, (const double[3]){11, 11, 11});
  assert_int_equal(count_mesh(ctx, &s, NULL, (lamina_int3){13, 13, 13}), 216 + 216 - 27);
  memset(&s, 0, sizeof s);
  add_box(&s, (const double[3]){2, 2, 2}, (const double[3]){12, 12, 12});
  add_box(&s, (const double[3]){4, 4, 4}, (const double[3]){9, 9, 9});
  for (size_t i = 12; i < 24; i++) {
    const uint32_t swap = s.triangles[i][0];
    s.triangles[i][0] = s.triangles[i][1];
    s.triangles[i][1] = swap;
  }
  assert_int_equal(count_mesh(ctx, &s, NULL, (lamina_int3){14, 14, 14}), 1000 - 125);
  lamina_context_destroy(ctx);
}

/* A sphere on its own, whatever its centre, against a plain count. */
static void shapes_match_their_equations(void **state)
{
  (void)state;
  lamina_context *ctx = make_context(2);
  for (int round = 0; round < 8; round++) {
    const double c[3] = {8 + 0.25 * round, 8.5, 7.75}, r = 5;
    lamina_geometry *geometry = make_geometry(ctx);
    assert_int_equal(lamina_geometry_add_sphere(geometry, (lamina_real3){c[0], c[1], c[2]}, r, NULL), LAMINA_OK);
    const lamina_cylinder cylinder = {.from = {c[0], c[1], 2}, .to = {c[0], c[1], 9}, .radius = r};
    lamina_geometry *round_rod = make_geometry(ctx);
    assert_int_equal(lamina_geometry_add_cylinder(round_rod, &cylinder, NULL), LAMINA_OK);
    lmi_voxels ball = voxelize(ctx, geometry, (lamina_int3){17, 18, 19});
    lmi_voxels rod = voxelize(ctx, round_rod, (lamina_int3){17, 18, 19});
    for (lamina_index z = 0; z < 19; z++)
      for (lamina_index y = 0; y < 18; y++)
        for (lamina_index x = 0; x < 17; x++) {
          const double dx = (double)x + 0.5 - c[0], dy = (double)y + 0.5 - c[1], dz = (double)z + 0.5 - c[2];
          assert_int_equal(lmi_voxels_is_solid(&ball, (lamina_int3){x, y, z}), dx * dx + dy * dy + dz * dz <= r * r);
          assert_int_equal(lmi_voxels_is_solid(&rod, (lamina_int3){x, y, z}),
                           dx * dx + dy * dy <= r * r && z >= 2 && z < 9);
        }
    lmi_voxels_free(ctx, &ball);
    lmi_voxels_free(ctx, &rod);
    lamina_geometry_destroy(geometry);
    lamina_geometry_destroy(round_rod);
  }
  lamina_context_destroy(ctx);
}

/* The first body that was added has the cell. */
static void the_lowest_number_has_the_cell(void **state)
{
  (void)state;
  lamina_context *ctx = make_context(2);
  lamina_geometry *geometry = make_geometry(ctx);
  int number = 0;
  assert_int_equal(lamina_geometry_add_box(geometry, (lamina_real3){1, 1, 1}, (lamina_real3){5, 5, 5}, NULL, &number),
                   LAMINA_OK);
  assert_int_equal(number, 1);
  assert_int_equal(lamina_geometry_add_box(geometry, (lamina_real3){3, 3, 3}, (lamina_real3){7, 7, 7}, NULL, &number),
                   LAMINA_OK);
  assert_int_equal(number, 2);
  assert_int_equal(lamina_geometry_add_box(geometry, (lamina_real3){0, 0, 0}, (lamina_real3){6, 6, 6}, NULL, &number),
                   LAMINA_OK);
  lmi_voxels voxels = voxelize(ctx, geometry, (lamina_int3){9, 9, 9});
  for (lamina_index z = 0; z < 9; z++)
    for (lamina_index y = 0; y < 9; y++)
      for (lamina_index x = 0; x < 9; x++) {
        const lamina_index low = x < y ? (x < z ? x : z) : (y < z ? y : z),
                           high = x > y ? (x > z ? x : z) : (y > z ? y : z);
        const int expected = low >= 1 && high < 5 ? 1 : low >= 3 && high < 7 ? 2 : high < 6 ? 3 : 0;
        assert_int_equal(lmi_voxels_body(&voxels, (lamina_int3){x, y, z}), expected);
      }
  assert_int_equal(voxels.body_counts[0], 64);
  assert_int_equal(voxels.body_counts[1], 64 - 8);
  lmi_voxels_free(ctx, &voxels);
  lamina_geometry_destroy(geometry);
  lamina_context_destroy(ctx);
}

/* Level l is what one gets with everything 2^l times smaller. */
static void a_level_is_a_coarser_grid(void **state)
{
  (void)state;
  lamina_context *ctx = make_context(1);
  lamina_geometry *fine = make_geometry(ctx), *coarse = make_geometry(ctx);
  assert_int_equal(lamina_geometry_add_sphere(fine, (lamina_real3){33, 32, 31}, 21, NULL), LAMINA_OK);
  assert_int_equal(lamina_geometry_add_sphere(coarse, (lamina_real3){8.25, 8, 7.75}, 5.25, NULL), LAMINA_OK);
  lmi_voxels a, b = voxelize(ctx, coarse, (lamina_int3){16, 16, 16});
  const lmi_voxel_grid grid = {.cells = {16, 16, 16}, .level = 2};
  assert_int_equal(lmi_geometry_voxelize(ctx, fine, &grid, NULL, &a), LAMINA_OK);
  assert_memory_equal(a.solid, b.solid, 64 * sizeof *a.solid);
  lmi_voxels_free(ctx, &a);
  lmi_voxels_free(ctx, &b);
  lamina_geometry_destroy(fine);
  lamina_geometry_destroy(coarse);
  lamina_context_destroy(ctx);
}

/* Every link of a sphere: solved by hand, and the same from a mesh to what its facets miss of the sphere. */
static void links_end_on_the_surface(void **state)
{
  (void)state;
  lamina_context *ctx = make_context(1);
  static soup s;
  const double c[3] = {9.2, 8.7, 9.0}, r = 5.3;
  memset(&s, 0, sizeof s);
  add_blob(&s, c, r, 30, 0, 0);
  lamina_geometry *ball = make_geometry(ctx), *facets = make_geometry(ctx);
  const lamina_mesh mesh = mesh_of(&s);
  assert_int_equal(lamina_geometry_add_sphere(ball, (lamina_real3){c[0], c[1], c[2]}, r, NULL), LAMINA_OK);
  assert_int_equal(lamina_geometry_add_mesh(facets, &mesh, NULL, NULL), LAMINA_OK);
  lmi_voxels a = voxelize(ctx, ball, (lamina_int3){18, 18, 18}), b = voxelize(ctx, facets, (lamina_int3){18, 18, 18});
  int links = 0, off = 0;
  for (lamina_index i = 0; i < 16 * 16 * 16 * 27; i++) {
    const lamina_index cell = i / 27;
    const lamina_int3 at = {1 + cell % 16, 1 + cell / 16 % 16, 1 + cell / 256};
    const int way[3] = {(int)(i % 3) - 1, (int)(i / 3 % 3) - 1, (int)(i / 9 % 3) - 1};
    if (lmi_voxels_is_solid(&a, at) || (way[0] == 0 && way[1] == 0 && way[2] == 0))
      continue;
    double fraction = 0, q[3], ww = 0, qw = 0, qq = 0;
    int body = 0;
    const bool is_cut = lmi_geometry_link(&a, at, way, &fraction, &body);
    const lamina_int3 end = {at.x + way[0], at.y + way[1], at.z + way[2]};
    assert_true(is_cut || !lmi_voxels_is_solid(&a, end));
    const lamina_index cells[3] = {at.x, at.y, at.z};
    for (int k = 0; k < 3; k++) {
      q[k] = (double)cells[k] + 0.5 - c[k];
      ww += way[k] * way[k];
      qw += q[k] * way[k];
      qq += q[k] * q[k];
    }
    const double root = (-qw - sqrt(qw * qw - ww * (qq - r * r))) / ww;
    const bool is_met = qw * qw >= ww * (qq - r * r) && root > 0 && root <= 1;
    assert_int_equal(is_cut, is_met);
    if (!is_cut)
      continue;
    links++;
    assert_int_equal(body, 1);
    assert_true(fabs(fraction - root) < 1e-6);
    double other = 0;
    if (lmi_voxels_is_solid(&b, at) || !lmi_geometry_link(&b, at, way, &other, &body) || fabs(other - fraction) > 0.1)
      off++;
  }
  assert_true(links > 2000);
  assert_true(off < links / 20);
  lmi_voxels_free(ctx, &a);
  lmi_voxels_free(ctx, &b);
  lamina_geometry_destroy(ball);
  lamina_geometry_destroy(facets);
  lamina_context_destroy(ctx);
}

/* Every shape from every cell around it: the point at the fraction lies on its surface, and only cut links are cut. */
static void links_meet_every_shape(void **state)
{
  (void)state;
  lamina_context *ctx = make_context(1);
  lamina_geometry *geometry = make_geometry(ctx);
  const lamina_cylinder rod = {.from = {5, 6, 4.1}, .to = {5, 6, 8.8}, .radius = 2.3};
  const lamina_cylinder tilted = {.from = {12.1, 12.3, 11.8}, .to = {16.1, 15.2, 14.3}, .radius = 1.7};
  const lamina_pose turned = {.scale = 1, .rotate = {20, 30, 40}, .at = {14, 5, 13}};
  assert_int_equal(lamina_geometry_add_cylinder(geometry, &rod, NULL), LAMINA_OK);
  assert_int_equal(lamina_geometry_add_cylinder(geometry, &tilted, NULL), LAMINA_OK);
  assert_int_equal(
    lamina_geometry_add_box(geometry, (lamina_real3){4.1, 13.2, 3.1}, (lamina_real3){8.2, 17.9, 9.4}, NULL, NULL),
    LAMINA_OK);
  assert_int_equal(
    lamina_geometry_add_box(geometry, (lamina_real3){-2, -2, -2}, (lamina_real3){2, 2, 2}, &turned, NULL), LAMINA_OK);
  lmi_voxels voxels = voxelize(ctx, geometry, (lamina_int3){20, 20, 20});
  int cut[5] = {0}, fallbacks = 0;
  for (lamina_index i = 0; i < 18 * 18 * 18 * 27; i++) {
    const lamina_index cell = i / 27;
    const lamina_int3 at = {1 + cell % 18, 1 + cell / 18 % 18, 1 + cell / 324};
    const int way[3] = {(int)(i % 3) - 1, (int)(i / 3 % 3) - 1, (int)(i / 9 % 3) - 1};
    const lamina_int3 end = {at.x + way[0], at.y + way[1], at.z + way[2]};
    if (lmi_voxels_is_solid(&voxels, at) || (way[0] == 0 && way[1] == 0 && way[2] == 0))
      continue;
    double fraction = 0;
    int body = 0;
    const bool is_cut = lmi_geometry_link(&voxels, at, way, &fraction, &body);
    assert_true(is_cut || !lmi_voxels_is_solid(&voxels, end));
    if (!is_cut)
      continue;
    assert_true(fraction > 0 && fraction <= 1);
    assert_true(body >= 1 && body <= 4);
    cut[body]++;
    fallbacks += fraction == 0.5;
    if (lmi_voxels_is_solid(&voxels, end) && body == lmi_voxels_body(&voxels, end)) {
      /* Seen from the solid end, the surface of a convex body lies at the rest of the way. */
      const double place[3] = {(double)at.x + 0.5 + fraction * way[0], (double)at.y + 0.5 + fraction * way[1],
                               (double)at.z + 0.5 + fraction * way[2]};
      if (body == 1) {
        const double aside = hypot(place[0] - 5, place[1] - 6);
        assert_true(fabs(aside - 2.3) < 1e-5 || fabs(place[2] - 4.1) < 1e-5 || fabs(place[2] - 8.8) < 1e-5);
      }
      if (body == 3)
        assert_true(fabs(place[0] - 4.1) < 1e-5 || fabs(place[0] - 8.2) < 1e-5 || fabs(place[1] - 13.2) < 1e-5 ||
                    fabs(place[1] - 17.9) < 1e-5 || fabs(place[2] - 3.1) < 1e-5 || fabs(place[2] - 9.4) < 1e-5);
    }
  }
  for (int body = 1; body <= 4; body++)
    assert_true(cut[body] > 200);
  assert_int_equal(fallbacks, 0); /* no surface was missed */
  lmi_voxels_free(ctx, &voxels);
  lamina_geometry_destroy(geometry);
  lamina_context_destroy(ctx);
}

/* Many bodies: the same links as from each alone. */
static void a_packing_has_the_links_of_its_bodies(void **state)
{
  (void)state;
  enum { BODIES = 150, N = 40 };
  lamina_context *ctx = make_context(1);
  lamina_geometry *all = make_geometry(ctx);
  double centres[BODIES][3];
  for (int b = 0; b < BODIES; b++) {
    for (int a = 0; a < 3; a++)
      centres[b][a] = uniform(-1, N + 1);
    const lamina_real3 at = {centres[b][0], centres[b][1], centres[b][2]};
    assert_int_equal(lamina_geometry_add_sphere(all, at, 1.9, NULL), LAMINA_OK);
  }
  lmi_voxels voxels = voxelize(ctx, all, (lamina_int3){N, N, N});
  int cut = 0;
  for (int i = 0; i < 200000; i++) {
    const lamina_int3 cell = {(lamina_index)uniform(0, N), (lamina_index)uniform(0, N), (lamina_index)uniform(0, N)};
    const int c[3] = {(int)uniform(0, 3) - 1, (int)uniform(0, 3) - 1, (int)uniform(0, 3) - 1};
    const lamina_index end[3] = {cell.x + c[0], cell.y + c[1], cell.z + c[2]}, at[3] = {cell.x, cell.y, cell.z};
    const bool is_inside = end[0] >= 0 && end[1] >= 0 && end[2] >= 0 && end[0] < N && end[1] < N && end[2] < N;
    if (lmi_voxels_is_solid(&voxels, cell) || !is_inside || (c[0] == 0 && c[1] == 0 && c[2] == 0))
      continue;
    double nearest = 2;
    for (int b = 0; b < BODIES; b++) {
      double ww = 0, qw = 0, qq = 0;
      for (int a = 0; a < 3; a++) {
        const double q = (double)at[a] + 0.5 - centres[b][a];
        ww += c[a] * c[a];
        qw += q * c[a];
        qq += q * q;
      }
      const double inner = qw * qw - ww * (qq - 1.9 * 1.9), root = inner >= 0 ? (-qw - sqrt(inner)) / ww : -1;
      nearest = root > 0 && root <= 1 && root < nearest ? root : nearest;
    }
    double fraction = 0;
    int body = 0;
    assert_int_equal(lmi_geometry_link(&voxels, cell, c, &fraction, &body), nearest < 2);
    if (nearest < 2) {
      assert_true(fabs(fraction - nearest) < 1e-3); /* a way that grazes moves most with the rounding of the centre */
      cut++;
    }
  }
  assert_true(cut > 5000);
  lmi_voxels_free(ctx, &voxels);
  lamina_geometry_destroy(all);
  lamina_context_destroy(ctx);
}

/* Across a periodic face, on a coarse level, and in two dimensions. */
static void links_know_their_grid(void **state)
{
  (void)state;
  lamina_context *ctx = make_context(1);
  lamina_geometry *geometry = make_geometry(ctx);
  double fraction = 0;
  int body = 0;
  assert_int_equal(lamina_geometry_add_box(geometry, (lamina_real3){-1, 2, 2}, (lamina_real3){1.25, 6, 6}, NULL, NULL),
                   LAMINA_OK);
  lmi_voxels voxels = voxelize(ctx, geometry, (lamina_int3){8, 8, 8});
  assert_true(lmi_geometry_link(&voxels, (lamina_int3){1, 3, 3}, (const int[3]){-1, 0, 0}, &fraction, &body));
  assert_true(fabs(fraction - 0.25) < 1e-6);
  /* From the last cell to the first: the body begins a cell before the box, at -1, which is 7 there. */
  assert_true(lmi_geometry_link(&voxels, (lamina_int3){7, 3, 3}, (const int[3]){1, 0, 0}, &fraction, &body));
  assert_int_equal(body, 1);
  assert_false(lmi_geometry_link(&voxels, (lamina_int3){7, 0, 0}, (const int[3]){1, 0, 0}, &fraction, &body));
  lmi_voxels_free(ctx, &voxels);

  const lmi_voxel_grid coarse = {.cells = {4, 4, 4}, .level = 1};
  assert_int_equal(lmi_geometry_voxelize(ctx, geometry, &coarse, NULL, &voxels), LAMINA_OK);
  assert_true(lmi_geometry_link(&voxels, (lamina_int3){1, 1, 1}, (const int[3]){-1, 0, 0}, &fraction, &body));
  assert_true(fabs(fraction - (3 - 1.25) / 2) < 1e-6);
  lmi_voxels_free(ctx, &voxels);

  lamina_geometry *flat = make_geometry(ctx);
  const lamina_cylinder disc = {.from = {4, 4, 0}, .to = {4, 4, 1}, .radius = 2, .is_endless = true};
  assert_int_equal(lamina_geometry_add_cylinder(flat, &disc, NULL), LAMINA_OK);
  const lmi_voxel_grid plane = {.cells = {8, 8, 1}, .is_flat = true};
  assert_int_equal(lmi_geometry_voxelize(ctx, flat, &plane, NULL, &voxels), LAMINA_OK);
  assert_int_equal(voxels.solid_count, 12);
  assert_true(lmi_geometry_link(&voxels, (lamina_int3){6, 4, 0}, (const int[3]){-1, 0, 0}, &fraction, &body));
  assert_true(fabs(fraction - (6.5 - 4 - sqrt(4 - 0.25))) < 1e-6);
  lmi_voxels_free(ctx, &voxels);
  lamina_geometry_destroy(flat);
  lamina_geometry_destroy(geometry);
  lamina_context_destroy(ctx);
}

static void volumes_and_surfaces_are_known(void **state)
{
  (void)state;
  lamina_context *ctx = make_context(1);
  static soup s;
  memset(&s, 0, sizeof s);
  add_box(&s, (const double[3]){-1, -2, -3}, (const double[3]){1, 3, 5});
  lamina_geometry *geometry = make_geometry(ctx);
  const lamina_mesh mesh = mesh_of(&s);
  const lamina_pose placement = {.scale = 2, .rotate = {30, 40, 50}, .at = {100, 200, 300}};
  assert_int_equal(lamina_geometry_add_mesh(geometry, &mesh, &placement, NULL), LAMINA_OK);
  lamina_body_info info;
  double area = 0;
  assert_true(lamina_geometry_get_body(geometry, 1, &info));
  assert_true(fabs(info.volume - 8 * 80) < 1e-3);
  assert_true(fabs(info.surface - 4 * 132) < 1e-3);
  assert_int_equal(info.shell_count, 1);
  assert_false(info.is_inward);
  assert_int_equal(lamina_geometry_add_mesh(geometry, &mesh, NULL, NULL), LAMINA_OK);
  assert_int_equal(lamina_geometry_shadow(geometry, 2, 0, 0, &area), LAMINA_OK);
  assert_true(fabs(area - 40) < 0.04);
  const lamina_cylinder rod = {.from = {0, 0, 0}, .to = {0, 0, 1}, .radius = 10, .is_endless = true};
  assert_int_equal(lamina_geometry_add_cylinder(geometry, &rod, NULL), LAMINA_OK);
  assert_int_equal(lamina_geometry_shadow(geometry, 3, 0, 1, &area), LAMINA_OK);
  assert_true(fabs(area - 20) < 1e-6);
  assert_false(lamina_geometry_get_body(geometry, 4, &info));
  assert_int_equal(lamina_geometry_shadow(geometry, 4, 0, 1, &area), LAMINA_ERROR_ARGUMENT);
  lamina_geometry_destroy(geometry);
  lamina_context_destroy(ctx);
}

/* K1-09: between two rows of centres a plate vanishes, and the size that keeps it is its thickness. */
static void thin_parts_are_named(void **state)
{
  (void)state;
  lamina_context *ctx = make_context(2);
  static soup s;
  lmi_thin_part parts[4];
  size_t count = 0;
  for (int hit = 0; hit < 2; hit++) {
    memset(&s, 0, sizeof s);
    add_box(&s, (const double[3]){4, 4, hit ? 4.4 : 4.6}, (const double[3]){14, 14, hit ? 4.7 : 4.9});
    lamina_geometry *geometry = make_geometry(ctx);
    const lamina_mesh mesh = mesh_of(&s);
    assert_int_equal(lamina_geometry_add_mesh(geometry, &mesh, NULL, NULL), LAMINA_OK);
    lmi_voxels voxels = voxelize(ctx, geometry, (lamina_int3){18, 18, 10});
    assert_int_equal(voxels.solid_count, hit ? 100 : 0);
    assert_int_equal(lmi_geometry_find_thin(ctx, &voxels, 4, parts, &count), LAMINA_OK);
    assert_int_equal(count, hit ? 0 : 1);
    if (!hit) {
      assert_true(parts[0].is_whole);
      assert_true(fabs(parts[0].keep - 0.3) < 1e-5);
    }
    lmi_voxels_free(ctx, &voxels);
    lamina_geometry_destroy(geometry);
  }
  /* A thick block with a thin fin: the fin goes, the block stays. */
  memset(&s, 0, sizeof s);
  add_box(&s, (const double[3]){4, 4, 4}, (const double[3]){10, 10, 10});
  add_box(&s, (const double[3]){9, 6.6, 4}, (const double[3]){20, 6.9, 10});
  lamina_geometry *geometry = make_geometry(ctx);
  const lamina_mesh mesh = mesh_of(&s);
  assert_int_equal(lamina_geometry_add_mesh(geometry, &mesh, NULL, NULL), LAMINA_OK);
  lmi_voxels voxels = voxelize(ctx, geometry, (lamina_int3){24, 16, 16});
  assert_int_equal(voxels.solid_count, 216);
  assert_int_equal(lmi_geometry_find_thin(ctx, &voxels, 4, parts, &count), LAMINA_OK);
  assert_int_equal(count, 1);
  assert_false(parts[0].is_whole);
  assert_true(fabs(parts[0].keep - 0.3) < 1e-5);
  lmi_voxels_free(ctx, &voxels);
  lamina_geometry_destroy(geometry);
  lamina_context_destroy(ctx);
}

static void wrong_bodies_are_refused(void **state)
{
  (void)state;
  lamina_context *ctx = make_context(1);
  lamina_geometry *geometry = make_geometry(ctx);
  static soup s;
  memset(&s, 0, sizeof s);
  add_box(&s, (const double[3]){0, 0, 0}, (const double[3]){10, 10, 10});
  s.triangle_count--; /* a hole */
  lamina_mesh mesh = mesh_of(&s);
  assert_int_equal(lamina_geometry_add_mesh(geometry, &mesh, NULL, NULL), LAMINA_ERROR_ARGUMENT);
  assert_non_null(strstr(lamina_error_message(ctx), "3 open edges on the face x = 10"));
  lamina_error_clear(ctx);
  s.triangle_count++;
  s.triangles[3][1] = 99;
  mesh = mesh_of(&s);
  assert_int_equal(lamina_geometry_add_mesh(geometry, &mesh, NULL, NULL), LAMINA_ERROR_ARGUMENT);
  lamina_error_clear(ctx);
  assert_int_equal(lamina_geometry_add_sphere(geometry, (lamina_real3){NAN, 0, 0}, 1, NULL), LAMINA_ERROR_ARGUMENT);
  assert_int_equal(lamina_geometry_add_sphere(geometry, (lamina_real3){0, 0, 0}, 0, NULL), LAMINA_ERROR_ARGUMENT);
  assert_int_equal(lamina_geometry_add_sphere(geometry, (lamina_real3){0, 0, 0}, INFINITY, NULL),
                   LAMINA_ERROR_ARGUMENT);
  assert_int_equal(lamina_geometry_add_sphere(geometry, (lamina_real3){1e9, 0, 0}, 1, NULL), LAMINA_ERROR_ARGUMENT);
  assert_int_equal(lamina_geometry_body_count(geometry), 0);
  assert_int_equal(lamina_geometry_add_sphere(geometry, (lamina_real3){4, 4, 4}, 100, NULL), LAMINA_OK);
  lamina_error_clear(ctx);
  lmi_voxels voxels;
  const lmi_voxel_grid grid = {.cells = {8, 8, 8}};
  assert_int_equal(lmi_geometry_voxelize(ctx, geometry, &grid, NULL, &voxels), LAMINA_ERROR_ARGUMENT);
  assert_non_null(strstr(lamina_error_message(ctx), "no fluid is left"));
  lamina_geometry_destroy(geometry);
  lamina_context_destroy(ctx);
}

static lamina_status everything(lamina_context *ctx)
{
  static soup s;
  memset(&s, 0, sizeof s);
  add_box(&s, (const double[3]){2, 2, 2.6}, (const double[3]){9, 9, 2.9});
  const lamina_mesh mesh = mesh_of(&s);
  lamina_geometry *geometry = NULL;
  lmi_voxels voxels = {0};
  lmi_thin_part part;
  size_t count;
  double area;
  lamina_status status = lamina_geometry_create(ctx, &geometry);
  if (status == LAMINA_OK)
    status = lamina_geometry_add_mesh(geometry, &mesh, NULL, NULL);
  for (int i = 0; status == LAMINA_OK && i < 5; i++)
    status = lamina_geometry_add_sphere(geometry, (lamina_real3){4 + i, 5, 6}, 2, NULL);
  if (status == LAMINA_OK)
    status = lamina_geometry_shadow(geometry, 1, 2, 0, &area);
  const lmi_voxel_grid grid = {.cells = {12, 12, 12}};
  if (status == LAMINA_OK)
    status = lmi_geometry_voxelize(ctx, geometry, &grid, NULL, &voxels);
  if (status == LAMINA_OK)
    status = lmi_geometry_find_thin(ctx, &voxels, 1, &part, &count);
  lmi_voxels_free(ctx, &voxels);
  lamina_geometry_destroy(geometry);
  return status;
}

static void each_allocation_may_fail(void **state)
{
  (void)state;
  for (uint64_t n = 1;; n++) {
    lmi_failing_allocator heap = lmi_failing_allocator_make(n);
    const lamina_allocator allocator = lmi_failing_allocator_interface(&heap);
    const lamina_context_options options = {.threads = 1, .allocator = &allocator};
    lamina_context *ctx = NULL;
    lamina_status status = lamina_context_create(&options, &ctx);
    if (status == LAMINA_OK)
      status = everything(ctx);
    assert_int_equal(status, heap.has_failed ? LAMINA_ERROR_MEMORY : LAMINA_OK);
    lamina_context_destroy(ctx);
    assert_int_equal(heap.live, 0);
    if (!heap.has_failed)
      return;
  }
}

LMI_TEST_MAIN(cmocka_unit_test(boxes_have_their_cells), cmocka_unit_test(meshes_agree_with_the_winding_number),
              cmocka_unit_test(quarter_turns_turn_the_cells), cmocka_unit_test(order_and_orientation_do_not_matter),
              cmocka_unit_test(shells_are_united_or_hollow), cmocka_unit_test(shapes_match_their_equations),
              cmocka_unit_test(the_lowest_number_has_the_cell), cmocka_unit_test(a_level_is_a_coarser_grid),
              cmocka_unit_test(links_end_on_the_surface), cmocka_unit_test(links_meet_every_shape),
              cmocka_unit_test(links_know_their_grid), cmocka_unit_test(a_packing_has_the_links_of_its_bodies),
              cmocka_unit_test(volumes_and_surfaces_are_known), cmocka_unit_test(thin_parts_are_named),
              cmocka_unit_test(wrong_bodies_are_refused), cmocka_unit_test(each_allocation_may_fail))
