/* SPDX-License-Identifier: Apache-2.0 */
#include "classes.h"

enum { MAX_COMBINATIONS = 65535 };

/* The map from cells to classes while it is made. A key is the number that the classes of all properties form; a class
 * is a key that occurs, numbered in the order of keys. */
typedef struct class_map {
  const lmi_extent *extent;
  const lamina_property *properties;
  int property_count;
  int keys;
  uint16_t *key_of_cell;
  int *class_of_key; /* -1 where a key does not occur */
} class_map;

static lamina_status check_properties(lamina_context *ctx, const lamina_property *properties, int count, int *keys)
{
  LMI_REQUIRE(ctx, count >= 0 && count <= LAMINA_MAX_PROPERTIES, LAMINA_ERROR_ARGUMENT,
              "%d properties: 0 to %d are possible", count, (int)LAMINA_MAX_PROPERTIES);
  LMI_REQUIRE(ctx, count == 0 || properties != NULL, LAMINA_ERROR_ARGUMENT, "%d properties at NULL", count);
  *keys = 1;
  for (int p = 0; p < count; p++) {
    const int classes = properties[p].classes;
    const char *name = properties[p].name != NULL ? properties[p].name : "(no name)";
    LMI_REQUIRE(ctx, properties[p].function != NULL, LAMINA_ERROR_ARGUMENT, "property %s has no function", name);
    LMI_REQUIRE(ctx, classes >= 1 && classes <= LAMINA_MAX_CLASSES, LAMINA_ERROR_ARGUMENT,
                "property %s has %d classes: 1 to %d are possible", name, classes, (int)LAMINA_MAX_CLASSES);
    *keys *= classes;
    LMI_REQUIRE(ctx, *keys <= MAX_COMBINATIONS, LAMINA_ERROR_ARGUMENT,
                "the classes of %d properties combine to more than %d: declare fewer", p + 1, (int)MAX_COMBINATIONS);
  }
  return LAMINA_OK;
}

static lamina_int3 cell_at(const lmi_extent *extent, int64_t x, int64_t y, int64_t z)
{
  return extent->is_flat ? (lamina_int3){x, z, 0} : (lamina_int3){x, y, z};
}

static lamina_status key_of(lamina_context *ctx, const class_map *map, lamina_int3 cell, int *key)
{
  *key = 0;
  for (int p = 0; p < map->property_count; p++) {
    const lamina_property *property = &map->properties[p];
    const int value = property->function(property->user, cell);
    LMI_REQUIRE(ctx, value >= 0 && value < property->classes, LAMINA_ERROR_ARGUMENT,
                "property %s puts cell (%lld, %lld, %lld) into class %d: 0 to %d are declared",
                property->name != NULL ? property->name : "(no name)", (long long)cell.x, (long long)cell.y,
                (long long)cell.z, value, property->classes - 1);
    *key = *key * property->classes + value;
  }
  return LAMINA_OK;
}

static lamina_status ask_all(lamina_context *ctx, class_map *map)
{
  const lmi_extent *extent = map->extent;
  uint16_t *at = map->key_of_cell;
  for (int key = 0; key < map->keys; key++)
    map->class_of_key[key] = -1;
  for (int64_t z = 0; z < extent->nz; z++)
    for (int64_t y = 0; y < extent->ny; y++)
      for (int64_t x = 0; x < extent->nx; x++) {
        int key = 0;
        LMI_TRY(key_of(ctx, map, cell_at(extent, x, y, z), &key));
        *at++ = (uint16_t)key;
        map->class_of_key[key] = 0;
      }
  return LAMINA_OK;
}

static lamina_status number_classes(lamina_context *ctx, class_map *map, lmi_classes *classes)
{
  for (int key = 0; key < map->keys; key++)
    if (map->class_of_key[key] == 0)
      map->class_of_key[key] = classes->count++;
  LMI_TRY(LMI_ALLOC(ctx, (size_t)classes->count, &classes->classes));
  for (int key = 0; key < map->keys; key++) {
    if (map->class_of_key[key] < 0)
      continue;
    int rest = key;
    for (int p = map->property_count - 1; p >= 0; p--) {
      classes->classes[map->class_of_key[key]].values[p] = rest % map->properties[p].classes;
      rest /= map->properties[p].classes;
    }
  }
  return LAMINA_OK;
}

