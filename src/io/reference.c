/* SPDX-License-Identifier: Apache-2.0 */
/* Sources: U. Ghia, K. N. Ghia, C. T. Shin, J. Comput. Phys. 48 (1982) 387, Tables I and II; S. Albensoeder, H. C.
 * Kuhlmann, J. Comput. Phys. 206 (2005) 536, Tables 5 and 6; O. Botella, R. Peyret, Comput. Fluids 27 (1998) 421,
 * Tables 9 and 10 (spectral, their lid moves to the left: mirrored here). Positions are in edge lengths, velocities in
 * lid speeds.
 */
#include "reference.h"

#include <string.h>

#include "base/base.h"

/* X(position, then for Re 100, 400, 1000 and 3200: value, whether it is a known misprint) */
#define GHIA_U(X)                                               \
  X(0.0, 0.0, 0, 0.0, 0, 0.0, 0, 0.0, 0)                        \
  X(0.0547, -0.03717, 0, -0.08186, 0, -0.18109, 0, -0.32407, 0) \
  X(0.0625, -0.04192, 0, -0.09266, 0, -0.20196, 0, -0.35344, 0) \
  X(0.0703, -0.04775, 0, -0.10338, 0, -0.22220, 0, -0.37827, 0) \
  X(0.1016, -0.06434, 0, -0.14612, 0, -0.29730, 0, -0.41933, 0) \
  X(0.1719, -0.10150, 0, -0.24299, 0, -0.38289, 0, -0.34323, 0) \
  X(0.2813, -0.15662, 0, -0.32726, 0, -0.27805, 0, -0.24427, 0) \
  X(0.4531, -0.21090, 0, -0.17119, 0, -0.10648, 0, -0.86636, 1) \
  X(0.5000, -0.20581, 0, -0.11477, 0, -0.06080, 0, -0.04272, 0) \
  X(0.6172, -0.13641, 0, 0.02135, 0, 0.05702, 0, 0.07156, 0)    \
  X(0.7344, 0.00332, 0, 0.16256, 0, 0.18719, 0, 0.19791, 0)     \
  X(0.8516, 0.23151, 0, 0.29093, 0, 0.33304, 0, 0.34682, 0)     \
  X(0.9531, 0.68717, 0, 0.55892, 0, 0.46604, 0, 0.46101, 0)     \
  X(0.9609, 0.73722, 0, 0.61756, 0, 0.51117, 0, 0.46547, 0)     \
  X(0.9688, 0.78871, 0, 0.68439, 0, 0.57492, 0, 0.48296, 0)     \
  X(0.9766, 0.84123, 0, 0.75837, 0, 0.65928, 0, 0.53236, 0)     \
  X(1.0000, 1.0, 0, 1.0, 0, 1.0, 0, 1.0, 0)

#define GHIA_V(X)                                               \
  X(0.0, 0.0, 0, 0.0, 0, 0.0, 0, 0.0, 0)                        \
  X(0.0625, 0.09233, 0, 0.18360, 0, 0.27485, 0, 0.39560, 0)     \
  X(0.0703, 0.10091, 0, 0.19713, 0, 0.29012, 0, 0.40917, 0)     \
  X(0.0781, 0.10890, 0, 0.20920, 0, 0.30353, 0, 0.41906, 0)     \
  X(0.0938, 0.12317, 0, 0.22965, 0, 0.32627, 0, 0.42768, 0)     \
  X(0.1563, 0.16077, 0, 0.28124, 0, 0.37095, 0, 0.37119, 0)     \
  X(0.2266, 0.17507, 0, 0.30203, 0, 0.33075, 0, 0.29030, 0)     \
  X(0.2344, 0.17527, 0, 0.30174, 0, 0.32235, 0, 0.28188, 0)     \
  X(0.5000, 0.05454, 0, 0.05186, 0, 0.02526, 0, 0.00999, 0)     \
  X(0.8047, -0.24533, 0, -0.38598, 0, -0.31966, 0, -0.31184, 0) \
  X(0.8594, -0.22445, 0, -0.44993, 0, -0.42665, 0, -0.37401, 0) \
  X(0.9063, -0.16914, 0, -0.23827, 1, -0.51550, 0, -0.44307, 0) \
  X(0.9453, -0.10313, 0, -0.22847, 0, -0.39188, 0, -0.54053, 0) \
  X(0.9531, -0.08864, 0, -0.19254, 0, -0.33714, 0, -0.52357, 0) \
  X(0.9609, -0.07391, 0, -0.15663, 0, -0.27669, 0, -0.47425, 0) \
  X(0.9688, -0.05906, 0, -0.12146, 0, -0.21388, 0, -0.39017, 0) \
  X(1.0000, 0.0, 0, 0.0, 0, 0.0, 0, 0.0, 0)

