/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Much of everything, and large programs of others: minutes under the tracer. */
#define _GNU_SOURCE
#include "traced.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void a_thousand_children_are_a_thousand_profiles(void **state)
{
  (void)state;
  size_t count;
  traced_target("fork1000");
  assert_int_equal(traced.wait_status, 0);
  (void)lamina_profile_processes(traced.profile, &count);
  assert_int_equal(count, 1001);
}

/* 10 million blocks of 16 bytes, all alive: 480 MB in the program under Valgrind's allocator. The tracer may add its
 * list of blocks (32 bytes each, and a table to find them), and must not grow with what was freed. */
static void ten_million_blocks_are_one_object(void **state)
{
  (void)state;
  struct rusage usage;
  traced_target("blocks10m");
  assert_int_equal(traced.wait_status, 0);
  const lamina_profile_object *blocks = traced_object("allocate_many_blocks");
  assert_int_equal(blocks->blocks, 10000000);
  assert_int_equal(blocks->bytes_peak, 160000000);
  assert_int_equal(blocks->accesses, 4 * 10000000); /* two words written, two read */
  assert_int_equal(getrusage(RUSAGE_CHILDREN, &usage), 0);
  assert_true(usage.ru_maxrss < 1800 * 1024);
}

/* ---- programs of others ---- */

static bool is_there(const char *path)
{
  return access(path, X_OK) == 0;
}

/* mpirun as root, between two processes of one machine, on however few processors. */
static void prepare_mpi(const char *program)
{
  static const char *const variables[][2] = {
    {"OMPI_ALLOW_RUN_AS_ROOT", "1"}, {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},    {"OMPI_MCA_btl", "self,vader"},
    {"OMPI_MCA_plm", "isolated"},    {"OMPI_MCA_rmaps_base_oversubscribe", "1"}, {"OMPI_MCA_mpi_yield_when_idle", "1"}};
  if (!is_there("/usr/bin/mpirun"))
    LMI_SKIP("mpirun is not installed");
  if (!is_there(program))
    LMI_SKIP("%s is not there", program);
  for (size_t i = 0; i < LMI_COUNT(variables); i++)
    setenv(variables[i][0], variables[i][1], 1);
}

/* Two ranks, each with a profile of its own that ended well and is about as busy as the other. */
static void assert_two_ranks(uint64_t least_loads)
{
  size_t count;
  uint64_t loads[2] = {0};
  const lamina_profile_process *processes = lamina_profile_processes(traced.profile, &count);
  for (size_t i = 0; i < count; i++)
    if (processes[i].rank >= 0) {
      assert_true(processes[i].rank < 2);
      assert_string_equal(processes[i].ended, "exit 0");
      loads[processes[i].rank] += processes[i].counts.of[LAMINA_COUNT_LOADS];
    }
  assert_true(loads[0] > least_loads && loads[1] > least_loads);
  assert_true(loads[0] < 4 * loads[1] && loads[1] < 4 * loads[0]);
}

static void write_hpcc_input(void)
{
  static const char input[] = "HPL\n\nHPL.out\n8 device\n1 problems\n100 Ns\n1 NBs\n40 NB\n0 PMAP\n1 grids\n1 Ps\n2 "
                              "Qs\n16.0 threshold\n1\n2 PFACT\n"
                              "1\n4 NBMIN\n1\n2 NDIV\n1\n1 RFACT\n1\n1 BCAST\n1\n1 DEPTH\n2 SWAP\n64 threshold\n0 "
                              "L1\n0 U\n1 equilibration\n8 alignment\n"
                              "#####\n0 PTRANS\n1200\n0\n40\n";
  FILE *file = fopen("hpccinf.txt", "w");
  assert_non_null(file);
  fputs(input, file);
  fclose(file);
}

/* The HPC challenge: dense factorisation, STREAM, random access, transposition, FFT. */
static void hpcc_runs_on_two_ranks(void **state)
{
  (void)state;
  char *command[] = {"mpirun", "-n", "2", "hpcc", NULL};
  prepare_mpi("/usr/bin/hpcc");
  write_hpcc_input();
  unlink("hpccoutf.txt");
  traced_command(command);
  assert_int_equal(traced.wait_status, 0);
  assert_two_ranks(10000000);
  assert_int_equal(system("grep -q 'End of HPC Challenge tests' hpccoutf.txt"), 0);
}