/* Walks the spans of plane z. With `store` they are written behind first[z + 1], which moves on; else they are counted
 * there. */
static void walk_plane(const class_map *map, lmi_classes *classes, int64_t z, bool store)
{
  const lmi_extent *extent = map->extent;
  for (int64_t y = 0; y < extent->ny; y++) {
    const uint16_t *row = map->key_of_cell + (z * extent->ny + y) * extent->nx;
    for (int64_t x = 0; x < extent->nx;) {
      int64_t end = x + 1;
      while (end < extent->nx && row[end] == row[x])
        end++;
      lmi_class_spans *class = &classes->classes[map->class_of_key[row[x]]];
      if (store)
        class->spans[class->first[z + 1]] = (lmk_cell_span){x, y, end - x};
      class->first[z + 1]++;
      x = end;
    }
  }
}

/* Counts, then stores: first[z + 1] is the number of spans in plane z, then where the next one of plane z goes, and at
 * the end where plane z + 1 begins. */
static lamina_status store_spans(lamina_context *ctx, const class_map *map, lmi_classes *classes)
{
  const int64_t planes = map->extent->nz;
  for (int c = 0; c < classes->count; c++)
    LMI_TRY(LMI_ALLOC(ctx, (size_t)planes + 1, &classes->classes[c].first));
  for (int64_t z = 0; z < planes; z++)
    walk_plane(map, classes, z, false);
  for (int c = 0; c < classes->count; c++) {
    int64_t *first = classes->classes[c].first, total = 0;
    for (int64_t z = 0; z < planes; z++) {
      const int64_t here = first[z + 1];
      first[z + 1] = total;
      total += here;
    }
    LMI_TRY(LMI_ALLOC(ctx, (size_t)total, &classes->classes[c].spans));
  }
  for (int64_t z = 0; z < planes; z++)
    walk_plane(map, classes, z, true);
  return LAMINA_OK;
}

lamina_status lmi_classes_create(lamina_context *ctx, const lmi_extent *extent, const lamina_property *properties,
                                 int count, lmi_classes *classes)
{
  lamina_status status = LAMINA_OK;
  *classes = (lmi_classes){.property_count = count, .is_plain = count == 0};
  class_map map = {.extent = extent, .properties = properties, .property_count = count};
  LMI_TRY(check_properties(ctx, properties, count, &map.keys));
  if (classes->is_plain) {
    classes->count = 1;
    return LMI_ALLOC(ctx, 1, &classes->classes);
  }
  const size_t cells = (size_t)(extent->nx * extent->ny * extent->nz);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, cells, &map.key_of_cell), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, (size_t)map.keys, &map.class_of_key), cleanup);
  LMI_TRY_GOTO(status, ask_all(ctx, &map), cleanup);
  LMI_TRY_GOTO(status, number_classes(ctx, &map, classes), cleanup);
  LMI_TRY_GOTO(status, store_spans(ctx, &map, classes), cleanup);
cleanup:
  lmi_free(ctx, map.key_of_cell);
  lmi_free(ctx, map.class_of_key);
  if (status != LAMINA_OK)
    lmi_classes_free(ctx, classes);
  return status;
}

void lmi_classes_free(lamina_context *ctx, lmi_classes *classes)
{
  for (int c = 0; classes->classes != NULL && c < classes->count; c++) {
    lmi_free(ctx, classes->classes[c].first);
    lmi_free(ctx, classes->classes[c].spans);
  }
  lmi_free(ctx, classes->classes);
  *classes = (lmi_classes){0};
}

bool lmi_class_is_served(const lmi_class_spans *spans, const uint32_t serves[LAMINA_MAX_PROPERTIES])
{
  for (int p = 0; p < LAMINA_MAX_PROPERTIES; p++)
    if (serves[p] != 0 && !(serves[p] >> spans->values[p] & 1u))
      return false;
  return true;
}
