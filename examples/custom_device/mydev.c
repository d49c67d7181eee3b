/* A device of one's own, MYDEV: a thread that takes requests from a queue and computes a few
 * operators in float32, in plain C. What a vendor's library does with its driver stands here in the
 * functions of the table at the end; docs/writing_a_device.md goes through them. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "inference/custom_device.h"
#include "operators.h"
#include "program.h"

typedef struct Request Request;

/* The device: one worker, one queue. */
typedef struct {
  pthread_t worker;
  pthread_mutex_t mutex; /* protects what follows */
  pthread_cond_t changed;
  Request *first, *last; /* waiting */
  int is_closing;
  uint64_t executions;
} Device;

typedef struct {
  Device* device;
  Program program;
  HetValueDesc* ports; /* inputs, then outputs */
  int is_profiled;
} Compiled;

struct Request {
  Compiled* compiled;
  float* scratch;
  int64_t* times_us; /* of each step, in the last execution */
  atomic_int is_cancelled;
  const HetDeviceExecution* execution;
  Request* next;
};

static int32_t failed(const HetDeviceSink* sink, int32_t code, const char* reason) {
  sink->set_error(sink->context, reason);
  return code;
}

static int64_t now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* ---- the worker ---- */

/* Where a value of the program lies in this execution. */
static float* place_of(const Request* request, const Value* value) {
  switch (value->place) {
    case PLACE_CONSTANT:
      return (float*)request->compiled->program.constants + value->index;
    case PLACE_INPUT:
      return (float*)request->execution->inputs[value->index]->data;
    case PLACE_OUTPUT:
      return (float*)request->execution->outputs[value->index]->data;
    default:
      return request->scratch + value->index;
  }
}

static int32_t execute(Request* request) {
  const Program* program = &request->compiled->program;
  for (uint32_t i = 0; i < program->head->step_count; ++i) {
    const Step* step = &program->steps[i];
    const Value* values[MYDEV_MOST_INPUTS] = {NULL};
    const float* sources[MYDEV_MOST_INPUTS] = {NULL};
    const Value* output = &program->values[step->output];
    if (atomic_load(&request->is_cancelled)) return HET_CODE_CANCELLED;
    for (uint32_t k = 0; k < step->input_count; ++k) {
      values[k] = &program->values[step->inputs[k]];
      sources[k] = place_of(request, values[k]);
    }
    const int64_t begin = now_us();
    step_run(step, values, sources, output, place_of(request, output));
    request->times_us[i] = now_us() - begin;
  }
  return HET_CODE_OK;
}

static void* work(void* argument) {
  Device* device = (Device*)argument;
  pthread_mutex_lock(&device->mutex);
  for (;;) {
    while (device->first == NULL && !device->is_closing)
      pthread_cond_wait(&device->changed, &device->mutex);
    Request* request = device->first;
    if (request == NULL) break;
    device->first = request->next;
    ++device->executions;
    pthread_mutex_unlock(&device->mutex);
    const int32_t code = execute(request);
    const HetDeviceExecution* execution = request->execution;
    /* From here on the request may be started again or destroyed. */
    execution->complete(execution->context, execution->number, code,
                        code == HET_CODE_CANCELLED ? "cancelled between two nodes" : NULL);
    pthread_mutex_lock(&device->mutex);
  }
  pthread_mutex_unlock(&device->mutex);
  return NULL;
}

/* ---- the device ---- */

static int32_t open_device(uint32_t index, const HetDeviceSink* sink, void** opened) {
  (void)index; /* there is one */
  Device* device = (Device*)calloc(1, sizeof *device);
  if (device == NULL) return failed(sink, HET_CODE_OUT_OF_MEMORY, "no memory for the device");
  pthread_mutex_init(&device->mutex, NULL);
  pthread_cond_init(&device->changed, NULL);
  if (pthread_create(&device->worker, NULL, work, device) != 0) {
    pthread_cond_destroy(&device->changed);
    pthread_mutex_destroy(&device->mutex);
    free(device);
    return failed(sink, HET_CODE_OUT_OF_MEMORY, "no thread for the device");
  }
  *opened = device;
  return HET_CODE_OK;
}

static void close_device(void* opened) {
  Device* device = (Device*)opened;
  pthread_mutex_lock(&device->mutex);
  device->is_closing = 1;
  pthread_cond_signal(&device->changed);
  pthread_mutex_unlock(&device->mutex);
  pthread_join(device->worker, NULL);
  pthread_cond_destroy(&device->changed);
  pthread_mutex_destroy(&device->mutex);
  free(device);
}