/* Conjugate gradients with algebraic multigrid; the program checks its residual. */
static void hypre_solves_on_two_ranks(void **state)
{
  (void)state;
  char *command[] = {"mpirun", "-n", "2", LMI_WORKLOADS "/solve_hypre", "40", NULL};
  prepare_mpi(command[3]);
  traced_command(command);
  assert_int_equal(traced.wait_status, 0);
  assert_two_ranks(1000000);
}

/* A sparse factorisation; the program checks its solution. Its largest memory is what SuperLU allocates. */
static void superlu_solves(void **state)
{
  (void)state;
  char *command[] = {LMI_WORKLOADS "/solve_superlu", "60", NULL};
  if (!is_there(command[0]))
    LMI_SKIP("%s is not there (libsuperlu-dev)", command[0]);
  traced_command(command);
  assert_int_equal(traced.wait_status, 0);
  size_t count, from_superlu = 0;
  const lamina_profile_object *objects = lamina_profile_objects(traced.profile, &count);
  for (size_t i = 0; i < count && i < 10; i++)
    from_superlu += objects[i].kind == LAMINA_OBJECT_HEAP;
  assert_true(from_superlu >= 3);
  assert_true(lamina_profile_get_summary(traced.profile)->page_count > 200);
}

/* Our own solver: its groups are objects, nearly all traffic of a step is theirs, and the curve of a flow that treats
 * all cells alike is nearly even. */
static void groups_of_the_flow_are_objects(void **state)
{
  (void)state;
  char *command[] = {LAMINA_PROGRAM, "run", "box.yaml", "--out", "box", "--threads", "2",
                     "--partitions", "2",   "--layout", "plane", NULL};
  FILE *box = fopen("box.yaml", "w");
  assert_non_null(box);
  fputs(
    "domain: {cells: [32, 32, 32], length: 1 m}\nfluid: {reynolds: 100, speed: 1 m/s}\nlattice: d3q19\ncollision: bgk\n"
    "precision: f64\nboundaries: {all: wall, z+: {moving_wall: [1, 0, 0]}}\nrun: {steps: 10}\n",
    box);
  fclose(box);
  traced_command(command);
  assert_int_equal(traced.wait_status, 0);
  static const char *const names[] = {"level0/slab0/private", "level0/slab1/private", "level0/slab0/upper_boundary",
                                      "level0/slab1/lower_boundary"};
  uint64_t misses = 0;
  for (size_t i = 0; i < LMI_COUNT(names); i++) {
    const lamina_profile_object *group = traced_object(names[i]);
    assert_int_equal(group->kind, LAMINA_OBJECT_NAMED);
    misses += group->misses;
  }
  size_t count;
  const lamina_profile_object *hottest = lamina_profile_objects(traced.profile, &count);
  assert_non_null(strstr(hottest[0].name, "/private"));
  assert_true(misses > lamina_profile_processes(traced.profile, &count)->counts.of[LAMINA_COUNT_MEMORY_READ_LINES] / 2);
  /* 10 steps of 32^3 cells of 19 doubles, read and written once: 50 MiB each way, within a fifth (planes beside a
   * boundary are read twice, and 1 MiB of cache keeps some). */
  traced_assert_within(traced_phase("steps")->of[LAMINA_COUNT_MEMORY_READ_LINES], 10 * 32 * 32 * 32 * 19 / 8, 0.2);
}

LMI_TEST_MAIN(cmocka_unit_test_teardown(a_thousand_children_are_a_thousand_profiles, traced_close),
              cmocka_unit_test_teardown(ten_million_blocks_are_one_object, traced_close),
              cmocka_unit_test_teardown(hpcc_runs_on_two_ranks, traced_close),
              cmocka_unit_test_teardown(hypre_solves_on_two_ranks, traced_close),
              cmocka_unit_test_teardown(superlu_solves, traced_close),
              cmocka_unit_test_teardown(groups_of_the_flow_are_objects, traced_close))