#define POINT_100(p, a, xa, b, xb, c, xc, d, xd) {p, a, xa},
#define POINT_400(p, a, xa, b, xb, c, xc, d, xd) {p, b, xb},
#define POINT_1000(p, a, xa, b, xb, c, xc, d, xd) {p, c, xc},
#define POINT_3200(p, a, xa, b, xb, c, xc, d, xd) {p, d, xd},

static const lmi_reference_point ghia_u_100[] = {GHIA_U(POINT_100)};
static const lmi_reference_point ghia_u_400[] = {GHIA_U(POINT_400)};
static const lmi_reference_point ghia_u_1000[] = {GHIA_U(POINT_1000)};
static const lmi_reference_point ghia_u_3200[] = {GHIA_U(POINT_3200)};
static const lmi_reference_point ghia_v_100[] = {GHIA_V(POINT_100)};
static const lmi_reference_point ghia_v_400[] = {GHIA_V(POINT_400)};
static const lmi_reference_point ghia_v_1000[] = {GHIA_V(POINT_1000)};
static const lmi_reference_point ghia_v_3200[] = {GHIA_V(POINT_3200)};

/* The cubic cavity with all walls rigid, lid z = 1 in the direction of x. */
static const lmi_reference_point albensoeder_u_1000[] = {
  {0.0, 0.0, false},         {0.0547, -0.20623, false}, {0.0625, -0.22283, false}, {0.0703, -0.23696, false},
  {0.1016, -0.27293, false}, {0.1719, -0.25160, false}, {0.2813, -0.10999, false}, {0.4531, -0.00612, false},
  {0.5, 0.00802, false},     {0.6172, 0.03905, false},  {0.7344, 0.07334, false},  {0.8516, 0.12183, false},
  {0.9531, 0.33171, false},  {0.9609, 0.39821, false},  {0.9688, 0.48443, false},  {0.9766, 0.58964, false},
  {1.0, 1.0, false},
};
static const lmi_reference_point albensoeder_w_1000[] = {
  {0.0, 0.0, false},         {0.0625, 0.21738, false},  {0.0703, 0.22746, false},  {0.0781, 0.23503, false},
  {0.0938, 0.24407, false},  {0.1563, 0.22924, false},  {0.2266, 0.17580, false},  {0.2344, 0.16987, false},
  {0.5, 0.03674, false},     {0.8047, -0.15223, false}, {0.8594, -0.31117, false}, {0.9063, -0.43423, false},
  {0.9453, -0.33511, false}, {0.9531, -0.29032, false}, {0.9609, -0.24095, false}, {0.9688, -0.18864, false},
  {1.0, 0.0, false},
};
static const lmi_reference_extremum albensoeder_u_extrema[] = {{-1, 0.12419, -0.2803833}};
static const lmi_reference_extremum albensoeder_w_extrema[] = {{-1, 0.90957, -0.4350186}, {+1, 0.10913, 0.2466511}};

static const lmi_reference_point botella_u_1000[] = {
  {0.0, 0.0, false},           {0.0547, -0.1812881, false}, {0.0625, -0.2023300, false}, {0.0703, -0.2228955, false},
  {0.1016, -0.3004561, false}, {0.1719, -0.3885691, false}, {0.2813, -0.2803696, false}, {0.4531, -0.1081999, false},
  {0.5000, -0.0620561, false}, {0.6172, 0.0570178, false},  {0.7344, 0.1886747, false},  {0.8516, 0.3372212, false},
  {0.9531, 0.4723329, false},  {0.9609, 0.5169277, false},  {0.9688, 0.5808359, false},  {0.9766, 0.6644227, false},
  {1.0, 1.0, false},
};
static const lmi_reference_point botella_v_1000[] = {
  {0.0, 0.0, false},           {0.0625, 0.2807056, false},  {0.0703, 0.2962703, false},  {0.0781, 0.3099097, false},
  {0.0938, 0.3330442, false},  {0.1563, 0.3769189, false},  {0.2266, 0.3339924, false},  {0.2344, 0.3253592, false},
  {0.5000, 0.0257995, false},  {0.8047, -0.3202137, false}, {0.8594, -0.4264545, false}, {0.9063, -0.5264392, false},
  {0.9453, -0.4103754, false}, {0.9531, -0.3553213, false}, {0.9609, -0.2936869, false}, {0.9688, -0.2279225, false},
  {1.0, 0.0, false},
};

