/* SPDX-License-Identifier: Apache-2.0 */
/* Status codes. Every fallible call returns one and the compiler refuses to let it be ignored. The sentence that says
 * what was wrong, with the values, lies in the context: lamina_error_message(context).
 *
 *   if (lamina_solver_run(solver, 100) != LAMINA_OK)
 *     fprintf(stderr, "%s\n", lamina_error_message(context));
 */
#ifndef LAMINA_STATUS_H
#define LAMINA_STATUS_H

#include <lamina/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* X(name, value, exit code of the program, text). Values are part of the ABI: add at the end, never renumber. */
#define LAMINA_STATUS_LIST(X)                                                       \
  X(LAMINA_OK, 0, 0, "success")                                                     \
  X(LAMINA_ERROR_ARGUMENT, 1, 2, "an argument is out of its bounds")                \
  X(LAMINA_ERROR_MEMORY, 2, 1, "not enough memory")                                 \
  X(LAMINA_ERROR_FILE, 3, 1, "a file cannot be read or written")                    \
  X(LAMINA_ERROR_CASE, 4, 3, "a case or input file is wrong")                       \
  X(LAMINA_ERROR_DIVERGED, 5, 5, "the flow became non-finite")                      \
  X(LAMINA_ERROR_CHECK, 6, 5, "a check failed")                                     \
  X(LAMINA_ERROR_SYSTEM, 7, 1, "a system or library call failed")                   \
  X(LAMINA_ERROR_DEVICE, 8, 1, "a device call failed")                              \
  X(LAMINA_UNAVAILABLE, 9, 4, "hardware, permission or a build feature is missing") \
  X(LAMINA_INTERRUPTED, 10, 1, "stopped on request")                                \
  X(LAMINA_ERROR_COMMUNICATION, 11, 1, "a message between ranks failed")

typedef enum lamina_status {
#define LAMINA_STATUS_ENUM(name, value, exit_code, text) name = value,
  LAMINA_STATUS_LIST(LAMINA_STATUS_ENUM)
#undef LAMINA_STATUS_ENUM
} lamina_status;

/* The text of the list above; "unknown status" for a value that is not in it. Never NULL. */
LAMINA_API const char *lamina_status_text(lamina_status status);

/* The exit code the lamina program gives for this status: 0 done, 1 failed, 2 usage, 3 case file, 4 missing, 5 check
 * failed. */
LAMINA_API int lamina_status_exit_code(lamina_status status);

#ifdef __cplusplus
}
#endif

#endif
