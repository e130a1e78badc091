/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda_compile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/kernel_text.h"
#include "kernel/combinations.h"

enum { CELLS_OF_A_BLOCK = 64 };

typedef struct combination {
  const char *lattice, *collision, *file;
} combination;

#define COMBINATION_ROW(lattice, collision, file) {#lattice, #collision, #file},
static const combination combinations[] = {LMK_COMBINATIONS(COMBINATION_ROW)};

static const char *collision_file(const lmi_dense_key *key)
{
  for (size_t i = 0; i < LMI_COUNT(combinations); i++)
    if (strcmp(combinations[i].lattice, lamina_lattice_name(key->lattice)) == 0 &&
        strcmp(combinations[i].collision, lamina_collision_name(key->collision)) == 0)
      return combinations[i].file;
  return NULL;
}

static const char *streaming_macro(lamina_streaming streaming)
{
  switch (streaming) {
  case LAMINA_TWO_GRID: return "LMK_TWO_GRID";
  case LAMINA_AA: return "LMK_AA";
  case LAMINA_ESOTERIC_PULL: break;
  }
  return "LMK_ESOTERIC_PULL";
}

void lmi_cuda_kernel_name(const lmi_dense_key *key, char name[96])
{
  const bool half = key->storage == LAMINA_STORAGE_F16;
  snprintf(name, 96, "%s-%s-%s-%s-%s%s", lamina_lattice_name(key->lattice), lamina_collision_name(key->collision),
           half ? "f32-f16" : lamina_precision_name(key->precision), lamina_streaming_name(key->streaming),
           lamina_layout_name(key->layout), key->force ? "-force" : "");
}

/* Strides in elements. A component stride of 0 means that it differs from span to span and is passed at run time. */
static lamina_status append_layout(lamina_context *ctx, const lmi_dense_key *key, const lmi_plane_shape *plane,
                                   lmi_text *text)
{
  const int64_t velocities = lamina_lattice_velocities(key->lattice);
  const bool is_plane = key->layout == LAMINA_LAYOUT_PLANE, is_aos = key->layout == LAMINA_LAYOUT_AOS;
  const int64_t component = is_plane ? plane->places : is_aos ? 1 : 0;
  const int64_t plane_stride = plane->places * (is_plane || is_aos ? velocities : 1);
  return lmi_text_append(ctx, text,
                         "#define LMK_STRIDE %lld\n#define LMK_COMPONENT_STRIDE %lldLL\n"
                         "#define LMK_PLANE_STRIDE %lldLL\n#define LMK_ONE_SPAN %d\n",
                         is_aos ? (long long)velocities : 1LL, (long long)component, (long long)plane_stride,
                         key->layout != LAMINA_LAYOUT_DISAGGREGATED);
}

static lamina_status append_geometry(lamina_context *ctx, const lmi_dense_key *key, lmi_text *text)
{
  const lmi_cuda_shape shape = lmi_cuda_shape_for(key);
  LMI_TRY(lmi_text_append(ctx, text,
                          "#define LMK_NX %lld\n#define LMK_NY %lld\n#define LMK_ROW %lld\n#define LMK_ORIGIN %lld\n"
                          "#define LMK_COLUMN %lld\n#define LMK_WALL_X %d\n#define LMK_WRAP_Y %d\n"
                          "#define LMK_WRAP_Z %d\n#define LMK_LANES %d\n#define LMK_STORAGE_BITS %d\n"
                          "#define LMK_REST_DENSITY %.1f\n",
                          (long long)key->nx, (long long)key->ny, (long long)shape.plane.row, (long long)shape.origin,
                          (long long)shape.plane.column, !key->wraps_x, key->wraps_y, key->wraps_z, shape.lanes,
                          shape.element_bits, shape.rest_density));
  LMI_TRY(append_layout(ctx, key, &shape.plane, text));
  return lmi_text_append(ctx, text,
                         "#define LMK_BLOCK_X %d\n#define LMK_BLOCK_Y %d\n#define LMK_BLOCK_Z %d\n"
                         "#define LMK_LEAST_BLOCKS %d\n#define LMK_PLANES_BLOCK 128\n#define LMK_DIRECT %d\n"
                         "#define LMK_JOINED %d\n%s",
                         shape.block[0], shape.block[1], shape.block[2], shape.least_blocks,
                         key->direct && !key->joined, key->joined, key->joined ? "" : "#define LMK_PARTS 1\n");
}