/* Ghia's numbers are good to about 0.5 %, but at Re 1000 their v lies up to 0.0185 off the spectral solution in the
 * layer on the right wall: the better a run, the farther from them. Re 3200 asks more of a grid than it can show. */
#define GHIA(re, letter, index, line_axis, x, y, gate_value, why)                                                    \
  {                                                                                                                  \
    .name = "ghia-re" #re "-" #letter, .title = "Ghia, Ghia and Shin 1982, Re " #re, .dimension = 2, .reynolds = re, \
    .component = index, .axis = line_axis, .through = {x, y, 0.0}, .points = ghia_##letter##_##re,                   \
    .point_count = LMI_COUNT(ghia_##letter##_##re), .gate = gate_value, .excluded_because = why                      \
  }

static const lmi_reference references[] = {
  GHIA(100, u, 0, 1, 0.5, 0.0, 0.01, NULL),
  GHIA(100, v, 1, 0, 0.0, 0.5, 0.01, NULL),
  GHIA(400, u, 0, 1, 0.5, 0.0, 0.01, NULL),
  GHIA(400, v, 1, 0, 0.0, 0.5, 0.01, "the value at x = 0.9063 breaks the profile: a misprint"),
  GHIA(1000, u, 0, 1, 0.5, 0.0, 0.01, NULL),
  GHIA(1000, v, 1, 0, 0.0, 0.5, 0.02, NULL),
  GHIA(3200, u, 0, 1, 0.5, 0.0, 0.02, "the value at y = 0.4531 is misprinted by a factor of ten"),
  GHIA(3200, v, 1, 0, 0.0, 0.5, 0.02, NULL),
  {.name = "botella-re1000-u",
   .title = "Botella and Peyret 1998, Re 1000",
   .dimension = 2,
   .reynolds = 1000,
   .component = 0,
   .axis = 1,
   .through = {0.5, 0.0, 0.0},
   .points = botella_u_1000,
   .point_count = LMI_COUNT(botella_u_1000),
   .gate = 0.01},
  {.name = "botella-re1000-v",
   .title = "Botella and Peyret 1998, Re 1000",
   .dimension = 2,
   .reynolds = 1000,
   .component = 1,
   .axis = 0,
   .through = {0.0, 0.5, 0.0},
   .points = botella_v_1000,
   .point_count = LMI_COUNT(botella_v_1000),
   .gate = 0.01},
  {.name = "albensoeder-re1000-u",
   .title = "Albensoeder and Kuhlmann 2005, Re 1000",
   .dimension = 3,
   .reynolds = 1000,
   .component = 0,
   .axis = 2,
   .through = {0.5, 0.5, 0.0},
   .points = albensoeder_u_1000,
   .point_count = LMI_COUNT(albensoeder_u_1000),
   .extrema = albensoeder_u_extrema,
   .extremum_count = LMI_COUNT(albensoeder_u_extrema),
   .gate = 0.02,
   .extremum_gate = 0.03},
  {.name = "albensoeder-re1000-w",
   .title = "Albensoeder and Kuhlmann 2005, Re 1000",
   .dimension = 3,
   .reynolds = 1000,
   .component = 2,
   .axis = 0,
   .through = {0.0, 0.5, 0.5},
   .points = albensoeder_w_1000,
   .point_count = LMI_COUNT(albensoeder_w_1000),
   .extrema = albensoeder_w_extrema,
   .extremum_count = LMI_COUNT(albensoeder_w_extrema),
   .gate = 0.02,
   .extremum_gate = 0.03},
};

static const char *const names[] = {
  "ghia-re100-u",     "ghia-re100-v",     "ghia-re400-u",         "ghia-re400-v",
  "ghia-re1000-u",    "ghia-re1000-v",    "ghia-re3200-u",        "ghia-re3200-v",
  "botella-re1000-u", "botella-re1000-v", "albensoeder-re1000-u", "albensoeder-re1000-w",
};

const lmi_reference *lmi_reference_find(const char *name)
{
  for (size_t i = 0; i < LMI_COUNT(references); i++)
    if (strcmp(references[i].name, name) == 0)
      return &references[i];
  return NULL;
}

const char *const *lmi_reference_names(size_t *count)
{
  *count = LMI_COUNT(names);
  return names;
}
