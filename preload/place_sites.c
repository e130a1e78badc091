/* SPDX-License-Identifier: Apache-2.0 */
/* The plan (docs/dev/memory-profile-format.md), and which of its sites a call comes from. */
#define _GNU_SOURCE
#include "place.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct reader {
  place_plan *plan;
  char *line;
  int number;
  bool has_end;
} reader;

static bool wrong(reader *in, const char *what)
{
  snprintf(in->plan->error, sizeof in->plan->error, "line %d: %s", in->number, what);
  return false;
}

static char *next_field(reader *in)
{
  return in->line == NULL ? NULL : strsep(&in->line, " ");
}

static bool read_number(reader *in, int base, uint64_t *value)
{
  const char *text = next_field(in);
  char *end = NULL;
  if (text == NULL || *text == '\0')
    return wrong(in, "a number is missing");
  *value = strtoull(text, &end, base);
  return *end == '\0' ? true : wrong(in, "not a number");
}

static int hex_digit(char c)
{
  const char *digits = "0123456789ABCDEF", *found = c != '\0' ? strchr(digits, c) : NULL;
  return found != NULL ? (int)(found - digits) : -1;
}

/* Undoes %XX; what does not fit is cut. */
static bool read_text(reader *in, char *text, size_t size)
{
  const char *field = next_field(in);
  size_t used = 0;
  if (field == NULL)
    return wrong(in, "a text is missing");
  for (; *field != '\0' && used + 1 < size; field++) {
    const int high = *field == '%' ? hex_digit(field[1]) : -1, low = high >= 0 ? hex_digit(field[2]) : -1;
    text[used++] = low >= 0 ? (char)(16 * high + low) : *field;
    field += low >= 0 ? 2 : 0;
  }
  text[used] = '\0';
  return true;
}

static bool read_tier(reader *in)
{
  uint64_t number, node, capacity;
  if (!read_number(in, 10, &number) || !read_number(in, 10, &node) || !read_number(in, 10, &capacity))
    return false;
  if (number >= PLACE_TIERS_MAX || node > 1023)
    return wrong(in, "tiers go to 15 and nodes to 1023");
  in->plan->tiers[number] = (place_tier){.node = (int)node, .capacity = capacity};
  in->plan->tier_count = number + 1 > in->plan->tier_count ? number + 1 : in->plan->tier_count;
  return true;
}

static bool read_kind(reader *in, place_kind *kind)
{
  static const char *const names[] = {"fast", "split", "interleave", "slow"};
  const char *name = next_field(in);
  for (size_t i = 0; name != NULL && i < sizeof names / sizeof names[0]; i++)
    if (strcmp(name, names[i]) == 0) {
      *kind = (place_kind)i;
      return true;
    }
  return wrong(in, "unknown advice");
}

static bool read_place(reader *in)
{
  uint64_t tier, permille;
  place_site *site = &in->plan->sites[in->plan->site_count];
  if (in->plan->site_count == PLACE_SITES_MAX)
    return wrong(in, "more than 1024 sites");
  if (!read_kind(in, &site->kind) || !read_number(in, 10, &tier) || !read_number(in, 10, &permille))
    return false;
  const char *weights = next_field(in);
  if (weights == NULL || sscanf(weights, "%d:%d", &site->weights[0], &site->weights[1]) != 2)
    return wrong(in, "weights are FAST:SLOW");
  if (!read_number(in, 10, &site->peak_bytes) || !read_text(in, site->name, sizeof site->name))
    return false;
  if (tier >= in->plan->tier_count || permille > 1000 || site->weights[0] < 0 || site->weights[0] > 64 ||
      site->weights[1] < 0 || site->weights[1] > 64)
    return wrong(in, "tier, share or weights out of range");
  site->tier = (int)tier;
  site->permille = (int)permille;
  in->plan->site_count++;
  return true;
}

static bool read_frame(reader *in)
{
  if (in->plan->site_count == 0)
    return wrong(in, "a frame before any site");
  place_site *site = &in->plan->sites[in->plan->site_count - 1];
  place_frame ignored, *frame = site->frame_count < PLACE_FRAMES_MAX ? &site->frames[site->frame_count++] : &ignored;
  return read_number(in, 16, &frame->address) && read_text(in, frame->module, sizeof frame->module);
}

