/* SPDX-License-Identifier: Apache-2.0 */
/* lamina inject --device: background traffic on the link between a device and the host's memory. */
#ifndef LMI_INJECT_DEVICE_H
#define LMI_INJECT_DEVICE_H

#include "cli.h"

typedef struct lmi_device_wish {
  int ordinal;
  const char *calibration; /* the file: read, or made when it is missing */
  bool calibrate, probe, json;
  double loi, seconds; /* loi 0: calibrate only */
  uint64_t array_bytes;
} lmi_device_wish;

LAMINA_NODISCARD lamina_status lmi_inject_device(lmi_call *call, const lmi_device_wish *wish);

#endif