static int32_t get_property(void* opened, const char* name, const HetDeviceSink* sink) {
  Device* device = (Device*)opened;
  if (strcmp(name, "FULL_DEVICE_NAME") == 0) {
    sink->set_text(sink->context, "An example of a device in C");
  } else if (strcmp(name, "OPTIMIZATION_CAPABILITIES") == 0) {
    sink->set_text(sink->context, "FP32");
  } else if (strcmp(name, "MYDEV_EXECUTIONS") == 0) {
    char text[24];
    pthread_mutex_lock(&device->mutex);
    snprintf(text, sizeof text, "%llu", (unsigned long long)device->executions);
    pthread_mutex_unlock(&device->mutex);
    sink->set_text(sink->context, text);
  } else {
    return HET_CODE_NOT_FOUND;
  }
  return HET_CODE_OK;
}

/* ---- memory ---- */

static int32_t allocate_memory(void* device, uint64_t size_bytes, const HetDeviceSink* sink,
                               void** memory, void** address) {
  (void)device;
  const uint64_t rounded =
      (size_bytes + HET_DEVICE_ALIGNMENT - 1) / HET_DEVICE_ALIGNMENT * HET_DEVICE_ALIGNMENT;
  if (rounded < size_bytes) return failed(sink, HET_CODE_OUT_OF_MEMORY, "no memory of that size");
  *address = aligned_alloc(HET_DEVICE_ALIGNMENT, (size_t)rounded);
  *memory = *address; /* a driver's handle elsewhere */
  return *address != NULL ? HET_CODE_OK : failed(sink, HET_CODE_OUT_OF_MEMORY, "no memory left");
}

static void free_memory(void* device, void* memory) {
  (void)device;
  free(memory);
}

/* ---- models ---- */

static const char* value_of(const HetDeviceProperty* properties, uint32_t count, const char* name) {
  for (uint32_t i = 0; i < count; ++i) {
    if (strcmp(properties[i].name, name) == 0) return properties[i].value;
  }
  return "";
}

static int32_t query_model(void* device, const HetDeviceModel* model,
                           const HetDeviceProperty* properties, uint32_t count,
                           const HetDeviceSink* sink) {
  (void)device;
  return program_query(model, value_of(properties, count, "MYDEV_OPERATORS"), sink);
}

static void release_model(void* model) {
  Compiled* compiled = (Compiled*)model;
  program_free(&compiled->program);
  free(compiled->ports);
  free(compiled);
}

/* Takes the program over, also after a failure. */
static int32_t make_compiled(void* device, Program program, const HetDeviceProperty* properties,
                             uint32_t count, const HetDeviceSink* sink, void** model) {
  const uint32_t ports = program.head->input_count + program.head->output_count;
  Compiled* compiled = (Compiled*)calloc(1, sizeof *compiled);
  HetValueDesc* descs = (HetValueDesc*)calloc(ports + 1u, sizeof *descs);
  if (compiled == NULL || descs == NULL) {
    free(compiled);
    free(descs);
    program_free(&program);
    return failed(sink, HET_CODE_OUT_OF_MEMORY, "no memory for the model");
  }
  for (uint32_t i = 0; i < ports; ++i) {
    descs[i].type = HET_TYPE_FLOAT32;
    descs[i].rank = program.values[i].rank;
    descs[i].shape = program.values[i].shape;
  }
  compiled->device = (Device*)device;
  compiled->program = program;
  compiled->ports = descs;
  compiled->is_profiled = strcmp(value_of(properties, count, "PERF_COUNT"), "YES") == 0;
  *model = compiled;
  return HET_CODE_OK;
}

static int32_t compile_model(void* device, const HetDeviceModel* model,
                             const HetDeviceProperty* properties, uint32_t count,
                             const HetDeviceSink* sink, void** compiled) {
  Program program;
  const int32_t code = program_compile(model, sink, &program);
  if (code != HET_CODE_OK) return code;
  return make_compiled(device, program, properties, count, sink, compiled);
}

