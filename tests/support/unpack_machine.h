/* SPDX-License-Identifier: Apache-2.0 */
/* Recorded machines are text files in tests/machines: "@ /path" begins a file, the lines up to the next "@" are its
 * text. */
#ifndef LMI_UNPACK_MACHINE_H
#define LMI_UNPACK_MACHINE_H

/* Writes the files of tests/machines/NAME.machine below the folder `root` (made if missing). 0, or -1 when something
 * failed. */
int lmi_unpack_machine(const char *name, const char *root);

/* Writes one more file below `root`. */
int lmi_unpack_file(const char *root, const char *path, const char *text);

#endif