static bool read_line(reader *in)
{
  const char *keyword = next_field(in);
  if (in->number == 1)
    return strcmp(keyword, "lamina-plan") == 0 && in->line != NULL && strcmp(in->line, "1") == 0
             ? true
             : wrong(in, "not a plan of version 1");
  if (strcmp(keyword, "tier") == 0)
    return read_tier(in);
  if (strcmp(keyword, "place") == 0)
    return read_place(in);
  if (strcmp(keyword, "frame") == 0)
    return read_frame(in);
  in->has_end = strcmp(keyword, "end") == 0;
  return in->has_end ? true : wrong(in, "unknown record");
}

/* The whole file in memory of its own, ended by a zero. */
static char *map_file(const char *path, size_t *size)
{
  struct stat status;
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  char *text = NULL;
  if (file < 0)
    return NULL;
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode)) {
    *size = (size_t)status.st_size + 1;
    text = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (text != MAP_FAILED && read(file, text, *size - 1) != (ssize_t)(*size - 1)) {
      munmap(text, *size);
      text = NULL;
    }
  }
  close(file);
  return text == MAP_FAILED ? NULL : text;
}

bool place_plan_read(place_plan *plan, const char *path)
{
  reader in = {.plan = plan};
  size_t size = 0;
  char *text = map_file(path, &size), *cursor = text;
  bool is_good = true;
  if (text == NULL) {
    snprintf(plan->error, sizeof plan->error, "%.200s cannot be read", path);
    return false;
  }
  while (is_good && !in.has_end && *cursor != '\0') {
    in.line = strsep(&cursor, "\n");
    in.number++;
    is_good = cursor == NULL ? wrong(&in, "truncated") : read_line(&in);
  }
  if (is_good && !in.has_end)
    is_good = wrong(&in, "truncated");
  munmap(text, size);
  return is_good;
}

/* ---- finding a site ---- */

/* A module may lie elsewhere than when the profile was taken: its last name decides. */
static bool is_same_module(const char *one, const char *other)
{
  const char *a = strrchr(one, '/'), *b = strrchr(other, '/');
  return strcmp(a != NULL ? a + 1 : one, b != NULL ? b + 1 : other) == 0;
}

typedef struct linked {
  uint64_t address;
  const char *module;
} linked;

/* The program itself has no name there. */
static const char *program_name(void)
{
  static char name[PLACE_MODULE_BYTES];
  if (name[0] == '\0') {
    const ssize_t length = readlink("/proc/self/exe", name, sizeof name - 1);
    name[length > 0 ? length : 0] = '\0';
  }
  return name;
}

static linked link_address(void *returned)
{
  Dl_info info;
  struct link_map *map = NULL;
  if (dladdr1((char *)returned - 1, &info, (void **)&map, RTLD_DL_LINKMAP) == 0 || map == NULL)
    return (linked){0, ""};
  return (linked){.address = (uint64_t)(uintptr_t)returned - 1 - map->l_addr,
                  .module = map->l_name[0] != '\0' ? map->l_name : program_name()};
}

/* All of the site's frames: a program's own wrapper of malloc is the first frame of many sites. */
static bool comes_from(const place_site *site, const linked *callers, size_t count)
{
  if (site->frame_count == 0 || site->frame_count > count)
    return false;
  for (size_t i = 0; i < site->frame_count; i++)
    if (site->frames[i].address != callers[i].address || !is_same_module(site->frames[i].module, callers[i].module))
      return false;
  return true;
}

place_site *place_find_site(place_plan *plan, void *const *returns, size_t count)
{
  linked callers[PLACE_FRAMES_MAX];
  count = count < PLACE_FRAMES_MAX ? count : PLACE_FRAMES_MAX;
  for (size_t i = 0; i < count; i++)
    callers[i] = link_address(returns[i]);
  for (size_t i = 0; i < plan->site_count; i++)
    if (comes_from(&plan->sites[i], callers, count))
      return &plan->sites[i];
  return NULL;
}
