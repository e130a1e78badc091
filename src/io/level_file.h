/* SPDX-License-Identifier: Apache-2.0 */
/* Fields on a stack of levels in one HDF5 file of the VTKHDF layout (OverlappingAMR): every level where it exists, each
 * cell in its own size, the places beneath finer cells filled with their means. ParaView from 5.11 and VTK from 9.2 on
 * open it; lmi_field_file_open reads it as the box of finest cells. Written like field_file.h's: whole or not there. */
#ifndef LMI_LEVEL_FILE_H
#define LMI_LEVEL_FILE_H

#include "field_file.h"
#include "level_layout.h"

/* A value of an array takes part on each level: fewer arrays fit than in a file of one box. */
enum { LMI_LEVEL_FILE_MAX_ARRAYS = LMI_STORE_MAX_ARRAYS / LMI_MAX_LEVELS };

typedef struct lmi_level_writer lmi_level_writer;

/* The frame's cells and spacing are those of the finest level. `levels` is read here only. Errors: as
 * lmi_field_writer_create. */
LAMINA_NODISCARD lamina_status lmi_level_writer_create(lamina_context *ctx, const char *path,
                                                       const lmi_field_content *content, const lmi_levels *levels,
                                                       lmi_level_writer **writer);

/* Plane `place` of a level over the whole box, in cells of the level, x fastest; in two dimensions a row. Its boxes are
 * cut out of it. Planes may come in any order, every plane of every array once. */
LAMINA_NODISCARD lamina_status lmi_level_writer_plane(lmi_level_writer *writer, int level, size_t array, int64_t place,
                                                      const double *const components[]);

LAMINA_NODISCARD lamina_status lmi_level_writer_finish(lmi_level_writer *writer);
void lmi_level_writer_destroy(lmi_level_writer *writer);

/* ---- reading: what lmi_field_file does with such a file ---- */

typedef struct lmi_level_reader lmi_level_reader;

/* Reads frame and boxes; `store` must live as long. CASE where they do not fit together. */
LAMINA_NODISCARD lamina_status lmi_level_reader_create(lamina_context *ctx, lmi_store *store, lmi_field_frame *frame,
                                                       lmi_level_reader **reader);

/* Finds array `index` by its name on all levels; `array` gets components and precision, *unit (released with lmi_free)
 * its unit. */
LAMINA_NODISCARD lamina_status lmi_level_reader_find(lmi_level_reader *reader, size_t index, const char *name,
                                                     lmi_field_array *array, char **unit);

/* A box of finest cells: each has the value of the finest cell that covers it. */
LAMINA_NODISCARD lamina_status lmi_level_reader_read(lmi_level_reader *reader, size_t index, lamina_box box,
                                                     double *const components[]);
void lmi_level_reader_destroy(lmi_level_reader *reader);

#endif