lamina_status lmi_cuda_dense_text(lamina_context *ctx, const lmi_dense_key *key, lmi_text *text)
{
  const char *file = collision_file(key);
  LMI_REQUIRE(ctx, file != NULL, LAMINA_ERROR_ARGUMENT, "there is no %s collision for %s",
              lamina_collision_name(key->collision), lamina_lattice_name(key->lattice));
  LMI_TRY(lmi_text_append(ctx, text,
                          "#include \"prelude_cuda.h\"\n#include \"naming.h\"\n#include \"dense.h\"\n"
                          "#define LMK_REAL %s\n#define LMK_SUFFIX device\n#define LMK_FORCE %d\n"
                          "#define LMK_STREAMING %s\n",
                          key->precision == LAMINA_F64 ? "double" : "float", key->force,
                          streaming_macro(key->streaming)));
  LMI_TRY(append_geometry(ctx, key, text));
  return lmi_text_append(ctx, text,
                         "#include \"lattice_%s.h\"\n#include \"moments.h\"\n#include \"%s.h\"\n"
                         "#include \"collide.h\"\n#include \"dense_cuda.h\"\n#include \"planes_cuda.h\"\n",
                         lamina_lattice_name(key->lattice), file);
}

lamina_status lmi_cuda_block_text(lamina_context *ctx, const lmi_dense_key *key, lmi_text *text)
{
  const char *file = collision_file(key);
  const lmi_cuda_shape shape = lmi_cuda_block_shape_for(key);
  LMI_REQUIRE(ctx, file != NULL, LAMINA_ERROR_ARGUMENT, "there is no %s collision for %s",
              lamina_collision_name(key->collision), lamina_lattice_name(key->lattice));
  LMI_TRY(lmi_text_append(ctx, text,
                          "#include \"prelude_cuda.h\"\n#include \"naming.h\"\n#include \"dense.h\"\n"
                          "#include \"block.h\"\n#define LMK_REAL %s\n#define LMK_SUFFIX device\n"
                          "#define LMK_FORCE %d\n#define LMK_LANES %d\n#define LMK_STORAGE_BITS %d\n"
                          "#define LMK_REST_DENSITY %.1f\n#define LMK_HAS_Y %d\n#define LMK_BLOCK_GROUP %d\n"
                          "#define LMK_BLOCK_LEAST %d\n#define LMK_BLOCK_LEAST_ANY %d\n"
                          "#define LMK_BLOCK_ROUNDS %d\n#define LMK_SPECIAL %d\n"
                          "#define LMK_BLOCK_TEXT 1\n",
                          key->precision == LAMINA_F64 ? "double" : "float", key->force, shape.lanes,
                          shape.element_bits, shape.rest_density, lamina_lattice_dimension(key->lattice) == 3,
                          shape.block[0] * shape.lanes / CELLS_OF_A_BLOCK, shape.least_blocks, shape.least_blocks_any,
                          shape.rounds, key->special));
  return lmi_text_append(ctx, text,
                         "#include \"lattice_%s.h\"\n#include \"moments.h\"\n#include \"%s.h\"\n"
                         "#include \"collide.h\"\n#include \"block_cuda.h\"\n",
                         lamina_lattice_name(key->lattice), file);
}

static lamina_status fail_compile(lamina_context *ctx, const char *name, const char *log)
{
  const char *complaint = log != NULL ? strstr(log, "error") : NULL;
  if (complaint != NULL) /* from the start of its line */
    while (complaint > log && complaint[-1] != '\n')
      complaint--;
  return lmi_fail(ctx, LAMINA_ERROR_DEVICE, "NVRTC does not compile the kernel %s: %.300s", name,
                  complaint != NULL ? complaint : "it gives no reason");
}

static lamina_status fetch_log(lamina_context *ctx, const lmi_nvrtc_api *nvrtc, lmi_nvrtc_program program, char **log)
{
  size_t bytes = 0;
  if (nvrtc->log_bytes(program, &bytes) != 0 || bytes == 0)
    return LAMINA_OK;
  LMI_TRY(LMI_ALLOC(ctx, bytes + 1, log));
  return nvrtc->log(program, *log) == 0 ? LAMINA_OK
                                        : lmi_fail(ctx, LAMINA_ERROR_DEVICE, "NVRTC does not give its log away");
}

