/* SPDX-License-Identifier: Apache-2.0 */
/* BASE.csv, BASE-reference.csv, BASE.gp, and BASE.png by gnuplot. */
#include <string.h>

#include "base/base.h"
#include "gnuplot.h"
#include "profile.h"
#include "safe_file.h"

/* Everything that the pieces below share. */
typedef struct writing {
  lamina_context *ctx;
  const lmi_profile *profile;
  const char *base;
  const lmi_profile_labels *labels;
  const lmi_reference *reference;
  lmi_profile_scale scale;
} writing;

static lamina_status put_text(const writing *w, const char *suffix, const lmi_text *content)
{
  lmi_text path = {0};
  lamina_status status = lmi_text_append(w->ctx, &path, "%s%s", w->base, suffix);
  if (status == LAMINA_OK)
    status = lmi_safe_file_put(w->ctx, path.data, content->data, content->length);
  lmi_text_free(w->ctx, &path);
  return status;
}

static lamina_status append_samples(const writing *w, lmi_text *text)
{
  char x[32], y[32];
  LMI_TRY(lmi_text_append(w->ctx, text, "%s,%s\n", w->labels->position_column, w->labels->value_column));
  for (size_t i = 0; i < w->profile->count; i++)
    LMI_TRY(lmi_text_append(w->ctx, text, "%s,%s\n", lmi_format_double(w->profile->position[i], x),
                            lmi_format_double(w->profile->value[i], y)));
  return LAMINA_OK;
}

static lamina_status append_reference(const writing *w, lmi_text *text)
{
  LMI_TRY(lmi_text_append(w->ctx, text, "%s,reference_%s,computed_%s,error_%s,excluded\n", w->labels->position_column,
                          w->labels->value_column, w->labels->value_column, w->labels->value_column));
  for (size_t i = 0; i < w->reference->point_count; i++) {
    const lmi_reference_point *point = &w->reference->points[i];
    const double position = w->scale.origin + point->position * w->scale.length;
    const double expected = point->value * w->scale.value;
    const double found = lmi_profile_at(w->profile, position);
    char p[32], e[32], f[32], d[32];
    LMI_TRY(lmi_text_append(w->ctx, text, "%s,%s,%s,%s,%d\n", lmi_format_double(position, p),
                            lmi_format_double(expected, e), lmi_format_double(found, f),
                            lmi_format_double(found - expected, d), point->is_excluded ? 1 : 0));
  }
  return LAMINA_OK;
}

/* In single quotes gnuplot takes everything as it stands but the quote itself, which is doubled. */
static lamina_status append_quoted(lamina_context *ctx, lmi_text *text, const char *before, const char *raw,
                                   const char *after)
{
  LMI_TRY(lmi_text_append(ctx, text, "%s'", before));
  for (; *raw != '\0'; raw++)
    LMI_TRY(lmi_text_append(ctx, text, *raw == '\'' ? "''" : "%c", *raw == '\n' ? ' ' : *raw));
  return lmi_text_append(ctx, text, "'%s", after);
}

static const char *file_name(const char *path)
{
  const char *slash = strrchr(path, '/');
  return slash != NULL ? slash + 1 : path;
}

/* The name of a file beside the script, quoted. */
static lamina_status append_file(const writing *w, lmi_text *text, const char *before, const char *suffix,
                                 const char *after)
{
  lmi_text name = {0};
  lamina_status status = lmi_text_append(w->ctx, &name, "%s%s", file_name(w->base), suffix);
  if (status == LAMINA_OK)
    status = append_quoted(w->ctx, text, before, name.data, after);
  lmi_text_free(w->ctx, &name);
  return status;
}

static lamina_status append_script(const writing *w, lmi_text *text)
{
  LMI_TRY(lmi_text_append(w->ctx, text, "%s",
                          "# gnuplot script written by lamina; run it in this folder\n"
                          "set terminal pngcairo size 900,640 noenhanced font 'sans,12'\n"
                          "set encoding utf8\n"
                          "set datafile separator ','\n"
                          "set key left top\n"
                          "set grid\n"));
  LMI_TRY(append_file(w, text, "set output ", ".png", "\n"));
  LMI_TRY(append_quoted(w->ctx, text, "set title ", w->labels->title, "\n"));
  LMI_TRY(append_quoted(w->ctx, text, "set xlabel ", w->labels->position, "\n"));
  LMI_TRY(append_quoted(w->ctx, text, "set ylabel ", w->labels->value, "\n"));
  LMI_TRY(append_file(w, text, "plot ", ".csv", " skip 1 using 1:2 with lines lw 2 lc rgb '#1b5e8f' title 'lamina'"));
  if (w->reference == NULL)
    return lmi_text_append(w->ctx, text, "\n");
  LMI_TRY(append_file(w, text, ", \\\n     ", "-reference.csv",
                      " skip 1 using 1:($5 == 0 ? $2 : NaN) with points pt 6 ps 1.4 lw 1.5 lc rgb '#b3372e' title "));
  LMI_TRY(append_quoted(w->ctx, text, "", w->reference->title, ""));
  if (w->reference->excluded_because == NULL)
    return lmi_text_append(w->ctx, text, "\n");
  return append_file(w, text, ", \\\n     ", "-reference.csv",
                     " skip 1 using 1:($5 == 1 ? $2 : NaN) with points pt 2 lc rgb '#888888' title 'misprint, not "
                     "compared'\n");
}

typedef lamina_status append_function(const writing *w, lmi_text *text);

static lamina_status write_part(const writing *w, append_function *append, const char *suffix)
{
  lmi_text text = {0};
  lamina_status status = append(w, &text);
  if (status == LAMINA_OK)
    status = put_text(w, suffix, &text);
  lmi_text_free(w->ctx, &text);
  return status;
}

/* A picture that could not be drawn is a remark: the numbers are there. */
static lamina_status draw(const writing *w, bool *has_picture)
{
  lmi_text script = {0};
  lamina_status status = lmi_text_append(w->ctx, &script, "%s.gp", w->base);
  if (status == LAMINA_OK) {
    *has_picture = lmi_gnuplot_run(w->ctx, script.data) == LAMINA_OK;
    if (!*has_picture) {
      lmi_log(w->ctx, LAMINA_LOG_REMARK, "no picture of %s: %s", w->base, lamina_error_message(w->ctx));
      lamina_error_clear(w->ctx);
    }
  }
  lmi_text_free(w->ctx, &script);
  return status;
}

lamina_status lmi_profile_write(const lmi_profile *profile, const char *base, const lmi_profile_labels *labels,
                                const lmi_reference *reference, lmi_profile_scale scale, bool *has_picture)
{
  const writing w = {profile->ctx, profile, base, labels, reference, scale};
  bool is_drawn = false;
  LMI_TRY(write_part(&w, append_samples, ".csv"));
  if (reference != NULL)
    LMI_TRY(write_part(&w, append_reference, "-reference.csv"));
  LMI_TRY(write_part(&w, append_script, ".gp"));
  LMI_TRY(draw(&w, &is_drawn));
  if (has_picture != NULL)
    *has_picture = is_drawn;
  return LAMINA_OK;
}
