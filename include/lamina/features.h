/* SPDX-License-Identifier: Apache-2.0 */
/* What this build of the library was made from and with: which optional parts are in it, and for a missing one the fix.
 * What a run needs in order to be repeated.
 *
 *   for (size_t i = 0; i < lamina_feature_count(); i++)
 *     printf("%s: %s\n", lamina_feature_at(i)->name, lamina_feature_at(i)->is_built ? "yes" :
 * lamina_feature_at(i)->fix);
 */
#ifndef LAMINA_FEATURES_H
#define LAMINA_FEATURES_H

#include <stdbool.h>
#include <stddef.h>

#include <lamina/export.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lamina_feature {
  const char *name; /* "hdf5" */
  bool is_built;
  const char *version; /* of the library it is built on; "" when there is none to name */
  const char *purpose;
  const char *fix; /* how to get it; "" when it is there */
} lamina_feature;

LAMINA_API size_t lamina_feature_count(void);

/* NULL at and beyond the count. */
LAMINA_API const lamina_feature *lamina_feature_at(size_t index);

/* The commit it was built from, "+" behind it when files were changed; "unknown" outside a repository. */
LAMINA_API const char *lamina_build_commit(void);

/* "gcc 12.2.0, Release". */
LAMINA_API const char *lamina_build_compiler(void);

#ifdef __cplusplus
}
#endif

#endif
