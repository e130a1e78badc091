/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "machine_table.h"

#include <math.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void print_limits(const lamina_machine *machine)
{
  char total[32], available[32], cache[32], page[32], limit[32];
  printf("%s, %d of %d processors on line, %d for this process",
         machine->processor[0] != '\0' ? machine->processor : "processor", machine->processors_online,
         machine->processors_possible, machine->processors_allowed);
  if (machine->offline[0] != '\0')
    printf(" (off line: %s)", machine->offline);
  printf("\n%s of memory, %s available (set by the %s)", lmi_format_bytes((double)machine->total_bytes, total),
         lmi_format_bytes((double)machine->available_bytes, available), machine->limit_ruled_by);
  if (machine->limit_bytes != UINT64_MAX)
    printf(", cgroup limit %s", lmi_format_bytes((double)machine->limit_bytes, limit));
  printf("\nlast-level caches %s in all, base page %s, huge pages %s\n",
         machine->last_level_cache_bytes > 0 ? lmi_format_bytes((double)machine->last_level_cache_bytes, cache)
                                             : "unknown",
         lmi_format_bytes((double)machine->page_bytes, page),
         machine->huge_pages[0] != '\0' ? machine->huge_pages : "unknown");
}

static const char *node_remark(const lamina_node *node, char *buffer, size_t size)
{
  buffer[0] = '\0';
  if (node->capacity_bytes == 0)
    snprintf(buffer, size, "no memory; nearest is node %d", node->nearest_memory_node);
  else if (node->processors == 0)
    snprintf(buffer, size, "memory only");
  if (!node->allowed)
    snprintf(buffer + strlen(buffer), size - strlen(buffer), "%snot for this process", buffer[0] != '\0' ? ", " : "");
  return buffer;
}

void lmi_machine_print_nodes(const lamina_machine *machine)
{
  print_limits(machine);
  printf("\nnode  tier        processors    capacity        free  reserved huge  distances\n");
  for (size_t i = 0; i < machine->node_count; i++) {
    const lamina_node *node = &machine->nodes[i];
    char capacity[32], available[32], huge[32], remark[96];
    printf("%4d  %-10s  %10d  %10s  %10s  %13s ", node->id, node->tier >= 0 ? machine->tiers[node->tier].name : "-",
           node->processors, lmi_format_bytes((double)node->capacity_bytes, capacity),
           lmi_format_bytes((double)node->free_bytes, available),
           lmi_format_bytes((double)node->huge_page_bytes, huge));
    for (size_t j = 0; j < machine->node_count; j++) {
      const int distance = machine->distances[i * machine->node_count + j];
      if (distance > 0)
        printf(" %3d", distance);
      else
        printf("   ?");
    }
    printf("  %s\n", node_remark(node, remark, sizeof remark));
  }
}

static void print_remarks(const lamina_machine *machine)
{
  for (size_t i = 0; i < machine->remark_count; i++)
    printf("%sremark: %s\n", i == 0 ? "\n" : "", machine->remarks[i]);
}

static void print_spread(lamina_spread spread, const char *unit)
{
  if (isfinite(spread.median))
    printf("%8.1f %s (%.1f to %.1f)", spread.median, unit, spread.low, spread.high);
  else
    printf("     n/a");
}

static void print_bandwidth(const lamina_machine *machine)
{
  printf("\nbandwidth, read plus written          threads  from    to   median (least to greatest)\n");
  for (size_t i = 0; i < machine->bandwidth_count; i++) {
    const lamina_bandwidth_row *row = &machine->bandwidth[i];
    if (row->streams > 0)
      printf("%2d streams in place, %d-byte elements  ", row->streams, row->element_bytes);
    else
      printf("%-37s ", lamina_traffic_name(row->traffic));
    printf("%7d  %4d  %4d ", row->threads, row->cpu_node, row->memory_node);
    print_spread(row->gb_per_s, "GB/s");
    printf("%s\n", row->placed || !isfinite(row->gb_per_s.median) ? "" : "  placement not enforced");
  }
}

static void print_latency(const lamina_machine *machine)
{
  printf("\nlatency of one load                 threads that make load  from    to   median (least to greatest)\n");
  for (size_t i = 0; i < machine->latency_count; i++) {
    const lamina_latency_row *row = &machine->latency[i];
    printf("%-35s %23d  %4d  %4d ", row->load_threads > 0 ? "loaded" : "idle", row->load_threads, row->cpu_node,
           row->memory_node);
    print_spread(row->ns, "ns");
    if (row->load_threads > 0)
      printf(" under %.1f GB/s", row->load_gb_per_s);
    printf("\n");
  }
}

static void print_accelerators(const lamina_machine *machine)
{
  if (machine->accelerator_count == 0) {
    printf("\nno GPU: %s\n", machine->accelerator_reason);
    return;
  }
  for (size_t i = 0; i < machine->accelerator_count; i++) {
    const lamina_accelerator_row *row = &machine->accelerators[i];
    char memory[32];
    printf("\ndevice %zu, %s, %s\n", i, row->device.name, lmi_format_bytes((double)row->device.memory_bytes, memory));
    for (int k = 0; k < 2; k++) {
      printf("19 streams in place, %d-byte elements  ", k == 0 ? 4 : 8);
      print_spread(row->stream_gb_per_s[k], "GB/s");
      printf("\n");
    }
    for (int link = 0; lamina_link_name((lamina_link)link) != NULL; link++) {
      printf("%-37s ", lamina_link_name((lamina_link)link));
      print_spread(row->link_gb_per_s[link], "GB/s");
      printf("\n");
    }
  }
}

void lmi_machine_print_measured(const lamina_machine *machine)
{
  if (machine->bandwidth_count == 0) {
    printf("\nnothing was measured\n");
    print_remarks(machine);
    return;
  }
  print_bandwidth(machine);
  print_latency(machine);
  printf("\nmultiply-add in registers           threads               median (least to greatest)\n");
  for (size_t i = 0; i < machine->flops_count; i++) {
    const lamina_flops_row *row = &machine->flops[i];
    char name[64];
    snprintf(name, sizeof name,
             row->width_bits > 0 ? "%d-bit vectors, %d-byte elements" : "scalar%.0d, %d-byte elements", row->width_bits,
             row->element_bytes);
    printf("%-35s %7d             ", name, row->threads);
    print_spread(row->gflop_per_s, "GFLOP/s");
    printf("%s%s\n", row->reason[0] != '\0' ? "  " : "", row->reason);
  }
  print_accelerators(machine);
  print_remarks(machine);
}

void lmi_machine_progress(void *user, const char *text, int done, int total)
{
  (void)user;
  if (isatty(STDERR_FILENO))
    fprintf(stderr, "\r\033[K%d/%d %s", done + 1, total, text);
  else
    fprintf(stderr, "%d/%d %s\n", done + 1, total, text);
}

void lmi_machine_progress_end(void)
{
  if (isatty(STDERR_FILENO))
    fprintf(stderr, "\r\033[K");
}

void lmi_machine_rest(double seconds)
{
  const double whole = floor(seconds);
  struct timespec left = {.tv_sec = (time_t)whole, .tv_nsec = (long)(1e9 * (seconds - whole))};
  while (nanosleep(&left, &left) != 0)
    ; /* a signal came: the rest is in `left` */
}
