/* An OpenCL layer for tests (OPENCL_LAYERS, ocl-icd 2.3): lies over a driver, counts its objects
 * and fails where the environment says so. Each variable holds a number N, from which call on; it
 * is read at every call, so that a process may set it between two of its steps. Another number
 * counts anew.
 *
 *   HET_LAYER_FAIL_ALLOCATION  clCreateBuffer fails with CL_MEM_OBJECT_ALLOCATION_FAILURE
 *   HET_LAYER_LOSE_DEVICE      clEnqueueNDRangeKernel, and then every other command, fails with the
 *                              code in HET_LAYER_LOST_CODE (CL_DEVICE_NOT_AVAILABLE without it)
 *   HET_LAYER_FAIL_EVENT       events end with the status CL_OUT_OF_RESOURCES
 *   HET_LAYER_FAIL_BUILD       clBuildProgram fails
 *   HET_LAYER_COUNT            at exit, "live ..." on stdout: objects that were not released
 */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layer.h"

typedef struct {
  const char* variable;
  char value[16];
  atomic_int left;
} Failure;
static Failure allocation = {"HET_LAYER_FAIL_ALLOCATION", "", 0};
static Failure device = {"HET_LAYER_LOSE_DEVICE", "", 0};
static Failure event_status = {"HET_LAYER_FAIL_EVENT", "", 0};
static Failure build = {"HET_LAYER_FAIL_BUILD", "", 0};
static atomic_int device_is_lost;

static atomic_int contexts, queues, buffers, programs, kernels, events;

/* Does this call fail? */
static int fails(Failure* failure) {
  const char* value = getenv(failure->variable);
  if (value == NULL || *value == '\0') {
    failure->value[0] = '\0';
    return 0;
  }
  if (strncmp(value, failure->value, sizeof failure->value - 1) != 0) {
    strncpy(failure->value, value, sizeof failure->value - 1);
    failure->left = atoi(value);
  }
  return failure->left <= 0 || --failure->left == 0;
}

static cl_int lost(void) {
  if (!device_is_lost) return CL_SUCCESS;
  const char* value = getenv(device.variable);
  if (value == NULL || *value == '\0') {
    device_is_lost = 0;
    return CL_SUCCESS;
  }
  const char* code = getenv("HET_LAYER_LOST_CODE");
  return code != NULL ? atoi(code) : CL_DEVICE_NOT_AVAILABLE;
}

#define COUNT_REFERENCES(Object, type, counter)              \
  static cl_int CL_API_CALL retain_##counter(type object) {  \
    const cl_int code = next->clRetain##Object(object);      \
    if (code == CL_SUCCESS) ++counter;                       \
    return code;                                             \
  }                                                          \
  static cl_int CL_API_CALL release_##counter(type object) { \
    const cl_int code = next->clRelease##Object(object);     \
    if (code == CL_SUCCESS) --counter;                       \
    return code;                                             \
  }
COUNT_REFERENCES(Context, cl_context, contexts)
COUNT_REFERENCES(CommandQueue, cl_command_queue, queues)
COUNT_REFERENCES(MemObject, cl_mem, buffers)
COUNT_REFERENCES(Program, cl_program, programs)
COUNT_REFERENCES(Kernel, cl_kernel, kernels)
COUNT_REFERENCES(Event, cl_event, events)

static cl_context CL_API_CALL create_context(
    const cl_context_properties* properties, cl_uint count, const cl_device_id* devices,
    void(CL_CALLBACK* notify)(const char*, const void*, size_t, void*), void* user, cl_int* code) {
  cl_context made = next->clCreateContext(properties, count, devices, notify, user, code);
  if (made != NULL) ++contexts;
  return made;
}

static cl_command_queue CL_API_CALL create_queue(cl_context context, cl_device_id id,
                                                 cl_command_queue_properties properties,
                                                 cl_int* code) {
  cl_command_queue made = next->clCreateCommandQueue(context, id, properties, code);
  if (made != NULL) ++queues;
  return made;
}

