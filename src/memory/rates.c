/* SPDX-License-Identifier: Apache-2.0 */
#include "rates.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { MOST_RATES = 1 << 20 };
static const char NAME[] = "rates.csv", HEADER[] = "seconds,length_s,flops,bytes\n";

static void print_count(FILE *file, uint64_t count)
{
  if (count == LAMINA_UNCOUNTED)
    fprintf(file, ",");
  else
    fprintf(file, ",%llu", (unsigned long long)count);
}

lamina_status lmi_rates_write(lamina_context *ctx, const char *folder, const lmi_rate *rates, size_t count)
{
  lmi_text path = {0};
  char numbers[2][32];
  LMI_TRY(lmi_text_append(ctx, &path, "%s/%s", folder, NAME));
  FILE *file = fopen(path.data, "w");
  lamina_status status = LAMINA_OK;
  if (file == NULL)
    LMI_TRY_GOTO(status, lmi_fail_errno(ctx, LAMINA_ERROR_FILE, errno, "%s cannot be written", path.data), cleanup);
  fputs(HEADER, file);
  for (size_t i = 0; i < count; i++) {
    fprintf(file, "%s,%s", lmi_format_double(rates[i].seconds, numbers[0]),
            lmi_format_double(rates[i].length, numbers[1]));
    print_count(file, rates[i].flops);
    print_count(file, rates[i].bytes);
    fputc('\n', file);
  }
  const bool failed = ferror(file) != 0;
  if (fclose(file) != 0 || failed)
    status = lmi_fail(ctx, LAMINA_ERROR_FILE, "%s could not be written", path.data);
cleanup:
  lmi_text_free(ctx, &path);
  return status;
}

/* An empty field was not counted. */
static bool parse_count(const char *text, uint64_t *count)
{
  int64_t value = 0;
  *count = LAMINA_UNCOUNTED;
  if (text[0] == '\0')
    return true;
  if (!lmi_parse_int64(text, &value) || value < 0)
    return false;
  *count = (uint64_t)value;
  return true;
}

static bool parse_line(char *line, lmi_rate *rate)
{
  char *fields[4] = {line, NULL, NULL, NULL};
  line[strcspn(line, "\n")] = '\0';
  for (size_t i = 1; i < LMI_COUNT(fields); i++) {
    char *comma = strchr(fields[i - 1], ',');
    if (comma == NULL)
      return false;
    *comma = '\0';
    fields[i] = comma + 1;
  }
  return lmi_parse_double(fields[0], &rate->seconds) && lmi_parse_double(fields[1], &rate->length) &&
         rate->seconds >= 0 && rate->length > 0 && parse_count(fields[2], &rate->flops) &&
         parse_count(fields[3], &rate->bytes);
}

/* Counts the lines first: nothing has to grow. */
static size_t count_lines(FILE *file)
{
  char line[256];
  size_t lines = 0;
  while (lines <= MOST_RATES && fgets(line, sizeof line, file) != NULL)
    lines++;
  rewind(file);
  return lines;
}

static lamina_status read_rates(lamina_context *ctx, const char *path, FILE *file, lmi_rate **rates, size_t *count)
{
  char line[256];
  const size_t lines = count_lines(file);
  LMI_REQUIRE(ctx,
              lines >= 1 && lines <= MOST_RATES && fgets(line, sizeof line, file) != NULL && strcmp(line, HEADER) == 0,
              LAMINA_ERROR_CASE, "%s/%s:1: not the rates of a recording", path, NAME);
  LMI_TRY(LMI_ALLOC(ctx, lines, rates));
  while (fgets(line, sizeof line, file) != NULL) {
    LMI_REQUIRE(ctx, *count + 1 < lines && parse_line(line, &(*rates)[*count]), LAMINA_ERROR_CASE,
                "%s/%s:%zu: four fields are needed: seconds, length, flops, bytes", path, NAME, *count + 2);
    (*count)++;
  }
  return LAMINA_OK;
}

lamina_status lmi_rates_read(lamina_context *ctx, const char *path, lmi_rate **rates, size_t *count)
{
  lmi_text name = {0};
  *rates = NULL;
  *count = 0;
  LMI_TRY(lmi_text_append(ctx, &name, "%s/%s", path, NAME));
  FILE *file = fopen(name.data, "r");
  lmi_text_free(ctx, &name);
  if (file == NULL)
    return LAMINA_OK;
  const lamina_status status = read_rates(ctx, path, file, rates, count);
  fclose(file);
  if (status != LAMINA_OK) {
    lmi_free(ctx, *rates);
    *rates = NULL;
    *count = 0;
  }
  return status;
}