static int32_t import_model(void* device, const void* bytes, uint64_t size_bytes,
                            const HetDeviceProperty* properties, uint32_t count,
                            const HetDeviceSink* sink, void** compiled) {
  Program program;
  const int32_t code = program_import(bytes, size_bytes, sink, &program);
  if (code != HET_CODE_OK) return code;
  return make_compiled(device, program, properties, count, sink, compiled);
}

static int32_t export_model(void* model, const HetDeviceSink* sink) {
  const Program* program = &((Compiled*)model)->program;
  if (sink->write(sink->context, program->memory, program->head->size_bytes) == 0)
    return HET_CODE_OK;
  return failed(sink, HET_CODE_INTERNAL, "the program could not be written");
}

static int32_t describe_model(void* model, HetCompiledDesc* desc, const HetDeviceSink* sink) {
  const Compiled* compiled = (const Compiled*)model;
  (void)sink;
  desc->input_count = compiled->program.head->input_count;
  desc->inputs = compiled->ports;
  desc->output_count = compiled->program.head->output_count;
  desc->outputs = compiled->ports + desc->input_count;
  desc->optimal_requests = 2; /* one runs, one waits */
  return HET_CODE_OK;
}

/* ---- requests ---- */

static void destroy_request(void* handle) {
  Request* request = (Request*)handle;
  free(request->scratch);
  free(request->times_us);
  free(request);
}

static int32_t create_request(void* model, const HetDeviceSink* sink, void** handle) {
  Compiled* compiled = (Compiled*)model;
  const ProgramHead* head = compiled->program.head;
  Request* request = (Request*)calloc(1, sizeof *request);
  if (request != NULL) {
    request->compiled = compiled;
    request->scratch = (float*)calloc(head->scratch_floats + 1, sizeof(float));
    request->times_us = (int64_t*)calloc(head->step_count + 1u, sizeof(int64_t));
  }
  if (request == NULL || request->scratch == NULL || request->times_us == NULL) {
    if (request != NULL) destroy_request(request);
    return failed(sink, HET_CODE_OUT_OF_MEMORY, "no memory for the request");
  }
  *handle = request;
  return HET_CODE_OK;
}

static void start_request(void* handle, const HetDeviceExecution* execution) {
  Request* request = (Request*)handle;
  Device* device = request->compiled->device;
  atomic_store(&request->is_cancelled, 0);
  request->execution = execution;
  request->next = NULL;
  pthread_mutex_lock(&device->mutex);
  if (device->first == NULL) {
    device->first = request;
  } else {
    device->last->next = request;
  }
  device->last = request;
  pthread_cond_signal(&device->changed);
  pthread_mutex_unlock(&device->mutex);
}

static void cancel_request(void* handle) {
  atomic_store(&((Request*)handle)->is_cancelled, 1);
}

static int32_t profile_request(void* handle, const HetDeviceSink* sink) {
  const Request* request = (const Request*)handle;
  const Program* program = &request->compiled->program;
  for (uint32_t i = 0; request->compiled->is_profiled && i < program->head->step_count; ++i) {
    const Step* step = &program->steps[i];
    sink->add_profile(sink->context, step->name, operator_name(step->op), "mydev",
                      request->times_us[i]);
  }
  return HET_CODE_OK;
}

/* ---- the table ---- */

static const HetDevicePropertyDef executions = {sizeof(HetDevicePropertyDef), "MYDEV_EXECUTIONS",
                                                "", "executions since the device was opened", 1};
static const HetDevicePropertyDef operators = {
    sizeof(HetDevicePropertyDef), "MYDEV_OPERATORS", "",
    "operators that the device takes, separated by blanks; empty: all that it has", 0};
static const HetDevicePropertyDef* const properties[] = {&executions, &operators};

static const HetCustomDevice table = {
    HET_CUSTOM_DEVICE_VERSION,
    sizeof(HetCustomDevice),
    "MYDEV",
    sizeof properties / sizeof *properties,
    properties,
    NULL, /* device_count: one */
    open_device,
    close_device,
    get_property,
    query_model,
    compile_model,
    describe_model,
    NULL, /* get_model_property */
    NULL, /* set_model_property */
    export_model,
    import_model,
    release_model,
    allocate_memory,
    free_memory,
    create_request,
    destroy_request,
    start_request,
    cancel_request,
    profile_request,
};

__attribute__((visibility("default"))) const HetCustomDevice* het_custom_device(
    uint32_t host_version) {
  return host_version >= HET_CUSTOM_DEVICE_VERSION ? &table : NULL;
}
