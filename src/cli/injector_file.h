/* SPDX-License-Identifier: Apache-2.0 */
/* The injector's calibration as a file of the user: read, or made when it is missing. */
#ifndef LMI_INJECTOR_FILE_H
#define LMI_INJECTOR_FILE_H

#include "cli.h"
#include "lamina/inject.h"

typedef struct lmi_injector_file {
  const char *path;
  int threads;          /* at most, to calibrate; 0: all */
  uint64_t array_bytes; /* 0: by the caches */
  lamina_placement placement;
} lmi_injector_file;

/* Measures and writes the file. */
LAMINA_NODISCARD lamina_status lmi_injector_calibrate(lmi_call *call, const lmi_injector_file *file,
                                                      lamina_injector_calibration **calibration);

/* The file, with a remark when it is of another machine; a new one when there is none. */
LAMINA_NODISCARD lamina_status lmi_injector_load_or_calibrate(lmi_call *call, const lmi_injector_file *file,
                                                              lamina_injector_calibration **calibration);

/* The settings of levels 10 to 100, `workers` being threads or blocks: as a table, or into *rows if that is not NULL.
 */
LAMINA_NODISCARD lamina_status lmi_injector_show_levels(lmi_call *call, const lamina_injector_calibration *calibration,
                                                        const char *workers, json_t **rows);

/* Fails, with exit code 127, when the program of the call is not there: before minutes go into a calibration. */
LAMINA_NODISCARD lamina_status lmi_injector_require_program(lmi_call *call);

#endif
