/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "velocity_table.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { MOST_ROWS = 1000000, MOST_COLUMNS = 4, LINE_BYTES = 512 };

typedef struct table_reader {
  lamina_context *ctx;
  const char *path;
  FILE *file;
  int line;
  int components[MOST_COLUMNS]; /* of column 1 and later */
  int columns;
  size_t capacity;
} table_reader;

static lamina_status fail(const table_reader *reader, const char *sentence, const char *what)
{
  return lmi_fail(reader->ctx, LAMINA_ERROR_CASE, "%s:%d: %s%.80s", reader->path, reader->line, sentence, what);
}

/* The next line that is not empty, without its end; *text is NULL at the end of the file. */
static lamina_status next_line(table_reader *reader, char buffer[LINE_BYTES], char **text)
{
  *text = NULL;
  while (fgets(buffer, LINE_BYTES, reader->file) != NULL) {
    reader->line++;
    const size_t length = strlen(buffer);
    if (length + 1 == LINE_BYTES && buffer[length - 1] != '\n')
      return fail(reader, "a line of more than 510 characters; this is no table of velocities", "");
    buffer[strcspn(buffer, "\r\n")] = '\0';
    if (buffer[strspn(buffer, " \t")] == '\0' || buffer[0] == '#')
      continue;
    *text = buffer;
    return LAMINA_OK;
  }
  if (ferror(reader->file))
    return lmi_fail_errno(reader->ctx, LAMINA_ERROR_FILE, errno, "cannot read %s", reader->path);
  return LAMINA_OK;
}

static char *next_field(char **rest)
{
  char *field = strsep(rest, ",");
  if (field == NULL)
    return NULL;
  field += strspn(field, " \t\"");
  field[strcspn(field, " \t\"")] = '\0';
  return field;
}

static lamina_status read_header(table_reader *reader, lmi_velocity_table *table)
{
  static const char *const POSITIONS[] = {"x_m", "y_m", "z_m"};
  static const char *const COMPONENTS[] = {"velocity_x_m_per_s", "velocity_y_m_per_s", "velocity_z_m_per_s"};
  char buffer[LINE_BYTES], *rest = NULL;
  LMI_TRY(next_line(reader, buffer, &rest));
  if (rest == NULL)
    return fail(reader, "the table is empty; write a header `y_m,velocity_x_m_per_s`, then rows", "");
  const char *field = next_field(&rest);
  table->axis = -1;
  for (int axis = 0; axis < 3; axis++)
    if (strcmp(field, POSITIONS[axis]) == 0)
      table->axis = axis;
  if (table->axis < 0)
    return fail(reader, "the first column must be one of x_m, y_m, z_m, not ", field);
  for (field = next_field(&rest); field != NULL; field = next_field(&rest)) {
    int component = -1;
    for (int axis = 0; axis < 3; axis++)
      if (strcmp(field, COMPONENTS[axis]) == 0)
        component = axis;
    if (component < 0 || reader->columns == 3)
      return fail(
        reader, "columns after the first are velocity_x_m_per_s, velocity_y_m_per_s, velocity_z_m_per_s, not ", field);
    reader->components[reader->columns++] = component;
  }
  return reader->columns > 0 ? LAMINA_OK : fail(reader, "no column of velocities; add velocity_x_m_per_s", "");
}

static lamina_status make_room(table_reader *reader, lmi_velocity_table *table)
{
  if (table->count < reader->capacity)
    return LAMINA_OK;
  const size_t wanted = reader->capacity == 0 ? 64 : 2 * reader->capacity;
  lmi_velocity_table larger = {.axis = table->axis, .count = table->count};
  if (wanted > MOST_ROWS)
    return fail(reader, "more than a million rows; a profile needs fewer", "");
  lamina_status status = LAMINA_OK;
  LMI_TRY_GOTO(status, LMI_ALLOC(reader->ctx, wanted, &larger.position), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(reader->ctx, wanted, &larger.velocity), cleanup);
  if (table->count > 0) {
    memcpy(larger.position, table->position, table->count * sizeof *larger.position);
    memcpy(larger.velocity, table->velocity, table->count * sizeof *larger.velocity);
  }
  lmi_velocity_table_free(reader->ctx, table);
  *table = larger;
  reader->capacity = wanted;
  return LAMINA_OK;

cleanup:
  lmi_velocity_table_free(reader->ctx, &larger);
  return status;
}

static lamina_status read_row(table_reader *reader, char *rest, lmi_velocity_table *table)
{
  double values[MOST_COLUMNS];
  int count = 0;
  for (char *field = next_field(&rest); field != NULL; field = next_field(&rest)) {
    if (count > reader->columns)
      return fail(reader, "more values than the header has columns", "");
    if (!lmi_parse_double(field, &values[count++]))
      return fail(reader, "not a number: ", field);
  }
  if (count != reader->columns + 1)
    return fail(reader, "fewer values than the header has columns", "");
  if (table->count > 0 && !(values[0] > table->position[table->count - 1]))
    return fail(reader, "positions must rise from row to row", "");
  LMI_TRY(make_room(reader, table));
  table->position[table->count] = values[0];
  for (int i = 0; i < reader->columns; i++)
    table->velocity[table->count][reader->components[i]] = values[i + 1];
  table->count++;
  return LAMINA_OK;
}

lamina_status lmi_velocity_table_read(lamina_context *ctx, const char *path, lmi_velocity_table *table)
{
  table_reader reader = {.ctx = ctx, .path = path, .file = fopen(path, "re")};
  *table = (lmi_velocity_table){0};
  if (reader.file == NULL)
    return lmi_fail_errno(ctx, LAMINA_ERROR_CASE, errno, "%s", path);
  lamina_status status = read_header(&reader, table);
  char buffer[LINE_BYTES], *text = buffer;
  while (status == LAMINA_OK) {
    status = next_line(&reader, buffer, &text);
    if (status != LAMINA_OK || text == NULL)
      break;
    status = read_row(&reader, text, table);
  }
  if (status == LAMINA_OK && table->count == 0)
    status = fail(&reader, "no row below the header", "");
  (void)fclose(reader.file);
  if (status != LAMINA_OK)
    lmi_velocity_table_free(ctx, table);
  return status;
}

void lmi_velocity_table_free(lamina_context *ctx, lmi_velocity_table *table)
{
  lmi_free(ctx, table->position);
  lmi_free(ctx, table->velocity);
  *table = (lmi_velocity_table){0};
}

void lmi_velocity_table_at(const lmi_velocity_table *table, double position, double velocity[3])
{
  size_t high = 0;
  while (high < table->count && table->position[high] < position)
    high++;
  const size_t low = high > 0 ? high - 1 : 0;
  high = high < table->count ? high : table->count - 1;
  const double width = table->position[high] - table->position[low];
  const double share = width > 0 ? (position - table->position[low]) / width : 0.0;
  for (int axis = 0; axis < 3; axis++)
    velocity[axis] = table->velocity[low][axis] + share * (table->velocity[high][axis] - table->velocity[low][axis]);
}
