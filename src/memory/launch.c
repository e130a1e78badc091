/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "perf_ring.h"

/* In the child, between fork and exec: only calls that are safe there. A gate that closes without a word means that the
 * observer is gone; the program then runs unobserved rather than not at all. */
static _Noreturn void become(char *const argv[], const lmi_launch_world *world, const lmi_launch *launch)
{
  const int gate = launch->gate, verdict = launch->verdict;
  char word = 0;
  ssize_t got = 0;
  do
    got = read(gate, &word, 1);
  while (got < 0 && errno == EINTR);
  if (got == 1 && word == 'x')
    _exit(0);
  if (world->output >= 0) {
    const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    dup2(nothing, STDIN_FILENO);
    dup2(world->output, STDOUT_FILENO);
    dup2(world->output, STDERR_FILENO);
  }
  sigprocmask(SIG_SETMASK, &launch->mask_before, NULL);
  signal(SIGXFSZ, SIG_DFL); /* the command line ignores these two for itself; exec would pass that on */
  signal(SIGPIPE, SIG_DFL);
  execvpe(argv[0], argv, world->environment != NULL ? world->environment : environ);
  const int error_number = errno;
  if (write(verdict, &error_number, sizeof error_number) < 0)
    _exit(125);
  _exit(error_number == ENOENT ? 127 : 126);
}

static void close_pair(int pair[2])
{
  if (pair[0] >= 0)
    close(pair[0]);
  if (pair[1] >= 0)
    close(pair[1]);
}

static void block_signals(lmi_launch *launch)
{
  static const int signals[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
  sigset_t set;
  sigemptyset(&set);
  for (size_t i = 0; i < LMI_COUNT(signals); i++)
    sigaddset(&set, signals[i]);
  sigprocmask(SIG_BLOCK, &set, &launch->mask_before);
  launch->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

lamina_status lmi_launch_prepare(lamina_context *ctx, char *const argv[], const lmi_launch_world *world,
                                 lmi_launch *launch)
{
  int gate[2] = {-1, -1}, verdict[2] = {-1, -1};
  *launch = (lmi_launch){.pid = -1, .gate = -1, .verdict = -1, .pid_fd = -1, .signal_fd = -1};
  if (pipe2(gate, O_CLOEXEC) != 0 || pipe2(verdict, O_CLOEXEC) != 0) {
    close_pair(gate);
    return lmi_fail_errno(ctx, LAMINA_ERROR_SYSTEM, errno, "a pipe to the program cannot be made");
  }
  block_signals(launch);
  launch->pid = fork();
  if (launch->pid == 0) {
    close(gate[1]); /* else the child would wait for itself when the observer dies */
    launch->gate = gate[0];
    launch->verdict = verdict[1];
    become(argv, world, launch);
  }
  const int error_number = errno;
  close(gate[0]);
  close(verdict[1]);
  launch->gate = gate[1];
  launch->verdict = verdict[0];
  if (launch->pid < 0) {
    lmi_launch_close(launch);
    return lmi_fail_errno(ctx, LAMINA_ERROR_SYSTEM, error_number, "a process cannot be started");
  }
  launch->pid_fd = (int)syscall(SYS_pidfd_open, launch->pid, 0);
  return LAMINA_OK;
}

static void open_gate(lmi_launch *launch, char word)
{
  struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
  sigaction(SIGPIPE, &ignore, &before);
  if (write(launch->gate, &word, 1) != 1)
    kill(launch->pid, SIGKILL); /* it is gone already */
  close(launch->gate);
  launch->gate = -1;
  sigaction(SIGPIPE, &before, NULL);
}

int lmi_launch_go(lmi_launch *launch)
{
  int error_number = 0;
  ssize_t got = 0;
  open_gate(launch, 'g');
  do
    got = read(launch->verdict, &error_number, sizeof error_number);
  while (got < 0 && errno == EINTR);
  return got == (ssize_t)sizeof error_number ? error_number : 0;
}

void lmi_launch_cancel(lmi_launch *launch)
{
  int wait_status = 0;
  open_gate(launch, 'x');
  while (waitpid(launch->pid, &wait_status, 0) < 0 && errno == EINTR)
    ;
}

void lmi_launch_forward_signals(const lmi_launch *launch)
{
  struct signalfd_siginfo info;
  while (launch->signal_fd >= 0 && read(launch->signal_fd, &info, sizeof info) == (ssize_t)sizeof info) {
    const int number = (int)info.ssi_signo;
    const bool from_terminal = info.ssi_code > 0;
    if (number == SIGTERM || number == SIGHUP || !from_terminal)
      kill(launch->pid, number);
  }
}

void lmi_launch_wait(const lmi_launch *launch, const struct lmi_perf_set *events, int milliseconds)
{
  const int others[] = {launch->pid_fd, launch->signal_fd};
  if (events != NULL) {
    lmi_perf_set_wait(events, others, LMI_COUNT(others), milliseconds);
    return;
  }
  struct pollfd polls[LMI_COUNT(others)];
  for (size_t i = 0; i < LMI_COUNT(others); i++)
    polls[i] = (struct pollfd){.fd = others[i], .events = POLLIN};
  (void)poll(polls, LMI_COUNT(others), milliseconds);
}

bool lmi_launch_has_ended(lmi_launch *launch, int *wait_status)
{
  return waitpid(launch->pid, wait_status, WNOHANG) == launch->pid;
}

void lmi_launch_close(lmi_launch *launch)
{
  const int fds[] = {launch->gate, launch->verdict, launch->pid_fd, launch->signal_fd};
  for (size_t i = 0; i < LMI_COUNT(fds); i++)
    if (fds[i] >= 0)
      close(fds[i]);
  sigprocmask(SIG_SETMASK, &launch->mask_before, NULL);
  launch->gate = launch->verdict = launch->pid_fd = launch->signal_fd = -1;
}
