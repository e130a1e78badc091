/* SPDX-License-Identifier: Apache-2.0 */
/* Every shipped kernel through NVRTC, which needs no device: it compiles, and what the compiler reports of registers,
 * stack and spills keeps to stated limits. The table of them all is left in kernels.txt of the scratch folder. */
#include "support/test.h"

#include <lamina/context.h>

#include "device/cuda/cuda_compile.h"
#include "kernel/combinations.h"

static const char *const block_kernels[] = {"lmk_block_step_simple", "lmk_block_step_any", "lmk_block_import",
                                            "lmk_block_export", "lmk_block_moments"};
static const char *const special_kernels[] = {"lmk_block_step_simple", "lmk_block_step_any", "lmk_block_settle"};
static const char *const kernels[] = {"lmk_step_even", "lmk_step_odd", "lmk_import_planes", "lmk_export_planes",
                                      "lmk_moments"};

enum { MAX_REGISTERS = 255 };

typedef struct bench {
  lamina_context *ctx;
  lmi_nvrtc_api nvrtc;
  FILE *table;
} bench;

static void open_bench(bench *b)
{
  *b = (bench){0};
  assert_int_equal(lamina_context_create(NULL, &b->ctx), LAMINA_OK);
  if (lmi_nvrtc_api_open(b->ctx, &b->nvrtc) != LAMINA_OK)
    LMI_SKIP("%s", lamina_error_message(b->ctx));
  b->table = fopen("kernels.txt", "w");
  assert_non_null(b->table);
}

static void close_bench(bench *b)
{
  fclose(b->table);
  lmi_nvrtc_api_close(&b->nvrtc);
  lamina_context_destroy(b->ctx);
}

/* D3Q19 kernels must not touch local memory, but for halves, where five blocks a multiprocessor are worth a few bytes
 * (cuda_shape.c); of the others the wide ones may spill a little. */
static void check_resources(bench *b, const lmi_dense_key *key, const char *name, const char *log)
{
  const bool is_tight = key->lattice == LAMINA_D3Q19 && key->storage == LAMINA_STORAGE_FULL;
  const int most_spill_bytes = is_tight ? 0 : 64;
  for (size_t i = 0; i < LMI_COUNT(kernels); i++) {
    lmi_kernel_resources r;
    if (!lmi_cuda_read_resources(log, kernels[i], &r))
      fail_msg("%s: the compiler's log does not speak of %s", name, kernels[i]);
    fprintf(b->table, "%-48s %-18s registers %3d stack %3d spills %3d %3d shared %d\n", name, kernels[i], r.registers,
            r.stack_bytes, r.spill_store_bytes, r.spill_load_bytes, r.shared_bytes);
    if (r.registers <= 0 || r.registers > MAX_REGISTERS || r.spill_store_bytes > most_spill_bytes ||
        r.stack_bytes > most_spill_bytes)
      fail_msg("%s %s: %d registers, %d bytes of stack, %d spilled; allowed are %d, %d, %d", name, kernels[i],
               r.registers, r.stack_bytes, r.spill_store_bytes, MAX_REGISTERS, most_spill_bytes, most_spill_bytes);
  }
}

static void compile_key(bench *b, const lmi_dense_key *key, int architecture)
{
  char name[96];
  lmi_text text = {0};
  lmi_cubin cubin;
  lmi_cuda_kernel_name(key, name);
  assert_int_equal(lmi_cuda_dense_text(b->ctx, key, &text), LAMINA_OK);
  if (lmi_cuda_compile(b->ctx, &b->nvrtc, name, text.data, architecture, &cubin) != LAMINA_OK)
    fail_msg("%s", lamina_error_message(b->ctx));
  assert_true(cubin.bytes > 1000);
  check_resources(b, key, name, cubin.log);
  lmi_cubin_free(b->ctx, &cubin);
  lmi_text_free(b->ctx, &text);
}

/* Kernels over blocks: plain ones may not touch local memory on the devices they are tuned for; on older ones, and
 * those of blocks with boundary data, a little. */
