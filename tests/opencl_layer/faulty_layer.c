/* An OpenCL layer for tests (OPENCL_LAYERS, ocl-icd 2.3): a driver that is broken, from the Nth
 * call on of the whole process. Builds of the device's own probes do not count: which of them there
 * are depends on the driver.
 *
 *   HET_LAYER_CRASH_LISTING  set: clGetDeviceIDs crashes
 *   HET_LAYER_CRASH_BUILD    N: clBuildProgram crashes
 *   HET_LAYER_HANG_BUILD     N: clBuildProgram does not return
 *   HET_LAYER_CRASH_LAUNCH   N: clEnqueueNDRangeKernel crashes
 *   HET_LAYER_HANG_LAUNCH    N: clEnqueueNDRangeKernel does not return
 *   HET_LAYER_WRONG          N: every Nth launch is left out, and says that it was done
 *   HET_LAYER_NOISE          set: every launch prints a line of 200 characters to both outputs
 */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "layer.h"

static atomic_int builds, launches;

/* 0 where the variable is not set. */
static int number(const char* variable) {
  const char* value = getenv(variable);
  return value != NULL ? atoi(value) : 0;
}

static int is_due(const char* variable, int call) {
  const int first = number(variable);
  return first > 0 && call >= first;
}

static void crash(void) {
  fprintf(stderr, "the tests' driver gives up\n");
  /* A true fault, again and again: a compiler's handler tidies up and returns. */
  volatile int* const nowhere = NULL;
  for (;;) *nowhere = 1;
}

static void hang(void) {
  for (;;) pause();
}

static cl_int CL_API_CALL device_ids(cl_platform_id platform, cl_device_type type, cl_uint count,
                                     cl_device_id* devices, cl_uint* count_ret) {
  if (getenv("HET_LAYER_CRASH_LISTING") != NULL) crash();
  return next->clGetDeviceIDs(platform, type, count, devices, count_ret);
}

static int is_probe(cl_program program) {
  size_t size = 0;
  char* source = NULL;
  int found = 0;
  if (next->clGetProgramInfo(program, CL_PROGRAM_SOURCE, 0, NULL, &size) == CL_SUCCESS &&
      size > 0 && (source = malloc(size)) != NULL &&
      next->clGetProgramInfo(program, CL_PROGRAM_SOURCE, size, source, NULL) == CL_SUCCESS) {
    found = strstr(source, "void probe(") != NULL;
  }
  free(source);
  return found;
}

static cl_int CL_API_CALL build_program(cl_program program, cl_uint count,
                                        const cl_device_id* devices, const char* options,
                                        void(CL_CALLBACK* notify)(cl_program, void*), void* user) {
  const int call = is_probe(program) ? 0 : ++builds;
  if (is_due("HET_LAYER_CRASH_BUILD", call)) crash();
  if (is_due("HET_LAYER_HANG_BUILD", call)) hang();
  return next->clBuildProgram(program, count, devices, options, notify, user);
}

static cl_int CL_API_CALL enqueue_kernel(cl_command_queue queue, cl_kernel kernel, cl_uint work_dim,
                                         const size_t* offset, const size_t* global,
                                         const size_t* local, cl_uint count, const cl_event* list,
                                         cl_event* event) {
  const int call = ++launches;
  if (getenv("HET_LAYER_NOISE") != NULL) {
    printf("%0200d\n", call);
    fflush(stdout);
    fprintf(stderr, "%0200d\n", call);
  }
  if (is_due("HET_LAYER_CRASH_LAUNCH", call)) crash();
  if (is_due("HET_LAYER_HANG_LAUNCH", call)) hang();
  const int every = number("HET_LAYER_WRONG");
  if (every > 0 && call % every == 0) {
    return next->clEnqueueMarkerWithWaitList(queue, count, list, event);
  }
  return next->clEnqueueNDRangeKernel(queue, kernel, work_dim, offset, global, local, count, list,
                                      event);
}

CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info what, size_t size, void* value,
                                               size_t* size_ret) {
  return answer_layer_info("faulty", what, size, value, size_ret);
}

CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint entries, const cl_icd_dispatch* target,
                                            cl_uint* entries_ret, const cl_icd_dispatch** layer) {
  const cl_int code = begin_layer(entries, target, entries_ret, layer);
  if (code != CL_SUCCESS) return code;
  own.clGetDeviceIDs = device_ids;
  own.clBuildProgram = build_program;
  own.clEnqueueNDRangeKernel = enqueue_kernel;
  return CL_SUCCESS;
}
