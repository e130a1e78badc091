/* SPDX-License-Identifier: Apache-2.0 */
/* A profile from a file or from a folder of them, one a process. */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "profile_store.h"

static const char SUFFIX[] = ".profile";

typedef struct path_list {
  char **paths;
  size_t count, capacity;
} path_list;

static bool has_suffix(const char *name)
{
  const size_t length = strlen(name);
  return length >= sizeof SUFFIX - 1 && strcmp(name + length - (sizeof SUFFIX - 1), SUFFIX) == 0;
}

static lamina_status add_path(lamina_context *ctx, path_list *list, const char *folder, const char *name)
{
  lmi_text path = {0};
  if (list->count == list->capacity) {
    char **larger = NULL;
    const size_t capacity = list->capacity == 0 ? 16 : 2 * list->capacity;
    LMI_TRY(LMI_ALLOC(ctx, capacity, &larger));
    if (list->count > 0)
      memcpy((void *)larger, (void *)list->paths, list->count * sizeof *larger);
    lmi_free(ctx, (void *)list->paths);
    list->paths = larger;
    list->capacity = capacity;
  }
  LMI_TRY(lmi_text_append(ctx, &path, "%s/%s", folder, name));
  list->paths[list->count++] = path.data;
  return LAMINA_OK;
}

static int compare_paths(const void *a, const void *b)
{
  return strcmp(*(char *const *)a, *(char *const *)b);
}

/* In the order of their names, so that a folder always gives the same profile. */
static lamina_status list_profiles(lamina_context *ctx, const char *folder, path_list *list)
{
  lamina_status status = LAMINA_OK;
  DIR *open_folder = opendir(folder);
  if (open_folder == NULL)
    return lmi_fail_errno(ctx, LAMINA_ERROR_FILE, errno, "%s: cannot be opened", folder);
  for (const struct dirent *entry = readdir(open_folder); entry != NULL && status == LAMINA_OK;
       entry = readdir(open_folder))
    if (has_suffix(entry->d_name))
      status = add_path(ctx, list, folder, entry->d_name);
  closedir(open_folder);
  if (list->count > 0)
    qsort((void *)list->paths, list->count, sizeof *list->paths, compare_paths);
  return status;
}

static void free_paths(lamina_context *ctx, path_list *list)
{
  for (size_t i = 0; i < list->count; i++)
    lmi_free(ctx, list->paths[i]);
  lmi_free(ctx, (void *)list->paths);
}

/* A file of the folder that cannot be used; the sentence of why becomes a remark if another one is whole. */
typedef struct skipped {
  char *sentence;
  size_t count;
} skipped;

static lamina_status skip(lamina_context *ctx, skipped *files)
{
  if (files->count++ == 0)
    LMI_TRY(lmi_string_copy(ctx, lamina_error_message(ctx), &files->sentence));
  lamina_error_clear(ctx);
  return LAMINA_OK;
}

/* A file of the folder, put together with those read before. */
static lamina_status take_file(lamina_context *ctx, const char *path, lamina_profile **profile, skipped *files)
{
  lamina_profile *next = NULL;
  lamina_status status = lmi_memory_profile_read_file(ctx, path, &next);
  if (status == LAMINA_ERROR_CASE)
    return skip(ctx, files);
  LMI_TRY(status);
  if (*profile == NULL) {
    *profile = next;
    return LAMINA_OK;
  }
  const bool next_is_longer = next->summary.slice_instructions > (*profile)->summary.slice_instructions ||
                              (next->summary.slice_instructions == (*profile)->summary.slice_instructions &&
                               next->summary.slice_count > (*profile)->summary.slice_count);
  lamina_profile *into = next_is_longer ? next : *profile;
  lamina_profile *from = next_is_longer ? *profile : next;
  status = lmi_memory_profile_merge(into, from);
  lamina_profile_destroy(from);
  *profile = into;
  return status;
}

static lamina_status read_folder(lamina_context *ctx, const char *folder, lamina_profile **profile)
{
  lamina_status status = LAMINA_OK;
  path_list list = {0};
  skipped files = {0};
  LMI_TRY_GOTO(status, list_profiles(ctx, folder, &list), cleanup);
  for (size_t i = 0; i < list.count; i++)
    LMI_TRY_GOTO(status, take_file(ctx, list.paths[i], profile, &files), cleanup);
  if (*profile == NULL && files.count > 0)
    status = lmi_fail(ctx, LAMINA_ERROR_CASE, "%s", files.sentence);
  else if (*profile == NULL)
    status = lmi_fail(ctx, LAMINA_ERROR_FILE, "%s: no *%s in this folder: record one with 'lamina record -o %s -- CMD'",
                      folder, SUFFIX, folder);
  else if (files.count > 0)
    status = lmi_memory_profile_add_remark(*profile, "%zu of %zu profiles skipped; %s", files.count, list.count,
                                           files.sentence);
cleanup:
  lmi_free(ctx, files.sentence);
  free_paths(ctx, &list);
  return status;
}

/* ---- hottest objects first ---- */

typedef struct ranked {
  uint64_t heat, second;
  uint32_t index;
} ranked;

static int compare_heat(const void *a, const void *b)
{
  const ranked *x = a, *y = b;
  if (x->heat != y->heat)
    return x->heat > y->heat ? -1 : 1;
  if (x->second != y->second)
    return x->second > y->second ? -1 : 1;
  return x->index < y->index ? -1 : 1;
}

static uint64_t known_or_zero(uint64_t value)
{
  return value == LAMINA_UNCOUNTED ? 0 : value;
}

lamina_status lmi_memory_profile_sort_objects(lamina_profile *profile)
{
  lamina_context *ctx = profile->ctx;
  lamina_status status = LAMINA_OK;
  const size_t count = profile->objects.count;
  ranked *order = NULL;
  uint32_t *place = NULL;
  lamina_profile_object *sorted = NULL;
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, count, &order), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, count, &place), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, count, &sorted), cleanup);
  for (size_t i = 0; i < count; i++)
    order[i] = (ranked){.heat = known_or_zero(profile->objects.data[i].misses),
                        .second = known_or_zero(profile->objects.data[i].accesses),
                        .index = (uint32_t)i};
  qsort(order, count, sizeof *order, compare_heat);
  for (size_t i = 0; i < count; i++) {
    sorted[i] = profile->objects.data[order[i].index];
    place[order[i].index] = (uint32_t)i;
  }
  memcpy(profile->objects.data, sorted, count * sizeof *sorted);
  for (size_t i = 0; i < profile->pages.count; i++)
    profile->pages.data[i].object = place[profile->pages.data[i].object];
cleanup:
  lmi_free(ctx, order);
  lmi_free(ctx, place);
  lmi_free(ctx, sorted);
  return status;
}

lamina_status lamina_profile_read(lamina_context *context, const char *path, lamina_profile **profile)
{
  struct stat status;
  *profile = NULL;
  if (stat(path, &status) != 0)
    return lmi_fail_errno(context, LAMINA_ERROR_FILE, errno, "%s", path);
  lamina_status result = S_ISDIR(status.st_mode) ? read_folder(context, path, profile)
                                                 : lmi_memory_profile_read_file(context, path, profile);
  if (result == LAMINA_OK)
    result = lmi_memory_profile_sort_objects(*profile);
  if (result != LAMINA_OK) {
    lamina_profile_destroy(*profile);
    *profile = NULL;
  }
  return result;
}
