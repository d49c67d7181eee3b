/* An OpenCL layer for tests (OPENCL_LAYERS, ocl-icd 2.3): counts the bytes that commands move
 * between host and device. With HET_LAYER_DISCRETE in the environment the device has memory of its
 * own: CL_DEVICE_HOST_UNIFIED_MEMORY is false.
 *
 * The process asks through dlopen() of the layer's path and het_layer_bytes().
 */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "layer.h"

static atomic_ullong written, read_back, copied, mapped;

/* Bytes so far: "written" to the device, "read", "copied" on it, "mapped". */
unsigned long long het_layer_bytes(const char* what);
unsigned long long het_layer_bytes(const char* what) {
  if (strcmp(what, "written") == 0) return written;
  if (strcmp(what, "read") == 0) return read_back;
  if (strcmp(what, "copied") == 0) return copied;
  return mapped;
}

static cl_int CL_API_CALL device_info(cl_device_id device, cl_device_info what, size_t size,
                                      void* value, size_t* size_ret) {
  const cl_bool no = CL_FALSE;
  if (what == CL_DEVICE_HOST_UNIFIED_MEMORY && getenv("HET_LAYER_DISCRETE") != NULL) {
    return answer(&no, sizeof no, size, value, size_ret);
  }
  return next->clGetDeviceInfo(device, what, size, value, size_ret);
}

static cl_int CL_API_CALL enqueue_write(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                        size_t offset, size_t size, const void* source,
                                        cl_uint count, const cl_event* list, cl_event* event) {
  written += size;
  return next->clEnqueueWriteBuffer(queue, buffer, blocking, offset, size, source, count, list,
                                    event);
}

static cl_int CL_API_CALL enqueue_read(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                       size_t offset, size_t size, void* target, cl_uint count,
                                       const cl_event* list, cl_event* event) {
  read_back += size;
  return next->clEnqueueReadBuffer(queue, buffer, blocking, offset, size, target, count, list,
                                   event);
}

static cl_int CL_API_CALL enqueue_copy(cl_command_queue queue, cl_mem source, cl_mem target,
                                       size_t from, size_t to, size_t size, cl_uint count,
                                       const cl_event* list, cl_event* event) {
  copied += size;
  return next->clEnqueueCopyBuffer(queue, source, target, from, to, size, count, list, event);
}

static void* CL_API_CALL enqueue_map(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                     cl_map_flags flags, size_t offset, size_t size, cl_uint count,
                                     const cl_event* list, cl_event* event, cl_int* code) {
  mapped += size;
  return next->clEnqueueMapBuffer(queue, buffer, blocking, flags, offset, size, count, list, event,
                                  code);
}

CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info what, size_t size, void* value,
                                               size_t* size_ret) {
  return answer_layer_info("copying", what, size, value, size_ret);
}

CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint entries, const cl_icd_dispatch* target,
                                            cl_uint* entries_ret, const cl_icd_dispatch** layer) {
  const cl_int code = begin_layer(entries, target, entries_ret, layer);
  if (code != CL_SUCCESS) return code;
  own.clGetDeviceInfo = device_info;
  own.clEnqueueWriteBuffer = enqueue_write;
  own.clEnqueueReadBuffer = enqueue_read;
  own.clEnqueueCopyBuffer = enqueue_copy;
  own.clEnqueueMapBuffer = enqueue_map;
  return CL_SUCCESS;
}