static lamina_status fetch_cubin(lamina_context *ctx, const lmi_nvrtc_api *nvrtc, lmi_nvrtc_program program,
                                 const char *name, lmi_cubin *cubin)
{
  LMI_REQUIRE(ctx, nvrtc->cubin_bytes(program, &cubin->bytes) == 0 && cubin->bytes > 0, LAMINA_ERROR_DEVICE,
              "NVRTC made no machine code of the kernel %s", name);
  LMI_TRY(LMI_ALLOC(ctx, cubin->bytes, &cubin->data));
  LMI_REQUIRE(ctx, nvrtc->cubin(program, cubin->data) == 0, LAMINA_ERROR_DEVICE,
              "NVRTC does not give the machine code of the kernel %s away", name);
  return LAMINA_OK;
}

/* Contraction is off: fused operations are written out, as on the host. */
static int compile_program(const lmi_nvrtc_api *nvrtc, lmi_nvrtc_program program, int architecture)
{
  char target[32];
  snprintf(target, sizeof target, "--gpu-architecture=sm_%d", architecture);
  const char *const options[] = {target, "--std=c++17", "--fmad=false", "--ptxas-options=-v"};
  return nvrtc->compile(program, (int)LMI_COUNT(options), options);
}

lamina_status lmi_cuda_compile(lamina_context *ctx, const lmi_nvrtc_api *nvrtc, const char *name, const char *text,
                               int architecture, lmi_cubin *cubin)
{
  *cubin = (lmi_cubin){0};
  lamina_status status = LAMINA_OK;
  lmi_nvrtc_program program = NULL;
  const char **headers = NULL, **names = NULL;
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, lmi_kernel_text_count, &headers), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, lmi_kernel_text_count, &names), cleanup);
  for (size_t i = 0; i < lmi_kernel_text_count; i++) {
    headers[i] = lmi_kernel_texts[i].text;
    names[i] = lmi_kernel_texts[i].name;
  }
  if (nvrtc->create(&program, text, name, (int)lmi_kernel_text_count, headers, names) != 0) {
    status = lmi_fail(ctx, LAMINA_ERROR_DEVICE, "NVRTC does not take the text of the kernel %s", name);
    goto cleanup;
  }
  const int result = compile_program(nvrtc, program, architecture);
  LMI_TRY_GOTO(status, fetch_log(ctx, nvrtc, program, &cubin->log), cleanup);
  if (result != 0)
    status = fail_compile(ctx, name, cubin->log);
  else
    status = fetch_cubin(ctx, nvrtc, program, name, cubin);
cleanup:
  if (program != NULL)
    (void)nvrtc->destroy(&program);
  lmi_free(ctx, headers);
  lmi_free(ctx, names);
  if (status != LAMINA_OK)
    lmi_cubin_free(ctx, cubin);
  return status;
}

void lmi_cubin_free(lamina_context *ctx, lmi_cubin *cubin)
{
  lmi_free(ctx, cubin->data);
  lmi_free(ctx, cubin->log);
  *cubin = (lmi_cubin){0};
}

/* The number before `unit` in a line such as "0 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads"; 0 when
 * the line does not have it. */
static int number_before(const char *line, const char *end, const char *unit)
{
  const char *found = strstr(line, unit);
  if (found == NULL || found >= end)
    return 0;
  const char *digit = found;
  while (digit > line && (digit[-1] == ' ' || (digit[-1] >= '0' && digit[-1] <= '9')))
    digit--;
  return (int)strtol(digit, NULL, 10);
}

/* The compiler writes of each kernel: a line with its name, one of its stack, one of its registers. */
bool lmi_cuda_read_resources(const char *log, const char *kernel, lmi_kernel_resources *resources)
{
  char opening[128];
  snprintf(opening, sizeof opening, "Function properties for %s\n", kernel);
  *resources = (lmi_kernel_resources){0};
  const char *line = log != NULL ? strstr(log, opening) : NULL;
  const char *used = line != NULL ? strstr(line, "Used ") : NULL;
  if (used == NULL)
    return false;
  const char *const end = used + strcspn(used, "\n");
  resources->registers = number_before(line, end, " registers");
  resources->stack_bytes = number_before(line, end, " bytes stack frame");
  resources->spill_store_bytes = number_before(line, end, " bytes spill stores");
  resources->spill_load_bytes = number_before(line, end, " bytes spill loads");
  resources->shared_bytes = number_before(line, end, " bytes smem");
  return true;
}
