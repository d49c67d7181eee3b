/* The device of examples/custom_device with faults on demand, as FAULTDEV. The property FAULT of
 * the model that was compiled last names the fault for the whole library, FAULT_AFTER says how much
 * of it: lost N      executions behind the first N end with HET_CODE_DEVICE_LOST slow N      an
 * execution takes N milliseconds longer, or until it is cancelled twice       complete() is called
 * twice at_once     complete() is called by start_request() in_cancel   complete() is called by
 * cancel_request(), and by nothing else code N      executions end with the code N and no message
 *   port_shape, port_count   describe_model() tells other outputs than the model has
 *   no_answer   query_model() says nothing
 *   no_query, no_compile     they fail with a reason
 *   address     allocate_memory() gives an address that is not aligned
 *   no_memory   allocate_memory() fails
 * FAULT_OWN_TENSORS has how many tensors of the last execution lay in memory of the device. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "inference/custom_device.h"

/* The example's, which the build calls otherwise. */
const HetCustomDevice* example_device(uint32_t host_version);
#undef het_custom_device

static char fault[32];
static long limit;
static atomic_long starts;
static atomic_long own_tensors;
/* Its inputs and outputs, one dimension more. */
static int64_t longer[8];

typedef struct {
  void* inner;
  HetDeviceExecution wrapped;
  const HetDeviceExecution* outer;
  atomic_int is_cancelled;
} Request;

static int is(const char* name) {
  return strcmp(fault, name) == 0;
}

static int32_t failed(const HetDeviceSink* sink, int32_t code, const char* reason) {
  sink->set_error(sink->context, reason);
  return code;
}

static const char* value_of(const HetDeviceProperty* properties, uint32_t count, const char* name) {
  for (uint32_t i = 0; i < count; ++i) {
    if (strcmp(properties[i].name, name) == 0) return properties[i].value;
  }
  return "";
}

static void read_fault(const HetDeviceProperty* properties, uint32_t count) {
  snprintf(fault, sizeof fault, "%s", value_of(properties, count, "FAULT"));
  limit = atol(value_of(properties, count, "FAULT_AFTER"));
  atomic_store(&starts, 0);
}

static int32_t get_property(void* device, const char* name, const HetDeviceSink* sink) {
  char text[24];
  if (strcmp(name, "FAULT_OWN_TENSORS") != 0)
    return example_device(HET_CUSTOM_DEVICE_VERSION)->get_property(device, name, sink);
  snprintf(text, sizeof text, "%ld", atomic_load(&own_tensors));
  sink->set_text(sink->context, text);
  return HET_CODE_OK;
}

static int32_t get_model_property(void* compiled, const char* name, const HetDeviceSink* sink) {
  (void)compiled;
  if (strcmp(name, "FAULT_AFTER") != 0) return HET_CODE_NOT_FOUND;
  char text[24];
  snprintf(text, sizeof text, "%ld", limit);
  sink->set_text(sink->context, text);
  return HET_CODE_OK;
}

static int32_t set_model_property(void* compiled, const char* name, const char* value,
                                  const HetDeviceSink* sink) {
  (void)compiled;
  if (strcmp(name, "FAULT_AFTER") != 0)
    return failed(sink, HET_CODE_NOT_SUPPORTED, "only FAULT_AFTER changes while requests run");
  limit = atol(value);
  return HET_CODE_OK;
}

static int32_t query_model(void* device, const HetDeviceModel* model,
                           const HetDeviceProperty* properties, uint32_t count,
                           const HetDeviceSink* sink) {
  const char* wish = value_of(properties, count, "FAULT");
  if (strcmp(wish, "no_answer") == 0) return HET_CODE_OK;
  if (strcmp(wish, "no_query") == 0) return failed(sink, HET_CODE_DEVICE_LOST, "the cable is out");
  return example_device(HET_CUSTOM_DEVICE_VERSION)
      ->query_model(device, model, properties, count, sink);
}

static int32_t compile_model(void* device, const HetDeviceModel* model,
                             const HetDeviceProperty* properties, uint32_t count,
                             const HetDeviceSink* sink, void** compiled) {
  read_fault(properties, count);
  if (is("no_compile")) return failed(sink, HET_CODE_OUT_OF_MEMORY, "the weights do not fit");
  return example_device(HET_CUSTOM_DEVICE_VERSION)
      ->compile_model(device, model, properties, count, sink, compiled);
}

static int32_t import_model(void* device, const void* bytes, uint64_t size_bytes,
                            const HetDeviceProperty* properties, uint32_t count,
                            const HetDeviceSink* sink, void** compiled) {
  read_fault(properties, count);
  return example_device(HET_CUSTOM_DEVICE_VERSION)
      ->import_model(device, bytes, size_bytes, properties, count, sink, compiled);
}

static int32_t describe_model(void* compiled, HetCompiledDesc* desc, const HetDeviceSink* sink) {
  static HetValueDesc changed;
  const int32_t code =
      example_device(HET_CUSTOM_DEVICE_VERSION)->describe_model(compiled, desc, sink);
  if (is("port_count")) ++desc->output_count;
  if (is("port_shape")) {
    changed = desc->outputs[0];
    memcpy(longer, changed.shape, changed.rank * sizeof(int64_t));
    ++longer[0];
    changed.shape = longer;
    desc->outputs = &changed;
  }
  return code;
}

