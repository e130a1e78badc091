/* SPDX-License-Identifier: Apache-2.0 */
/* Fields on a uniform box in one HDF5 file of the VTKHDF layout (ImageData). Cell data, x fastest, SI units; a 2D field
 * is one cell thick in z. h5py and this reader open it, and so do VTK from 9.3 and ParaView from 5.12 on; before, their
 * VTKHDF reader could not read the cell data of an image, and the XDMF index of the series (below) is what to open.
 *
 * A file appears under its name only when it is complete: it is written beside it as NAME.part, synced, renamed. Every
 * plane carries a CRC-32 and the rest of the file is sealed (hdf5_store.h), so a damaged or foreign file is refused
 * with the reason.
 *
 *   lmi_field_writer *writer = NULL;
 *   LMI_TRY(lmi_field_writer_create(ctx, "fields.vtkhdf", &content, &writer));
 *   for (lamina_index z = 0; z < content.frame.cells.z; z++)
 *     lmi_field_writer_plane(writer, 0, z, (const double *const[]){ux, uy, uz});   ... and array 1
 *   lmi_field_writer_finish(writer);       the file now has its name
 *   lmi_field_writer_destroy(writer);      removes what was not finished
 *
 * Reading does not care whether a file holds one box or levels (level_file.h): those are read as a box of finest
 * cells. */
#ifndef LMI_FIELD_FILE_H
#define LMI_FIELD_FILE_H

#include <stddef.h>

#include <lamina/solver.h>

/* Where the cells lie. */
typedef struct lmi_field_frame {
  lamina_int3 cells;    /* each >= 1 */
  lamina_real3 origin;  /* lowest corner of the box, m */
  lamina_real3 spacing; /* m, > 0 */
  double time;          /* s */
  lamina_index step;
} lmi_field_frame;

typedef struct lmi_field_array {
  const char *name;           /* "velocity"; not empty, no slash */
  const char *unit;           /* "m/s"; "" when it has none */
  int components;             /* 1 or 3 */
  lamina_precision precision; /* in the file; values come and go as double */
} lmi_field_array;

/* Text that travels with the file ("title", "case", "version"). */
typedef struct lmi_text_pair {
  const char *name, *value;
} lmi_text_pair;

/* ---- writing ---- */

typedef struct lmi_field_writer lmi_field_writer;

/* Lays the file out and reserves its space on the disk. Names and texts are copied. At most LMI_FIELD_MAX_ARRAYS
 * arrays. Errors: ARGUMENT, MEMORY, FILE (folder missing or not writable, disk full). On failure *writer is NULL and no
 * file is left. */
enum { LMI_FIELD_MAX_ARRAYS = 32 };
typedef struct lmi_field_content {
  lmi_field_frame frame;
  const lmi_field_array *arrays;
  size_t array_count;
  const lmi_text_pair *attributes;
  size_t attribute_count;
} lmi_field_content;
LAMINA_NODISCARD lamina_status lmi_field_writer_create(lamina_context *ctx, const char *path,
                                                       const lmi_field_content *content, lmi_field_writer **writer);

/* Writes plane z of an array: cells.x * cells.y values a component, x fastest. Planes may come in any order; every
 * plane of every array must come once before finish. Non-finite values and denormals are kept. */
LAMINA_NODISCARD lamina_status lmi_field_writer_plane(lmi_field_writer *writer, size_t array, lamina_index z,
                                                      const double *const components[]);

/* Syncs and renames. The writer takes nothing more after it, and still wants destroy. */
LAMINA_NODISCARD lamina_status lmi_field_writer_finish(lmi_field_writer *writer);
void lmi_field_writer_destroy(lmi_field_writer *writer);

/* All in one call: data[array][component] holds the whole box. */
LAMINA_NODISCARD lamina_status lmi_field_file_write(lamina_context *ctx, const char *path,
                                                    const lmi_field_content *content,
                                                    const double *const *const data[]);

/* ---- reading ---- */

typedef struct lmi_field_file lmi_field_file;

/* Errors: FILE (cannot be opened), CASE (not such a file, truncated, damaged, of a newer version). */
LAMINA_NODISCARD lamina_status lmi_field_file_open(lamina_context *ctx, const char *path, lmi_field_file **file);

/* What it holds; lives as long as the file is open. */
const lmi_field_content *lmi_field_file_content(const lmi_field_file *file);

/* Index of the array of that name, or array_count. */
size_t lmi_field_file_find(const lmi_field_file *file, const char *name);

/* The value of an attribute, or NULL. */
const char *lmi_field_file_attribute(const lmi_field_file *file, const char *name);

/* Reads a box of an array into components[] (one pointer, or three), x fastest; NULL pointers are skipped. Whole planes
 * are read and checked against their CRC. */
LAMINA_NODISCARD lamina_status lmi_field_file_read(lmi_field_file *file, size_t array, lamina_box box,
                                                   double *const components[]);

/* A whole plane as it stands in the file (float or double, components of a cell together), checked; lives until the
 * next read. */
LAMINA_NODISCARD lamina_status lmi_field_file_read_plane(lmi_field_file *file, size_t array, lamina_index z,
                                                         const void **plane, size_t *bytes);
void lmi_field_file_close(lmi_field_file *file);

/* ---- for other programs ---- */

/* Writes the fields of an open file as XML ImageData (.vti) with raw appended data and 64-bit lengths: every VTK and
 * ParaView since 2012 opens it. Errors: those of reading, FILE. */
LAMINA_NODISCARD lamina_status lmi_field_vti_write(lamina_context *ctx, lmi_field_file *file, const char *path);

/* ---- the files of one run as a film ---- */

/* Adds a file to the time series of a run: rewrites BASE.xmf (XDMF, which every ParaView and VisIt opens, and which
 * knows time) and BASE.vtkhdf.series (JSON, for ParaView 5.12 and later). `file_name` is relative to BASE's folder; all
 * files of a series have the same arrays and cells. Entries at or after the content's time are replaced, so a resumed
 * run ends with the list of an unbroken one. */
LAMINA_NODISCARD lamina_status lmi_field_series_add(lamina_context *ctx, const char *base, const char *file_name,
                                                    const lmi_field_content *content);

/* The same without the XDMF index, which cannot describe a file of levels. */
LAMINA_NODISCARD lamina_status lmi_field_list_add(lamina_context *ctx, const char *base, const char *file_name,
                                                  double time);

#endif
