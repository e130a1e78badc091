/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_TARGET [SECONDS [SEED]]; without SECONDS the environment's LAMINA_FUZZ_SECONDS, or 5. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "fuzz.h"

enum { MOST_SEEDS = 64, MOST_BYTES = 1 << 18, HANG_SECONDS = 20, MOST_CHANGES = 8 };

typedef struct input {
  uint8_t data[MOST_BYTES];
  size_t bytes;
} input;

static input seeds[MOST_SEEDS];
static size_t seed_count;

static void add_seed(const void *data, size_t bytes)
{
  if (seed_count == MOST_SEEDS || bytes > MOST_BYTES / 2)
    return;
  memcpy(seeds[seed_count].data, data, bytes);
  seeds[seed_count++].bytes = bytes;
}

void lmi_fuzz_add_file(const char *path, lmi_fuzz_add *add)
{
  static uint8_t data[MOST_BYTES];
  FILE *file = fopen(path, "rb");
  if (file == NULL)
    return;
  const size_t bytes = fread(data, 1, sizeof data, file);
  fclose(file);
  add(data, bytes);
}

/* ---- a context that watches sizes ---- */

static void *allocate(void *user, size_t bytes, size_t alignment)
{
  (void)user;
  if (bytes > LMI_FUZZ_MOST_BYTES) {
    fprintf(stderr, "an input of a few bytes asked for %zu bytes\n", bytes);
    abort();
  }
  void *memory = NULL;
  return posix_memalign(&memory, alignment, bytes) == 0 ? memory : NULL;
}

static void release(void *user, void *memory)
{
  (void)user;
  free(memory);
}

lamina_context *lmi_fuzz_context(void)
{
  const lamina_allocator allocator = {.allocate = allocate, .release = release};
  const lamina_context_options options = {.threads = 1, .allocator = &allocator};
  lamina_context *ctx = NULL;
  if (lamina_context_create(&options, &ctx) != LAMINA_OK)
    abort();
  return ctx;
}

/* ---- changes ---- */

static uint64_t state = 0x9e3779b97f4a7c15;

/* xorshift64*: any number below `bound`. */
static size_t pick(size_t bound)
{
  state ^= state >> 12;
  state ^= state << 25;
  state ^= state >> 27;
  return bound > 0 ? (size_t)((state * 0x2545f4914f6cdd1dULL) >> 11) % bound : 0;
}

static void replace(input *in, size_t at, size_t length, const void *by, size_t by_bytes)
{
  if (at + length > in->bytes || in->bytes - length + by_bytes > MOST_BYTES)
    return;
  memmove(in->data + at + by_bytes, in->data + at + length, in->bytes - at - length);
  memcpy(in->data + at, by, by_bytes);
  in->bytes = in->bytes - length + by_bytes;
}

static void change_bit(input *in)
{
  in->data[pick(in->bytes)] ^= (uint8_t)(1U << pick(8));
}

static void change_byte(input *in)
{
  in->data[pick(in->bytes)] = (uint8_t)pick(256);
}

static void change_word(input *in)
{
  static const uint64_t words[] = {0,          1,          0x7f,       0xff,       0xffff,
                                   0x7fffffff, 0xffffffff, 1ULL << 32, 1ULL << 63, UINT64_MAX};
  const size_t bytes = (size_t)1 << pick(4);
  if (in->bytes > bytes)
    memcpy(in->data + pick(in->bytes - bytes), &words[pick(sizeof words / sizeof *words)], bytes);
}

static void cut_end(input *in)
{
  in->bytes = pick(in->bytes) + 1;
}

static void drop_piece(input *in)
{
  const size_t at = pick(in->bytes);
  replace(in, at, pick(in->bytes - at < 64 ? in->bytes - at : 64), "", 0);
}

static void repeat_piece(input *in)
{
  uint8_t piece[256];
  const size_t from = pick(in->bytes);
  const size_t most = in->bytes - from < sizeof piece ? in->bytes - from : sizeof piece;
  const size_t bytes = pick(most) + 1;
  if (bytes <= most) {
    memcpy(piece, in->data + from, bytes);
    replace(in, pick(in->bytes), 0, piece, bytes);
  }
}

/* The run of digits, signs and points at a random place becomes another number. */
static void change_number(input *in)
{
  static const char *const numbers[] = {"0",          "-1",
                                        "1e400",      "nan",
                                        ".inf",       "99999999999999999999",
                                        "1e-320",     "-0.0",
                                        "2147483648", "9223372036854775807",
                                        "1e9",        "~",
                                        "[1, 2]",     "{a: b}"};
  const size_t start = pick(in->bytes);
  size_t at = start, end = start;
  while (at < in->bytes && strchr("0123456789+-.e", in->data[at]) == NULL)
    at++;
  end = at;
  while (end < in->bytes && in->data[end] != 0 && strchr("0123456789+-.e", in->data[end]) != NULL)
    end++;
  const char *by = numbers[pick(sizeof numbers / sizeof *numbers)];
  if (at < end)
    replace(in, at, end - at, by, strlen(by));
}

/* A word of another seed in place of one of this. */
static void insert_other(input *in)
{
  const input *other = &seeds[pick(seed_count)];
  const size_t from = pick(other->bytes), at = pick(in->bytes);
  const size_t bytes = pick(other->bytes - from < 128 ? other->bytes - from : 128);
  replace(in, at, 0, other->data + from, bytes);
}

static void change(input *in)
{
  static void (*const changes[])(input *) = {change_bit,   change_byte,  change_word,   cut_end,      drop_piece,
                                             repeat_piece, insert_other, change_number, change_number};
  for (size_t i = pick(MOST_CHANGES) + 1; i > 0 && in->bytes > 0; i--)
    changes[pick(sizeof changes / sizeof *changes)](in);
}

/* Written over, never emptied first: file systems flush a file that was cut to nothing. */
static void write_input(const input *in)
{
  static int descriptor = -1;
  if (descriptor < 0)
    descriptor = open("input", O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (descriptor < 0 || pwrite(descriptor, in->data, in->bytes, 0) != (ssize_t)in->bytes ||
      ftruncate(descriptor, (off_t)in->bytes) != 0) {
    perror("input");
    exit(2);
  }
}

static double seconds_now(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void feed(const input *in)
{
  const struct itimerval limit = {.it_value = {.tv_sec = HANG_SECONDS}};
  write_input(in);
  setitimer(ITIMER_PROF, &limit, NULL); // processor time: a hang ends the program and the input stays
  lmi_fuzz_one(in->data, in->bytes);
}

int main(int argc, char **argv)
{
  const char *environment = getenv("LAMINA_FUZZ_SECONDS");
  const double seconds = argc > 1 ? atof(argv[1]) : environment != NULL ? atof(environment) : 5.0;
  if (argc > 2)
    state ^= strtoull(argv[2], NULL, 10) * 0x9e3779b97f4a7c15;
  lmi_fuzz_seed(add_seed);
  if (seed_count == 0) {
    fprintf(stderr, "there is no seed\n");
    return 2;
  }
  static input changed;
  unsigned long long count = 0;
  for (size_t i = 0; i < seed_count; i++)
    feed(&seeds[i]);
  for (const double end = seconds_now() + seconds; seconds_now() < end; count++) {
    changed = seeds[pick(seed_count)];
    change(&changed);
    feed(&changed);
  }
  printf("%llu inputs from %zu seeds\n", count, seed_count);
  return 0;
}
