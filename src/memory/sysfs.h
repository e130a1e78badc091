/* SPDX-License-Identifier: Apache-2.0 */
/* Small text files of /proc and /sys, read below a root prefix ("" on a live machine), so that a recorded machine is a
 * folder. hwloc could be pointed to such a folder only through the environment of the whole process; docs/dev/decisions
 * has the page. */
#ifndef LMI_SYSFS_H
#define LMI_SYSFS_H

#include "base/base.h"

/* Reads at most `size` - 1 bytes of root + path and cuts the blanks at the end. false when there is no such file. */
bool lmi_sysfs_text(const char *root, char *buffer, size_t size, const char *format, ...) LMI_PRINTF(4, 5);

/* The first whole number in a file. false when the file is missing or begins with something else. */
bool lmi_sysfs_int64(const char *root, int64_t *value, const char *format, ...) LMI_PRINTF(3, 4);

/* The whole of a file of any length, or *text.data NULL when there is none. */
LAMINA_NODISCARD lamina_status lmi_sysfs_whole(lamina_context *ctx, const char *root, const char *path, lmi_text *text);

/* Sorted ids out of a list as the kernel writes it: "0-3,8,10-11"; empty for an empty line. */
typedef struct lmi_id_list {
  int *ids;
  size_t count;
} lmi_id_list;

LAMINA_NODISCARD lamina_status lmi_id_list_parse(lamina_context *ctx, const char *text, lmi_id_list *list);
/* As parse, of a file; an empty list when there is none. */
LAMINA_NODISCARD lamina_status lmi_id_list_read(lamina_context *ctx, const char *root, const char *path,
                                                lmi_id_list *list);
bool lmi_id_list_has(const lmi_id_list *list, int id);
void lmi_id_list_free(lamina_context *ctx, lmi_id_list *list);

#endif
