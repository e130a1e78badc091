/* SPDX-License-Identifier: Apache-2.0 */
#include "numa_maps.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* "N3=17": node and pages. A file name can hold such text, but then it is a part of the word "file=...". */
static bool parse_node_word(const char *word, size_t length, int *node, uint64_t *pages)
{
  char *end = NULL;
  if (length < 4 || word[0] != 'N' || !isdigit((unsigned char)word[1]))
    return false;
  const long id = strtol(word + 1, &end, 10);
  if (*end != '=' || !isdigit((unsigned char)end[1]) || id < 0 || id > 1 << 20)
    return false;
  *node = (int)id;
  *pages = strtoull(end + 1, &end, 10);
  return end == word + length;
}

static void take_word(const char *word, size_t length, lmi_numa_mapping *mapping)
{
  static const char page_key[] = "kernelpagesize_kB=";
  int node = 0;
  uint64_t pages = 0;
  if (length > sizeof page_key - 1 && strncmp(word, page_key, sizeof page_key - 1) == 0) {
    const uint64_t kib = strtoull(word + sizeof page_key - 1, NULL, 10);
    if (kib > 0)
      mapping->page_bytes = kib * 1024;
  } else if (parse_node_word(word, length, &node, &pages) && mapping->node_count < LMI_NUMA_MAPS_NODES) {
    mapping->nodes[mapping->node_count].node = node;
    mapping->nodes[mapping->node_count++].bytes = pages; /* in pages until the line's page size is known */
  }
}

bool lmi_numa_maps_line(const char *line, uint64_t page_bytes, lmi_numa_mapping *mapping)
{
  char *end = NULL;
  mapping->page_bytes = page_bytes;
  mapping->total_bytes = 0;
  mapping->node_count = 0;
  mapping->start = strtoull(line, &end, 16);
  if (end == line || *end != ' ')
    return false;
  for (const char *at = end; *at != '\0' && *at != '\n';) {
    while (*at == ' ')
      at++;
    const size_t length = strcspn(at, " \n");
    take_word(at, length, mapping);
    at += length;
  }
  for (size_t i = 0; i < mapping->node_count; i++) {
    mapping->nodes[i].bytes *= mapping->page_bytes;
    mapping->total_bytes += mapping->nodes[i].bytes;
  }
  return true;
}
