/* An OpenCL layer for tests (OPENCL_LAYERS, ocl-icd 2.3) that suits Oclgrind 21.10. One program is
 * built at a time: there two threads that build crash, which OpenCL allows. With HET_LAYER_KERNELS
 * in the environment every launch is waited for and is a line in the file of that path: the
 * kernel's name, its work-items, milliseconds; with HET_LAYER_BUILDS every program is one in that of that path: how many
 * milliseconds it took to build, and its kernels.
 */
#define CL_TARGET_OPENCL_VERSION 300
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "layer.h"

enum { LONGEST_NAME = 256, LONGEST_NAMES = 4096 };

static pthread_mutex_t building = PTHREAD_MUTEX_INITIALIZER;
static FILE* launches;
static FILE* builds;

static double now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static cl_int CL_API_CALL build_program(cl_program program, cl_uint count,
                                        const cl_device_id* devices, const char* options,
                                        void(CL_CALLBACK* done)(cl_program, void*), void* data) {
  pthread_mutex_lock(&building);
  const double begin = now_ms();
  const cl_int code = next->clBuildProgram(program, count, devices, options, done, data);
  if (builds != NULL) {
    char names[LONGEST_NAMES] = "";
    const double end = now_ms();
    next->clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, sizeof names, names, NULL);
    fprintf(builds, "%.1f %s\n", end - begin, names);
  }
  pthread_mutex_unlock(&building);
  return code;
}

static cl_int CL_API_CALL enqueue_kernel(cl_command_queue queue, cl_kernel kernel,
                                         cl_uint dimensions, const size_t* offset,
                                         const size_t* items, const size_t* group, cl_uint count,
                                         const cl_event* list, cl_event* event) {
  char name[LONGEST_NAME] = "";
  next->clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL);
  size_t all = 1;
  for (cl_uint i = 0; i < dimensions; ++i) all *= items[i];
  const double begin = now_ms();
  const cl_int code = next->clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, items, group,
                                                   count, list, event);
  next->clFinish(queue);
  fprintf(launches, "%s %zu %.3f\n", name, all, now_ms() - begin);
  return code;
}

static FILE* opened(const char* variable) {
  const char* const path = getenv(variable);
  FILE* const file = path != NULL ? fopen(path, "a") : NULL;
  if (path != NULL && file == NULL) perror(path);
  if (file != NULL) setvbuf(file, NULL, _IOLBF, BUFSIZ);
  return file;
}

CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info what, size_t size, void* value,
                                               size_t* size_ret) {
  return answer_layer_info("recording", what, size, value, size_ret);
}

CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint entries, const cl_icd_dispatch* target,
                                            cl_uint* entries_ret, const cl_icd_dispatch** layer) {
  const cl_int code = begin_layer(entries, target, entries_ret, layer);
  if (code != CL_SUCCESS) return code;
  own.clBuildProgram = build_program;
  launches = opened("HET_LAYER_KERNELS");
  builds = opened("HET_LAYER_BUILDS");
  if (launches != NULL) own.clEnqueueNDRangeKernel = enqueue_kernel;
  return CL_SUCCESS;
}