static void compile_blocks(bench *b, const lmi_dense_key *key, int architecture)
{
  char name[96];
  lmi_text text = {0};
  lmi_cubin cubin;
  lmi_cuda_kernel_name(key, name);
  assert_int_equal(lmi_cuda_block_text(b->ctx, key, &text), LAMINA_OK);
  if (lmi_cuda_compile(b->ctx, &b->nvrtc, name, text.data, architecture, &cubin) != LAMINA_OK)
    fail_msg("blocks, %s", lamina_error_message(b->ctx));
  const char *const *names = key->special ? special_kernels : block_kernels;
  const size_t count = key->special ? LMI_COUNT(special_kernels) : LMI_COUNT(block_kernels);
  const int most_spill_bytes = architecture < 90 || key->special ? 64 : 0;
  for (size_t i = 0; i < count; i++) {
    lmi_kernel_resources r;
    if (!lmi_cuda_read_resources(cubin.log, names[i], &r))
      fail_msg("%s: the compiler's log does not speak of %s", name, names[i]);
    fprintf(b->table, "%-48s %-7s %-22s registers %3d stack %3d spills %3d %3d shared %d\n", name,
            key->special ? "special" : "plain", names[i], r.registers, r.stack_bytes, r.spill_store_bytes,
            r.spill_load_bytes, r.shared_bytes);
    if (r.registers <= 0 || r.registers > MAX_REGISTERS || r.spill_store_bytes > most_spill_bytes ||
        r.stack_bytes > most_spill_bytes)
      fail_msg("%s %s: %d registers, %d bytes of stack, %d spilled; allowed are %d", name, names[i], r.registers,
               r.stack_bytes, r.spill_store_bytes, most_spill_bytes);
  }
  lmi_cubin_free(b->ctx, &cubin);
  lmi_text_free(b->ctx, &text);
}

static void compile_blocks_of(lamina_precision precision, lamina_storage storage, int architecture)
{
  bench b;
  open_bench(&b);
  for (int lattice = LAMINA_D2Q9; lattice <= LAMINA_D3Q27; lattice++)
    for (int collision = LAMINA_BGK; collision <= LAMINA_SMAGORINSKY; collision++) {
      if (lattice == LAMINA_D3Q19 && collision == LAMINA_CUMULANT)
        continue;
      lmi_dense_key key = {
        .lattice = (lamina_lattice)lattice,
        .collision = (lamina_collision)collision,
        .precision = precision,
        .storage = storage,
        .streaming = LAMINA_TWO_GRID,
        .force = collision == LAMINA_TRT,
      };
      compile_blocks(&b, &key, architecture);
      key.special = true;
      if (collision <= LAMINA_TRT || collision == LAMINA_CUMULANT)
        compile_blocks(&b, &key, architecture);
    }
  close_bench(&b);
}

static void blocks_f32(void **state)
{
  (void)state;
  compile_blocks_of(LAMINA_F32, LAMINA_STORAGE_FULL, 90);
}
static void blocks_f16(void **state)
{
  (void)state;
  compile_blocks_of(LAMINA_F32, LAMINA_STORAGE_F16, 90);
}
static void blocks_f64(void **state)
{
  (void)state;
  compile_blocks_of(LAMINA_F64, LAMINA_STORAGE_FULL, 90);
}
static void blocks_f32_sm_80(void **state)
{
  (void)state;
  compile_blocks_of(LAMINA_F32, LAMINA_STORAGE_FULL, 80);
}

/* All collisions of a lattice with and without force, in place and in plane order, walls along x. */
static void compile_lattice(lamina_lattice lattice, lamina_precision precision, lamina_storage storage,
                            int architecture)
{
  bench b;
  open_bench(&b);
  for (int collision = LAMINA_BGK; collision <= LAMINA_SMAGORINSKY; collision++)
    for (int force = 0; force < 2; force++) {
      if (lattice == LAMINA_D3Q19 && collision == LAMINA_CUMULANT)
        continue;
      const lmi_dense_key key = {
        .lattice = lattice,
        .collision = (lamina_collision)collision,
        .precision = precision,
        .storage = storage,
        .force = force != 0,
        .nx = 256,
        .ny = lattice == LAMINA_D2Q9 ? 1 : 256,
      };
      compile_key(&b, &key, architecture);
    }
  close_bench(&b);
}

