/* SPDX-License-Identifier: Apache-2.0 */
/* lamina render: pictures of planes, profiles along lines, and comparisons with published results, from a file of
 * fields. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "render.h"

static const struct render_values defaults = {.out = ".", .pixels = 720};

static const lmi_option options[] = {
  LMI_OPTION_LIST(struct render_values, fields, "field", "NAME",
                  "what to show: speed (default), velocity_x, vorticity, pressure, ...; may be given several times"),
  LMI_OPTION_LIST(struct render_values, slices, "slice", "AXIS=POSITION",
                  "the plane, in metres: z=0.5; may be given several times (default: the middle of z)"),
  LMI_OPTION_TEXT(struct render_values, range, "range", "LOW:HIGH",
                  "ends of the colours (default: those of the values)"),
  LMI_OPTION_FLAG(struct render_values, streamlines, "streamlines",
                  "draw lines of the stream function over the colours"),
  LMI_OPTION_INTEGER(struct render_values, pixels, "pixels", "N", 64, 8192, "longer side of the plane (default: 720)"),
  LMI_OPTION_LIST(struct render_values, profiles, "profile", "AXIS=POSITION,...",
                  "values along the line through these positions: x=0.5,z=0.5 runs along y (no pictures then)"),
  LMI_OPTION_LIST(struct render_values, references, "compare", "NAME",
                  "compare with published data: ghia-re1000-u; exit code 5 when it misses its gate"),
  LMI_OPTION_NUMBER(struct render_values, gate, "gate", "ERROR", 0, 1e6,
                    "largest deviation allowed, in reference speeds (default: that of the data)"),
  LMI_OPTION_NUMBER(struct render_values, length, "length", "METRES", 0, 1e300,
                    "reference length (default: as the file says, or the length of the line)"),
  LMI_OPTION_NUMBER(struct render_values, speed, "speed", "M_PER_S", 0, 1e300,
                    "reference speed (default: as the file says)"),
  LMI_OPTION_FLAG(struct render_values, vti, "vti",
                  "write the fields as .vti, which VTK and ParaView of any age open (no pictures then)"),
  LMI_OPTION_TEXT(struct render_values, out, "out", "DIR", "where files go (default: the current folder)"),
  LMI_OPTION_FLAG(struct render_values, json, "json", "print one JSON object"),
  {0}};

static const char *const examples[] = {"lamina render out/fields-end.vtkhdf --streamlines",
                                       "the speed in the middle plane, with streamlines",
                                       "lamina render f.vtkhdf --field vorticity --slice y=0.5 --range -20:20",
                                       "vorticity normal to the plane y = 0.5 m, colours from -20 to 20",
                                       "lamina render f.vtkhdf --compare ghia-re1000-u --compare ghia-re1000-v",
                                       "profiles against published data, as CSV, gnuplot script and PNG",
                                       NULL};

lamina_status lmi_render_name(const lmi_render *render, const char *what, lmi_text *name)
{
  const char *slash = strrchr(render->path, '/');
  const char *stem = slash != NULL ? slash + 1 : render->path;
  const char *dot = strrchr(stem, '.');
  const int length = dot != NULL && dot != stem ? (int)(dot - stem) : (int)strlen(stem);
  return lmi_text_append(render->ctx, name, "%s/%.*s%s%s", render->values->out, length, stem, what != NULL ? "-" : "",
                         what != NULL ? what : "");
}

lamina_status lmi_render_parse_place(const lmi_call *call, const char *option, const char *text, int *axis,
                                     double *position)
{
  const bool has_axis = text[0] >= 'x' && text[0] <= 'z' && text[1] == '=';
  if (!has_axis || !lmi_parse_double(text + 2, position))
    return lmi_fail(call->ctx, LAMINA_ERROR_ARGUMENT,
                    "--%s %s: an axis and a position in metres are needed, as in z=0.5", option, text);
  *axis = text[0] - 'x';
  return LAMINA_OK;
}

/* One level: a typing error in a longer path should not grow a tree. */
static lamina_status make_folder(const lmi_render *render)
{
  const char *out = render->values->out;
  if (mkdir(out, 0777) == 0 || errno == EEXIST)
    return LAMINA_OK;
  return lmi_fail_errno(render->ctx, LAMINA_ERROR_FILE, errno, "cannot make the folder %s", out);
}

static lamina_status write_vti(const lmi_render *render)
{
  lmi_text path = {0};
  lamina_status status = lmi_render_name(render, NULL, &path);
  if (status == LAMINA_OK)
    status = lmi_text_append(render->ctx, &path, ".vti");
  if (status == LAMINA_OK)
    status = lmi_field_vti_write(render->ctx, render->file, path.data);
  if (status == LAMINA_OK && !render->values->json)
    printf("%s\n", path.data);
  lmi_text_free(render->ctx, &path);
  return status;
}

static lamina_status print_summary(lmi_render *render)
{
  const lmi_field_frame *frame = &lmi_field_file_content(render->file)->frame;
  if (!render->values->json)
    return LAMINA_OK;
  return lmi_print_json(render->call,
                        json_pack("{s:s, s:I, s:o, s:O, s:O, s:O}", "file", render->path, "step",
                                  (json_int_t)frame->step, "time_s", lmi_json_number(frame->time), "pictures",
                                  render->pictures, "profiles", render->profiles, "references", render->references));
}

static lamina_status render_all(lmi_render *render)
{
  const struct render_values *values = render->values;
  LMI_TRY(make_folder(render));
  const bool wants_other = values->vti || values->profiles.count > 0 || values->references.count > 0;
  if (!wants_other || values->slices.count > 0)
    LMI_TRY(lmi_render_pictures(render));
  if (values->vti)
    LMI_TRY(write_vti(render));
  LMI_TRY(lmi_render_profiles(render));
  LMI_TRY(lmi_render_references(render));
  LMI_TRY(print_summary(render));
  LMI_REQUIRE(render->ctx, !render->is_off, LAMINA_ERROR_CHECK, "%s is further from the reference than its gate",
              render->path);
  return LAMINA_OK;
}

static lamina_status render_run(lmi_call *call)
{
  LMI_TRY(lmi_call_open(call, 1));
  lmi_render render = {.call = call, .ctx = call->ctx, .values = call->values, .path = call->arguments[0]};
  render.pictures = json_array();
  render.profiles = json_array();
  render.references = json_array();
  lamina_status status = lmi_input_status(lmi_field_file_open(call->ctx, render.path, &render.file));
  if (status == LAMINA_OK)
    status = render_all(&render);
  lmi_field_file_close(render.file);
  json_decref(render.pictures);
  json_decref(render.profiles);
  json_decref(render.references);
  return status;
}

const lmi_command lmi_command_render = {
  .name = "render",
  .summary = "draws planes and profiles of a file of fields, and compares with published data",
  .group = LMI_GROUP_SIMULATE,
  .arguments = "FILE.vtkhdf",
  .least = 1,
  .most = 1,
  .options = options,
  LMI_VALUES(defaults),
  .description = "Positions and values are in SI units. A plane or line between two layers of cells is\n"
                 "interpolated. Solid cells are grey. Colours run from the least to the greatest value;\n"
                 "for signed quantities they are symmetric about 0.",
  .examples = examples,
  .run = render_run,
};
