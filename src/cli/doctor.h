/* SPDX-License-Identifier: Apache-2.0 */
/* The doctor's findings: one row a thing looked at. Each examiner adds its rows; nothing that is missing is a failure.
 */
#ifndef LMI_DOCTOR_H
#define LMI_DOCTOR_H

#include <lamina/host.h>
#include <lamina/tiers.h>

#include "cli.h"

typedef enum lmi_finding_state { LMI_FINDING_OK, LMI_FINDING_NOTE, LMI_FINDING_MISSING } lmi_finding_state;

typedef struct lmi_finding {
  const char *topic; /* heading of a group: "Processor" */
  const char *name;
  lmi_finding_state state;
  char text[256];
  char fix[320]; /* "" when there is nothing to do */
} lmi_finding;

enum { LMI_MAX_FINDINGS = 64 };

typedef struct lmi_doctor {
  lamina_context *ctx;
  const char *root; /* of a recorded machine; NULL: this one */
  lmi_finding findings[LMI_MAX_FINDINGS];
  size_t count;
} lmi_doctor;

/* A new row with an empty fix; the caller may add one with lmi_doctor_fix. */
void lmi_doctor_add(lmi_doctor *doctor, const char *topic, const char *name, lmi_finding_state state,
                    const char *format, ...) LMI_PRINTF(5, 6);

/* Sets the fix of the last row. */
void lmi_doctor_fix(lmi_doctor *doctor, const char *format, ...) LMI_PRINTF(2, 3);

void lmi_doctor_examine_processor(lmi_doctor *doctor, const lamina_host *host, const lamina_machine *machine);
void lmi_doctor_examine_memory(lmi_doctor *doctor, const lamina_machine *machine);
void lmi_doctor_examine_counters(lmi_doctor *doctor, const lamina_host *host);

/* Build features and programs on the path. */
void lmi_doctor_examine_software(lmi_doctor *doctor);

/* The CUDA driver, its devices and NVRTC, found at run time. */
void lmi_doctor_examine_cuda(lmi_doctor *doctor);

#endif