static cl_mem CL_API_CALL create_buffer(cl_context context, cl_mem_flags flags, size_t size,
                                        void* host, cl_int* code) {
  if (fails(&allocation)) {
    if (code != NULL) *code = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    return NULL;
  }
  cl_mem made = next->clCreateBuffer(context, flags, size, host, code);
  if (made != NULL) ++buffers;
  return made;
}

static cl_mem CL_API_CALL create_part(cl_mem whole, cl_mem_flags flags, cl_buffer_create_type type,
                                      const void* region, cl_int* code) {
  cl_mem made = next->clCreateSubBuffer(whole, flags, type, region, code);
  if (made != NULL) ++buffers;
  return made;
}

static cl_program CL_API_CALL create_program(cl_context context, cl_uint count, const char** texts,
                                             const size_t* lengths, cl_int* code) {
  cl_program made = next->clCreateProgramWithSource(context, count, texts, lengths, code);
  if (made != NULL) ++programs;
  return made;
}

static cl_program CL_API_CALL load_program(cl_context context, cl_uint count,
                                           const cl_device_id* devices, const size_t* lengths,
                                           const unsigned char** binaries, cl_int* status,
                                           cl_int* code) {
  cl_program made =
      next->clCreateProgramWithBinary(context, count, devices, lengths, binaries, status, code);
  if (made != NULL) ++programs;
  return made;
}

static cl_int CL_API_CALL build_program(cl_program program, cl_uint count,
                                        const cl_device_id* devices, const char* options,
                                        void(CL_CALLBACK* notify)(cl_program, void*), void* user) {
  if (fails(&build)) return CL_BUILD_PROGRAM_FAILURE;
  return next->clBuildProgram(program, count, devices, options, notify, user);
}

static cl_kernel CL_API_CALL create_kernel(cl_program program, const char* name, cl_int* code) {
  cl_kernel made = next->clCreateKernel(program, name, code);
  if (made != NULL) ++kernels;
  return made;
}

static cl_event CL_API_CALL create_user_event(cl_context context, cl_int* code) {
  cl_event made = next->clCreateUserEvent(context, code);
  if (made != NULL) ++events;
  return made;
}

/* Every command: fails on a lost device, and counts the event that it makes. */
#define COMMAND(call)                                \
  const cl_int gone = lost();                        \
  if (gone != CL_SUCCESS) return gone;               \
  const cl_int done = next->call;                    \
  if (done == CL_SUCCESS && event != NULL) ++events; \
  return done

static cl_int CL_API_CALL enqueue_kernel(cl_command_queue queue, cl_kernel kernel, cl_uint work_dim,
                                         const size_t* offset, const size_t* global,
                                         const size_t* local, cl_uint count, const cl_event* list,
                                         cl_event* event) {
  if (fails(&device)) device_is_lost = 1;
  COMMAND(
      clEnqueueNDRangeKernel(queue, kernel, work_dim, offset, global, local, count, list, event));
}

static cl_int CL_API_CALL enqueue_write(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                        size_t offset, size_t size, const void* source,
                                        cl_uint count, const cl_event* list, cl_event* event) {
  COMMAND(clEnqueueWriteBuffer(queue, buffer, blocking, offset, size, source, count, list, event));
}

static cl_int CL_API_CALL enqueue_read(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                       size_t offset, size_t size, void* target, cl_uint count,
                                       const cl_event* list, cl_event* event) {
  COMMAND(clEnqueueReadBuffer(queue, buffer, blocking, offset, size, target, count, list, event));
}

static cl_int CL_API_CALL enqueue_unmap(cl_command_queue queue, cl_mem buffer, void* address,
                                        cl_uint count, const cl_event* list, cl_event* event) {
  COMMAND(clEnqueueUnmapMemObject(queue, buffer, address, count, list, event));
}

static cl_int CL_API_CALL enqueue_marker(cl_command_queue queue, cl_uint count,
                                         const cl_event* list, cl_event* event) {
  COMMAND(clEnqueueMarkerWithWaitList(queue, count, list, event));
}

