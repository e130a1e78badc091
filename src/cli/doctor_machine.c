/* SPDX-License-Identifier: Apache-2.0 */
/* Processor, memory and counters, from what lamina_host_read and lamina_machine_inspect found. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "doctor.h"

static void examine_caches(lmi_doctor *doctor, const lamina_host *host)
{
  char text[192] = "";
  size_t used = 0;
  for (int i = 0; i < host->cache_count && used < sizeof text; i++) {
    const lamina_cache *cache = &host->caches[i];
    char bytes[32];
    used += (size_t)snprintf(text + used, sizeof text - used, "%sL%d%s %s x %d", i > 0 ? ", " : "", cache->level,
                             strcmp(cache->type, "Data") == 0          ? "d"
                             : strcmp(cache->type, "Instruction") == 0 ? "i"
                                                                       : "",
                             lmi_format_bytes((double)cache->bytes, bytes), cache->count);
  }
  if (host->cache_count > 0)
    lmi_doctor_add(doctor, "Processor", "caches", LMI_FINDING_OK, "%s", text);
  else
    lmi_doctor_add(doctor, "Processor", "caches", LMI_FINDING_NOTE,
                   "sizes unknown: the system shows no caches, arrays are sized by memory alone");
}

static void examine_vectors(lmi_doctor *doctor, const lamina_host *host)
{
  if (host->has_avx2 && host->has_fma) {
    lmi_doctor_add(doctor, "Processor", "vectors", LMI_FINDING_OK, "AVX2, FMA%s",
                   host->has_avx512 ? ", AVX-512" : "; no AVX-512 (not needed: memory sets the speed)");
    return;
  }
#if defined(__x86_64__)
  lmi_doctor_add(doctor, "Processor", "vectors", LMI_FINDING_MISSING, "no %s: the solver cannot run here",
                 host->has_avx2 ? "FMA" : "AVX2");
  lmi_doctor_fix(doctor, "use a processor of 2013 or later; in a virtual machine pass its model on (qemu -cpu host)");
#else
  lmi_doctor_add(doctor, "Processor", "vectors", LMI_FINDING_OK, "those of the compiler's default for this processor");
#endif
}

static void examine_grant(lmi_doctor *doctor, const lamina_host *host, const lamina_machine *machine)
{
  lmi_doctor_add(doctor, "Processor", "cores", LMI_FINDING_OK, "%d usable of %d on line%s%s",
                 machine->processors_allowed, machine->processors_online,
                 machine->offline[0] != '\0' ? ", off line: " : "", machine->offline);
  if (isnan(host->processor_quota))
    return;
  const bool is_tight = host->processor_quota < machine->processors_allowed;
  lmi_doctor_add(doctor, "Processor", "quota", is_tight ? LMI_FINDING_NOTE : LMI_FINDING_OK,
                 "a cgroup grants the time of %.2f processors", host->processor_quota);
  if (is_tight)
    lmi_doctor_fix(doctor, "use --threads %d, or raise cpu.max: more threads than that wait for each other",
                   host->processor_quota < 1 ? 1 : (int)host->processor_quota);
}

void lmi_doctor_examine_processor(lmi_doctor *doctor, const lamina_host *host, const lamina_machine *machine)
{
  lmi_doctor_add(doctor, "Processor", "model", LMI_FINDING_OK, "%s%s%s",
                 host->processor[0] != '\0' ? host->processor : "not named by the system",
                 host->kernel[0] != '\0' ? ", Linux " : "", host->kernel);
  examine_grant(doctor, host, machine);
  examine_vectors(doctor, host);
  examine_caches(doctor, host);
  if (host->is_virtual)
    lmi_doctor_add(doctor, "Processor", "guest", LMI_FINDING_NOTE,
                   "virtual machine: neighbours may disturb timings, so repeat them");
}

static void examine_capacity(lmi_doctor *doctor, const lamina_machine *machine)
{
  char total[32], available[32], limit[32];
  lmi_format_bytes((double)machine->total_bytes, total);
  lmi_format_bytes((double)machine->available_bytes, available);
  if (machine->limit_bytes == UINT64_MAX)
    lmi_doctor_add(doctor, "Memory", "capacity", LMI_FINDING_OK, "%s, %s available; no cgroup limit", total, available);
  else
    lmi_doctor_add(doctor, "Memory", "capacity", LMI_FINDING_OK, "%s, %s available; cgroup limit %s (%s rules)", total,
                   available, lmi_format_bytes((double)machine->limit_bytes, limit), machine->limit_ruled_by);
}

static void examine_tiers(lmi_doctor *doctor, const lamina_machine *machine)
{
  char text[192] = "";
  size_t used = 0;
  for (size_t i = 0; i < machine->tier_count && used < sizeof text; i++) {
    char bytes[32];
    used += (size_t)snprintf(text + used, sizeof text - used, "%s%s %s", i > 0 ? ", " : "", machine->tiers[i].name,
                             lmi_format_bytes((double)machine->tiers[i].capacity_bytes, bytes));
  }
  lmi_doctor_add(doctor, "Memory", "nodes", LMI_FINDING_OK, "%zu NUMA node%s, %zu tier%s: %s", machine->node_count,
                 machine->node_count == 1 ? "" : "s", machine->tier_count, machine->tier_count == 1 ? "" : "s", text);
  if (machine->tier_count == 1) {
    lmi_doctor_add(doctor, "Memory", "tiers", LMI_FINDING_NOTE,
                   "all memory is of one kind: nothing can move between tiers");
    lmi_doctor_fix(doctor, "'interfere' and 'place' can still emulate a pool by its share of the traffic");
  }
}

static void examine_moving(lmi_doctor *doctor, const lamina_machine *machine)
{
  const bool moves = machine->numa_balancing > 0 || machine->demotion > 0;
  if (machine->numa_balancing >= 0)
    lmi_doctor_add(doctor, "Memory", "numa_balancing", moves ? LMI_FINDING_NOTE : LMI_FINDING_OK,
                   "numa_balancing %d, demotion %s: %s", machine->numa_balancing,
                   machine->demotion < 0   ? "unknown"
                   : machine->demotion > 0 ? "on"
                                           : "off",
                   moves ? "the kernel may move pages during a measurement" : "pages stay where they are put");
  if (machine->numa_balancing > 0)
    lmi_doctor_fix(doctor, "as root, for a measurement: sysctl kernel.numa_balancing=0");
}

static void examine_pages(lmi_doctor *doctor, const lamina_machine *machine)
{
  const char *pages = machine->huge_pages;
  if (strcmp(pages, "always") == 0 || strcmp(pages, "madvise") == 0) {
    lmi_doctor_add(doctor, "Memory", "huge pages", LMI_FINDING_OK,
                   "transparent huge pages: %s; base page %" PRIu64 " B", pages, machine->page_bytes);
    return;
  }
  lmi_doctor_add(doctor, "Memory", "huge pages", LMI_FINDING_NOTE,
                 "transparent huge pages: %s; base page %" PRIu64 " B", pages[0] != '\0' ? pages : "unknown",
                 machine->page_bytes);
  lmi_doctor_fix(doctor, "as root: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled");
}

void lmi_doctor_examine_memory(lmi_doctor *doctor, const lamina_machine *machine)
{
  examine_capacity(doctor, machine);
  examine_tiers(doctor, machine);
  examine_moving(doctor, machine);
  examine_pages(doctor, machine);
  for (size_t i = 0; i < machine->remark_count; i++)
    lmi_doctor_add(doctor, "Memory", "remark", LMI_FINDING_NOTE, "%s", machine->remarks[i]);
}

void lmi_doctor_examine_counters(lmi_doctor *doctor, const lamina_host *host)
{
  static const char topic[] = "Measuring other programs";
  if (host->hardware_counters == LAMINA_COUNTERS_WORK) {
    lmi_doctor_add(doctor, topic, "counters", LMI_FINDING_OK, "hardware counters work (perf_event_paranoid %d)",
                   host->perf_event_paranoid);
  } else {
    const bool is_untried = host->hardware_counters == LAMINA_COUNTERS_NOT_TRIED;
    lmi_doctor_add(doctor, topic, "counters", is_untried ? LMI_FINDING_NOTE : LMI_FINDING_MISSING, "%s",
                   host->counters_reason);
    lmi_doctor_fix(doctor, "%s", host->counters_fix);
  }
  if (host->software_counters == LAMINA_COUNTERS_WORK)
    lmi_doctor_add(doctor, topic, "software events", LMI_FINDING_OK, "clock and page faults can be counted");
  if (host->ptrace_scope > 1) {
    lmi_doctor_add(doctor, topic, "ptrace", LMI_FINDING_NOTE,
                   "kernel.yama.ptrace_scope is %d: only children can be looked into", host->ptrace_scope);
    lmi_doctor_fix(doctor,
                   "start the program with 'lamina record -- CMD', or as root: sysctl kernel.yama.ptrace_scope=1");
  }
}
