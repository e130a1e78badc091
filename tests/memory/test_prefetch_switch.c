/* SPDX-License-Identifier: Apache-2.0 */
/* The switch of the prefetchers on a machine of files: registers of two processors with a hole in their numbers. */
#define _GNU_SOURCE
#include "support/test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "memory/prefetch_switch.h"

static lamina_context *ctx;
static const char *const registers[] = {"machine/dev/cpu/0/msr", "machine/dev/cpu/3/msr"};
static const uint64_t BEFORE[] = {0x20, 0x21}; /* the second has its streamer off already */

static void write_register(const char *path, uint64_t value)
{
  const int file = open(path, O_RDWR | O_CREAT, 0600);
  assert_true(file >= 0);
  assert_int_equal(pwrite(file, &value, sizeof value, 0x1a4), sizeof value);
  close(file);
}

static uint64_t read_register(const char *path)
{
  uint64_t value = 0;
  const int file = open(path, O_RDONLY);
  assert_true(file >= 0);
  assert_int_equal(pread(file, &value, sizeof value, 0x1a4), sizeof value);
  close(file);
  return value;
}

static int make_machine(void **state)
{
  (void)state;
  if (system("rm -rf machine; mkdir -p machine/proc machine/dev/cpu/0 machine/dev/cpu/3 machine/dev/cpu/microcode; "
             "printf 'processor\\t: 0\\nvendor_id\\t: GenuineIntel\\ncpu family\\t: 6\\nmodel\\t\\t: 85\\n' "
             "> machine/proc/cpuinfo") != 0)
    return 1;
  for (int i = 0; i < 2; i++)
    write_register(registers[i], BEFORE[i]);
  return lamina_context_create(NULL, &ctx) == LAMINA_OK ? 0 : 1;
}

static int close_context(void **state)
{
  (void)state;
  lamina_context_destroy(ctx);
  return 0;
}

static void assert_registers(uint64_t first, uint64_t second)
{
  assert_int_equal(read_register(registers[0]), first);
  assert_int_equal(read_register(registers[1]), second);
}

static void off_and_back(void **state)
{
  (void)state;
  lmi_prefetch_switch prefetchers;
  assert_int_equal(lmi_prefetch_switch_open(ctx, "machine", &prefetchers), LAMINA_OK);
  assert_int_equal(prefetchers.count, 2);
  assert_registers(0x23, 0x23);
  lmi_prefetch_switch_close(ctx, &prefetchers);
  assert_registers(BEFORE[0], BEFORE[1]);
}

/* Killed in the middle, by what cannot be caught: the guardian gives the registers back. */
static void a_killed_process_leaves_them_as_they_were(void **state)
{
  (void)state;
  int status;
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    lmi_prefetch_switch prefetchers;
    if (lmi_prefetch_switch_open(ctx, "machine", &prefetchers) != LAMINA_OK || read_register(registers[0]) != 0x23)
      _exit(1);
    kill(getpid(), SIGKILL);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  for (int wait = 0; wait < 500 && read_register(registers[0]) != BEFORE[0]; wait++)
    usleep(10000);
  usleep(50000);
  assert_registers(BEFORE[0], BEFORE[1]);
}

static void what_cannot_be_switched_is_told(void **state)
{
  (void)state;
  lmi_prefetch_switch prefetchers;
  assert_int_equal(system("sed -i s/GenuineIntel/AuthenticAMD/ machine/proc/cpuinfo"), 0);
  assert_int_equal(lmi_prefetch_switch_open(ctx, "machine", &prefetchers), LAMINA_UNAVAILABLE);
  assert_non_null(strstr(lamina_error_message(ctx), "--source trace"));
  assert_registers(BEFORE[0], BEFORE[1]);
  lamina_error_clear(ctx);
  assert_int_equal(system("sed -i s/AuthenticAMD/GenuineIntel/ machine/proc/cpuinfo; rm -r machine/dev"), 0);
  assert_int_equal(lmi_prefetch_switch_open(ctx, "machine", &prefetchers), LAMINA_UNAVAILABLE);
  assert_non_null(strstr(lamina_error_message(ctx), "modprobe msr"));
}

LMI_TEST_MAIN(cmocka_unit_test_setup_teardown(off_and_back, make_machine, close_context),
              cmocka_unit_test_setup_teardown(a_killed_process_leaves_them_as_they_were, make_machine, close_context),
              cmocka_unit_test_setup_teardown(what_cannot_be_switched_is_told, make_machine, close_context))