static void d2q9_f32(void **state)
{
  (void)state;
  compile_lattice(LAMINA_D2Q9, LAMINA_F32, LAMINA_STORAGE_FULL, 90);
}
static void d2q9_f64(void **state)
{
  (void)state;
  compile_lattice(LAMINA_D2Q9, LAMINA_F64, LAMINA_STORAGE_FULL, 90);
}
static void d3q19_f32(void **state)
{
  (void)state;
  compile_lattice(LAMINA_D3Q19, LAMINA_F32, LAMINA_STORAGE_FULL, 90);
}
static void d3q19_f64(void **state)
{
  (void)state;
  compile_lattice(LAMINA_D3Q19, LAMINA_F64, LAMINA_STORAGE_FULL, 90);
}
static void d3q19_f16(void **state)
{
  (void)state;
  compile_lattice(LAMINA_D3Q19, LAMINA_F32, LAMINA_STORAGE_F16, 90);
}
static void d3q27_f32(void **state)
{
  (void)state;
  compile_lattice(LAMINA_D3Q27, LAMINA_F32, LAMINA_STORAGE_FULL, 90);
}
static void d3q27_f64(void **state)
{
  (void)state;
  compile_lattice(LAMINA_D3Q27, LAMINA_F64, LAMINA_STORAGE_FULL, 90);
}
static void d3q19_f32_sm_80(void **state)
{
  (void)state;
  compile_lattice(LAMINA_D3Q19, LAMINA_F32, LAMINA_STORAGE_FULL, 80);
}

/* Every pattern in every layout: joined faces, stores into neighbours, slabs that reach into each other. */
static void patterns_and_layouts(void **state)
{
  (void)state;
  bench b;
  open_bench(&b);
  for (int streaming = LAMINA_ESOTERIC_PULL; streaming <= LAMINA_TWO_GRID; streaming++)
    for (int layout = LAMINA_LAYOUT_PLANE; layout <= LAMINA_LAYOUT_AOS; layout++)
      for (int joined = 0; joined < 2; joined++) {
        const bool wraps = layout % 2 != 0 && !joined;
        const lmi_dense_key key = {
          .lattice = LAMINA_D3Q19,
          .streaming = (lamina_streaming)streaming,
          .layout = (lamina_layout)layout,
          .nx = 256,
          .ny = 256,
          .wraps_x = wraps,
          .wraps_y = wraps,
          .wraps_z = wraps,
          .direct = !wraps,
          .joined = joined != 0,
        };
        compile_key(&b, &key, 90);
      }
  close_bench(&b);
}

/* What a mistake in a text looks like to whoever makes one. */
static void names_the_kernel_that_does_not_compile(void **state)
{
  (void)state;
  bench b;
  open_bench(&b);
  lmi_cubin cubin;
  assert_int_equal(lmi_cuda_compile(b.ctx, &b.nvrtc, "d3q19-mistake", "int broken(", 90, &cubin), LAMINA_ERROR_DEVICE);
  assert_non_null(strstr(lamina_error_message(b.ctx), "d3q19-mistake"));
  assert_null(cubin.data);
  close_bench(&b);
}

LMI_TEST_MAIN(cmocka_unit_test(d2q9_f32), cmocka_unit_test(d2q9_f64), cmocka_unit_test(d3q19_f32),
              cmocka_unit_test(d3q19_f64), cmocka_unit_test(d3q19_f16), cmocka_unit_test(d3q27_f32),
              cmocka_unit_test(d3q27_f64), cmocka_unit_test(d3q19_f32_sm_80), cmocka_unit_test(patterns_and_layouts),
              cmocka_unit_test(blocks_f32), cmocka_unit_test(blocks_f16), cmocka_unit_test(blocks_f64),
              cmocka_unit_test(blocks_f32_sm_80), cmocka_unit_test(names_the_kernel_that_does_not_compile))
