/* SPDX-License-Identifier: Apache-2.0 */
/* A machine made of files: writes into the scratch folder what /proc and /sys of it would hold.
 *
 *   lmi_recorded_write("root", "/proc/sys/kernel/perf_event_paranoid", "4\n");
 *   lamina_host_read(ctx, "root", &host);
 */
#ifndef LMI_RECORDED_H
#define LMI_RECORDED_H

/* Writes `text` to root + path and makes the folders on the way. Fails the running test when that does not work. */
void lmi_recorded_write(const char *root, const char *path, const char *text);

/* Removes what an earlier run of the test left. */
void lmi_recorded_clear(const char *root);

#endif
