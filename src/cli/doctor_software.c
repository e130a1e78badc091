/* SPDX-License-Identifier: Apache-2.0 */
/* What was built in, what programs lie on the path, and whether a GPU can be reached. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <lamina/features.h>
#include <lamina/record.h>
#include <lamina/version.h>

#include "doctor.h"

static void examine_build(lmi_doctor *doctor)
{
  static const char topic[] = "This build";
  lmi_doctor_add(doctor, topic, "lamina", LMI_FINDING_OK, "%s, commit %s, %s", lamina_version(), lamina_build_commit(),
                 lamina_build_compiler());
  for (size_t i = 0; i < lamina_feature_count(); i++) {
    const lamina_feature *feature = lamina_feature_at(i);
    if (feature->is_built) {
      lmi_doctor_add(doctor, topic, feature->name, LMI_FINDING_OK, "%s%s%s", feature->version,
                     feature->version[0] != '\0' ? ": " : "", feature->purpose);
    } else {
      lmi_doctor_add(doctor, topic, feature->name, LMI_FINDING_MISSING, "not built in: %s", feature->purpose);
      lmi_doctor_fix(doctor, "%s", feature->fix);
    }
  }
}

static void examine_programs(lmi_doctor *doctor)
{
  static const struct {
    const char *name, *purpose, *package;
  } programs[] = {
    {"valgrind", "exact traces ('record --source trace')", "valgrind"},
    {"gnuplot", "plots in reports and beside profiles", "gnuplot-nox"},
    {"mpirun", "runs on several ranks", "openmpi-bin"},
  };
  for (size_t i = 0; i < LMI_COUNT(programs); i++) {
    char path[512];
    if (lamina_find_program(programs[i].name, path, sizeof path)) {
      lmi_doctor_add(doctor, "Programs", programs[i].name, LMI_FINDING_OK, "%.200s: %s", path, programs[i].purpose);
    } else {
      lmi_doctor_add(doctor, "Programs", programs[i].name, LMI_FINDING_MISSING, "not on the path: %s",
                     programs[i].purpose);
      lmi_doctor_fix(doctor, "install %s", programs[i].package);
    }
  }
}

void lmi_doctor_examine_software(lmi_doctor *doctor)
{
  examine_build(doctor);
  examine_programs(doctor);
}

/* The few calls that the doctor needs; results are CUresult and nvrtcResult, where 0 is success. */
struct driver_calls {
  int (*init)(unsigned flags);
  int (*version)(int *version);
  int (*device_count)(int *count);
  int (*device_name)(char *name, int bytes, int device);
  int (*device_memory)(size_t *bytes, int device);
};

struct compiler_calls {
  int (*version)(int *major, int *minor);
};

static void examine_devices(lmi_doctor *doctor, const struct driver_calls *driver)
{
  int count = 0, version = 0;
  const int failure = driver->init(0);
  if (failure != 0 || driver->device_count(&count) != 0 || count == 0) {
    lmi_doctor_add(doctor, "GPU", "driver", LMI_FINDING_MISSING,
                   "the CUDA driver is here but shows no device (error %d)", failure);
    lmi_doctor_fix(doctor, "check nvidia-smi; in a container start it with --gpus all");
    return;
  }
  driver->version(&version);
  lmi_doctor_add(doctor, "GPU", "driver", LMI_FINDING_OK, "CUDA %d.%d, %d device%s", version / 1000,
                 version % 1000 / 10, count, count == 1 ? "" : "s");
  for (int device = 0; device < count && device < 8; device++) {
    char name[96] = "", bytes[32];
    size_t memory = 0;
    if (driver->device_name(name, (int)sizeof name, device) == 0 && driver->device_memory(&memory, device) == 0)
      lmi_doctor_add(doctor, "GPU", "device", LMI_FINDING_OK, "%d: %s, %s", device, name,
                     lmi_format_bytes((double)memory, bytes));
  }
}

static void examine_driver(lmi_doctor *doctor)
{
  static const char *const names[] = {"libcuda.so.1", NULL};
  static const lmi_symbol symbols[] = {
    {"cuInit", offsetof(struct driver_calls, init), false},
    {"cuDriverGetVersion", offsetof(struct driver_calls, version), false},
    {"cuDeviceGetCount", offsetof(struct driver_calls, device_count), false},
    {"cuDeviceGetName", offsetof(struct driver_calls, device_name), false},
    {"cuDeviceTotalMem_v2", offsetof(struct driver_calls, device_memory), false},
  };
  struct driver_calls driver = {0};
  void *handle = NULL;
  if (lmi_library_open(doctor->ctx, names, symbols, LMI_COUNT(symbols), &driver, &handle) != LAMINA_OK) {
    lamina_error_clear(doctor->ctx);
    lmi_doctor_add(doctor, "GPU", "driver", LMI_FINDING_MISSING,
                   "no CUDA driver (libcuda.so.1): runs use the processor");
    lmi_doctor_fix(doctor, "with an NVIDIA GPU: install its driver; without one nothing is needed");
    return;
  }
  examine_devices(doctor, &driver);
  lmi_library_close(handle);
}

static void examine_compiler(lmi_doctor *doctor)
{
  static const char *const names[] = {"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", NULL};
  static const lmi_symbol symbols[] = {{"nvrtcVersion", offsetof(struct compiler_calls, version), false}};
  struct compiler_calls compiler = {0};
  void *handle = NULL;
  int major = 0, minor = 0;
  if (lmi_library_open(doctor->ctx, names, symbols, LMI_COUNT(symbols), &compiler, &handle) == LAMINA_OK &&
      compiler.version(&major, &minor) == 0) {
    lmi_doctor_add(doctor, "GPU", "nvrtc", LMI_FINDING_OK, "kernel compiler %d.%d", major, minor);
  } else {
    lamina_error_clear(doctor->ctx);
    lmi_doctor_add(doctor, "GPU", "nvrtc", LMI_FINDING_MISSING, "no NVRTC: kernels cannot be compiled for a GPU");
    lmi_doctor_fix(doctor, "with an NVIDIA GPU: install libnvrtc of CUDA 12 or later, or put it on LD_LIBRARY_PATH");
  }
  lmi_library_close(handle);
}

void lmi_doctor_examine_cuda(lmi_doctor *doctor)
{
  examine_driver(doctor);
  examine_compiler(doctor);
}
