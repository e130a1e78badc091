/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LAMINA_VERSION_H
#define LAMINA_VERSION_H

#include <lamina/export.h>

#define LAMINA_VERSION_MAJOR 0
#define LAMINA_VERSION_MINOR 1
#define LAMINA_VERSION_PATCH 0

#ifdef __cplusplus
extern "C" {
#endif

/* "0.1.0", of the library that is running. */
LAMINA_API const char *lamina_version(void);

#ifdef __cplusplus
}
#endif

#endif