static cl_int CL_API_CALL finish(cl_command_queue queue) {
  /* What was enqueued before must not run into memory that goes. */
  const cl_int code = next->clFinish(queue);
  const cl_int gone = lost();
  return gone != CL_SUCCESS ? gone : code;
}

typedef struct {
  void(CL_CALLBACK* notify)(cl_event, cl_int, void*);
  void* user;
} FailedCallback;

static void CL_CALLBACK call_failed(cl_event event, cl_int status, void* user) {
  const FailedCallback callback = *(FailedCallback*)user;
  (void)status;
  free(user);
  callback.notify(event, CL_OUT_OF_RESOURCES, callback.user);
}

static cl_int CL_API_CALL set_callback(cl_event event, cl_int type,
                                       void(CL_CALLBACK* notify)(cl_event, cl_int, void*),
                                       void* user) {
  if (!fails(&event_status)) return next->clSetEventCallback(event, type, notify, user);
  FailedCallback* callback = malloc(sizeof *callback);
  callback->notify = notify;
  callback->user = user;
  return next->clSetEventCallback(event, type, call_failed, callback);
}

static atomic_int wait_has_failed;

static cl_int CL_API_CALL wait_for(cl_uint count, const cl_event* list) {
  const cl_int code = next->clWaitForEvents(count, list);
  if (!fails(&event_status)) return code;
  wait_has_failed = 1;
  return CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
}

static cl_int CL_API_CALL event_info(cl_event event, cl_event_info what, size_t size, void* value,
                                     size_t* size_ret) {
  const cl_int code = next->clGetEventInfo(event, what, size, value, size_ret);
  if (code == CL_SUCCESS && what == CL_EVENT_COMMAND_EXECUTION_STATUS && wait_has_failed &&
      value != NULL) {
    wait_has_failed = 0;
    *(cl_int*)value = CL_OUT_OF_RESOURCES;
  }
  return code;
}

static void print_live(void) {
  printf("live contexts %d queues %d buffers %d programs %d kernels %d events %d\n", contexts,
         queues, buffers, programs, kernels, events);
}

CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info what, size_t size, void* value,
                                               size_t* size_ret) {
  return answer_layer_info("failing", what, size, value, size_ret);
}

CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint entries, const cl_icd_dispatch* target,
                                            cl_uint* entries_ret, const cl_icd_dispatch** layer) {
  const cl_int code = begin_layer(entries, target, entries_ret, layer);
  if (code != CL_SUCCESS) return code;
  own.clCreateContext = create_context;
  own.clCreateCommandQueue = create_queue;
  own.clCreateBuffer = create_buffer;
  own.clCreateSubBuffer = create_part;
  own.clCreateProgramWithSource = create_program;
  own.clCreateProgramWithBinary = load_program;
  own.clBuildProgram = build_program;
  own.clCreateKernel = create_kernel;
  own.clCreateUserEvent = create_user_event;
  own.clEnqueueNDRangeKernel = enqueue_kernel;
  own.clEnqueueWriteBuffer = enqueue_write;
  own.clEnqueueReadBuffer = enqueue_read;
  own.clEnqueueUnmapMemObject = enqueue_unmap;
  own.clEnqueueMarkerWithWaitList = enqueue_marker;
  own.clFinish = finish;
  own.clSetEventCallback = set_callback;
  own.clWaitForEvents = wait_for;
  own.clGetEventInfo = event_info;
#define COUNTED(Object, counter)           \
  own.clRetain##Object = retain_##counter; \
  own.clRelease##Object = release_##counter
  COUNTED(Context, contexts);
  COUNTED(CommandQueue, queues);
  COUNTED(MemObject, buffers);
  COUNTED(Program, programs);
  COUNTED(Kernel, kernels);
  COUNTED(Event, events);
  if (getenv("HET_LAYER_COUNT") != NULL) atexit(print_live);
  return CL_SUCCESS;
}
