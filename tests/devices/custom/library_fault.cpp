// A device library with a fault, which HET_FAULT names; built once for each.
#include <stdexcept>

#include "inference/custom_device.h"

namespace {

int32_t open_device(uint32_t, const HetDeviceSink* sink, void**) {
#ifdef HET_FAULT_THROW
  (void)sink;
  throw std::runtime_error("out of luck");
#elif defined HET_FAULT_START
  (void)sink;
  return HET_CODE_OK;
#else
  sink->set_error(sink->context, "no card in any slot");
  return HET_CODE_NOT_FOUND;
#endif
}

void close_device(void*) {}
int32_t query_model(void*, const HetDeviceModel* model, const HetDeviceProperty*, uint32_t,
                    const HetDeviceSink* sink) {
  for (uint32_t i = 0; i < model->node_count; ++i) sink->answer_node(sink->context, i, nullptr);
  return HET_CODE_OK;
}
int32_t compile_model(void*, const HetDeviceModel*, const HetDeviceProperty*, uint32_t,
                      const HetDeviceSink*, void**) {
  return HET_CODE_OK;
}
int32_t describe_model(void*, HetCompiledDesc* desc, const HetDeviceSink*) {
  static const int64_t kShape[] = {2, 3};
  static const HetValueDesc kPort = {HET_TYPE_FLOAT32, 0, 0, 2, kShape};
  desc->input_count = desc->output_count = 1;
  desc->inputs = desc->outputs = &kPort;
  return HET_CODE_OK;
}
void release_model(void*) {}
int32_t create_request(void*, const HetDeviceSink*, void**) {
  return HET_CODE_OK;
}
void destroy_request(void*) {}
void start_request(void*, const HetDeviceExecution*) {
  throw std::runtime_error("out of requests");
}

#ifdef HET_FAULT_PROPERTY
const HetDevicePropertyDef kProperty = {sizeof(HetDevicePropertyDef), "has.point", "", "", 0};
const HetDevicePropertyDef* const kProperties[] = {&kProperty};
#endif

HetCustomDevice make_table() {
  HetCustomDevice table = {};
  table.version = HET_CUSTOM_DEVICE_VERSION;
  table.struct_size = sizeof(HetCustomDevice);
  table.name = "FAULT_LIBRARY";
  table.open_device = open_device;
  table.close_device = close_device;
  table.query_model = query_model;
  table.compile_model = compile_model;
  table.describe_model = describe_model;
  table.release_model = release_model;
  table.create_request = create_request;
  table.destroy_request = destroy_request;
  table.start_request = start_request;
#if defined HET_FAULT_VERSION
  table.version = 99;
#elif defined HET_FAULT_SIZE
  table.struct_size = 8;
#elif defined HET_FAULT_FUNCTION
  table.start_request = nullptr;
#elif defined HET_FAULT_PAIR
  table.free_memory = [](void*, void*) {};
#elif defined HET_FAULT_NAME
  table.name = "my-device";
#elif defined HET_FAULT_CLASH
  table.name = "CPU";
#elif defined HET_FAULT_ALIAS
  table.name = "MYRIAD";
#elif defined HET_FAULT_PROPERTY
  table.property_count = 1;
  table.properties = kProperties;
#elif defined HET_FAULT_THROW
  table.name = "FAULT_THROW";
#elif defined HET_FAULT_START
  table.name = "FAULT_START";
#elif defined HET_FAULT_OPEN
  table.name = "FAULT_OPEN";
#endif
  return table;
}

}  // namespace

#ifdef HET_FAULT_SYMBOL
extern "C" __attribute__((visibility("default"))) uint32_t something_else() {
  return make_table().version;
}
#else
extern "C" __attribute__((visibility("default"))) const HetCustomDevice* het_custom_device(
    uint32_t) {
  static const HetCustomDevice table = make_table();
#if defined HET_FAULT_REFUSAL
  if (table.version > 0) return nullptr;
#elif defined HET_FAULT_EXCEPTION
  if (table.version > 0) throw std::runtime_error("no licence");
#endif
  return &table;
}
#endif