static int32_t allocate_memory(void* device, uint64_t size_bytes, const HetDeviceSink* sink,
                               void** memory, void** address) {
  if (is("no_memory")) return failed(sink, HET_CODE_OUT_OF_MEMORY, "the device is full");
  const int32_t code = example_device(HET_CUSTOM_DEVICE_VERSION)
                           ->allocate_memory(device, size_bytes + 64, sink, memory, address);
  if (is("address")) *address = (char*)*address + 8;
  return code;
}

static int32_t create_request(void* compiled, const HetDeviceSink* sink, void** handle) {
  Request* request = (Request*)calloc(1, sizeof *request);
  const int32_t code =
      example_device(HET_CUSTOM_DEVICE_VERSION)->create_request(compiled, sink, &request->inner);
  if (code != HET_CODE_OK) {
    free(request);
    return code;
  }
  *handle = request;
  return HET_CODE_OK;
}

static void destroy_request(void* handle) {
  Request* request = (Request*)handle;
  example_device(HET_CUSTOM_DEVICE_VERSION)->destroy_request(request->inner);
  free(request);
}

static void wait_ms(void) {
  const struct timespec one = {0, 1000000};
  nanosleep(&one, NULL);
}

static void complete(void* context, uint64_t number, int32_t code, const char* message) {
  Request* request = (Request*)context;
  const HetDeviceExecution* outer = request->outer;
  void* const outer_context = outer->context;
  if (is("slow")) {
    for (long ms = 0; ms < limit && !atomic_load(&request->is_cancelled); ++ms) wait_ms();
    if (atomic_load(&request->is_cancelled)) code = HET_CODE_CANCELLED;
  }
  const int again = is("twice");
  if (is("lost") && atomic_fetch_add(&starts, 1) >= limit) {
    code = HET_CODE_DEVICE_LOST;
    message = "the cable is out";
  }
  if (is("code")) code = (int32_t)limit;
  /* A second call is of the same execution, while the request waits to be started again. */
  if (again) outer->complete(outer_context, number, code, message);
  if (again) wait_ms();
  outer->complete(outer_context, number, code, message);
}

static void start_request(void* handle, const HetDeviceExecution* execution) {
  Request* request = (Request*)handle;
  long own = 0;
  for (uint32_t i = 0; i < execution->input_count; ++i) own += execution->inputs[i]->memory != NULL;
  for (uint32_t i = 0; i < execution->output_count; ++i)
    own += execution->outputs[i]->memory != NULL;
  atomic_store(&own_tensors, own);
  request->outer = execution;
  request->wrapped = *execution;
  request->wrapped.context = request;
  request->wrapped.complete = complete;
  atomic_store(&request->is_cancelled, 0);
  if (is("in_cancel")) return;
  if (is("at_once")) {
    execution->complete(execution->context, execution->number, HET_CODE_OK, NULL);
    return;
  }
  example_device(HET_CUSTOM_DEVICE_VERSION)->start_request(request->inner, &request->wrapped);
}

static void cancel_request(void* handle) {
  Request* request = (Request*)handle;
  atomic_store(&request->is_cancelled, 1);
  if (is("in_cancel")) {
    const HetDeviceExecution* outer = request->outer;
    outer->complete(outer->context, outer->number, HET_CODE_CANCELLED, "at once");
    return;
  }
  example_device(HET_CUSTOM_DEVICE_VERSION)->cancel_request(request->inner);
}

static int32_t profile_request(void* handle, const HetDeviceSink* sink) {
  return example_device(HET_CUSTOM_DEVICE_VERSION)
      ->profile_request(((Request*)handle)->inner, sink);
}

static const HetDevicePropertyDef faults = {sizeof(HetDevicePropertyDef), "FAULT", "", "what fails",
                                            0};
static const HetDevicePropertyDef after = {sizeof(HetDevicePropertyDef), "FAULT_AFTER", "0",
                                           "how much of it", 0};
static const HetDevicePropertyDef own = {sizeof(HetDevicePropertyDef), "FAULT_OWN_TENSORS", "0",
                                         "tensors in memory of the device", 1};
/* One of the host's table. */
static const HetDevicePropertyDef streams = {sizeof(HetDevicePropertyDef), "NUM_STREAMS", NULL,
                                             NULL, 0};
static const HetDevicePropertyDef* const properties[] = {&faults, &after, &own, &streams};

static uint32_t device_count(void) {
  return 2;
}

__attribute__((visibility("default"))) const HetCustomDevice* het_custom_device(
    uint32_t host_version) {
  static HetCustomDevice table;
  const HetCustomDevice* example = example_device(host_version);
  if (example == NULL) return NULL;
  table = *example;
  table.name = "FAULTDEV";
  table.property_count = sizeof properties / sizeof *properties;
  table.properties = properties;
  table.device_count = device_count;
  table.get_property = get_property;
  table.query_model = query_model;
  table.compile_model = compile_model;
  table.import_model = import_model;
  table.describe_model = describe_model;
  table.get_model_property = get_model_property;
  table.set_model_property = set_model_property;
  table.allocate_memory = allocate_memory;
  table.create_request = create_request;
  table.destroy_request = destroy_request;
  table.start_request = start_request;
  table.cancel_request = cancel_request;
  table.profile_request = profile_request;
  return &table;
}
