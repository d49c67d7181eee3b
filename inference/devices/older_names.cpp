#include "inference/devices/older_names.h"

#include <array>
#include <utility>

namespace het {
namespace {

constexpr std::string_view kQueueWords = "0=DEFAULT|1=LOW|2=MEDIUM|3=HIGH";
constexpr std::string_view kPinningWords = "CORE=YES|HYBRID_AWARE=YES|NONE=NO";
constexpr std::string_view kNoFile =
    "a file of the plugin's inner graph; `hetero bench -pc`, `hetero bench -trace FILE` and "
    "HETERO_DUMP_GRAPH_DOT show what runs";
constexpr std::string_view kNoPicturePlanes =
    "pictures in two planes; requests and elements take NV12 as it is";
constexpr std::string_view kNoCompileThreads =
    "threads that compile kernels; they follow the cores the process may use";
constexpr std::string_view kNoLog =
    "messages; in pipelines GST_DEBUG chooses them, in programs set_log_sink()";
constexpr std::string_view kNoUnrolling =
    "loops unrolled into nodes; loops run as they are in the model";
constexpr std::string_view kNoDynamicBatch =
    "requests with fewer items than the model's batch; BATCH_SIZE or INPUT_SHAPES give the batch, "
    "the device BATCH collects requests";
constexpr std::string_view kNoVpuKernels =
    "OpenCL kernels of one's own for the chip; CONFIG_FILE of GPU and EXTENSIONS take operators of "
    "one's own";
constexpr std::string_view kNoVpuStreams =
    "requests that the chip overlaps; that follows the number of requests in flight";
constexpr std::string_view kNoRequestCounts = "a count of requests, which the caller has";
constexpr std::string_view kNoReset =
    "a reset of the chip before its use; a lost device is found again by itself "
    "(HETERO_RETRY_INTERVAL)";

constexpr std::array kOlderNames = {
    OlderName{.old_name = "AFFINITY", .name = "ENABLE_CPU_PINNING", .values = kPinningWords},
    OlderName{.old_name = "ALLOW_AUTO_BATCHING",
              .values = "NO",
              .doc = "batches made by the GPU itself; only the device BATCH makes them: "
                     "BATCH:GPU(8)"},
    OlderName{.old_name = "AUTO_BATCH_DEVICE_CONFIG", .name = "MULTI_DEVICE_PRIORITIES"},
    OlderName{.old_name = "AUTO_DEVICE_LIST", .name = "MULTI_DEVICE_PRIORITIES"},
    OlderName{.old_name = "CLDNN_ENABLE_FP16_FOR_QUANTIZED_MODELS",
              .doc = "float16 between the int8 nodes of a quantised model; "
                     "INFERENCE_PRECISION_HINT=f16 asks for it"},
    OlderName{.old_name = "CLDNN_ENABLE_LOOP_UNROLLING", .values = "NO", .doc = kNoUnrolling},
    OlderName{.old_name = "CLDNN_GRAPH_DUMPS_DIR", .doc = kNoFile},
    OlderName{.old_name = "CLDNN_INT8_ENABLED", .name = "GPU_INT8"},
    OlderName{.old_name = "CLDNN_MAX_NUM_THREADS", .doc = kNoCompileThreads},
    OlderName{.old_name = "CLDNN_MEM_POOL",
              .values = "YES",
              .doc = "memory shared by values that are not alive together; that is always so"},
    OlderName{.old_name = "CLDNN_NV12_TWO_INPUTS", .values = "NO", .doc = kNoPicturePlanes},
    OlderName{
        .old_name = "CLDNN_PLUGIN_PRIORITY", .name = "GPU_QUEUE_PRIORITY", .values = kQueueWords},
    OlderName{
        .old_name = "CLDNN_PLUGIN_THROTTLE", .name = "GPU_QUEUE_THROTTLE", .values = kQueueWords},
    OlderName{.old_name = "CLDNN_SOURCES_DUMPS_DIR", .doc = kNoFile},
    OlderName{.old_name = "CPU_BIND_THREAD", .name = "ENABLE_CPU_PINNING", .values = kPinningWords},
    OlderName{
        .old_name = "CPU_BIND_THREADS", .name = "ENABLE_CPU_PINNING", .values = kPinningWords},
    OlderName{.old_name = "CPU_THREADS_NUM", .name = "INFERENCE_NUM_THREADS"},
    OlderName{.old_name = "CPU_THROUGHPUT_STREAMS",
              .name = "NUM_STREAMS",
              .device = "CPU",
              .values = "CPU_THROUGHPUT_AUTO=AUTO|CPU_THROUGHPUT_NUMA=NUMA"},
    OlderName{.old_name = "DEVICE_ARCHITECTURE",
              .doc = "a word for the kind of hardware; FULL_DEVICE_NAME and DEVICE_TYPE tell it"},
    OlderName{.old_name = "DEVICE_GOPS",
              .doc = "the most operations per second; `hetero bench` measures a model"},
    OlderName{.old_name = "DEVICE_ID",
              .doc = "the number of a device; it is part of the name: GPU.1"},
    OlderName{.old_name = "DEVICE_THERMAL", .name = "HDDL_DEVICE_THERMAL"},
    OlderName{.old_name = "DLIA_*", .doc = "of the plugin for FPGAs, which is not here"},
    OlderName{.old_name = "DUMP_EXEC_GRAPH_AS_DOT", .doc = kNoFile},
    OlderName{.old_name = "DUMP_KERNELS", .values = "NO", .doc = kNoFile},
    OlderName{.old_name = "DUMP_QUANTIZED_GRAPH_AS_DOT", .values = "NO", .doc = kNoFile},
    OlderName{.old_name = "DUMP_QUANTIZED_GRAPH_AS_IR", .values = "NO", .doc = kNoFile},
    OlderName{.old_name = "DYN_BATCH_ENABLED", .values = "NO", .doc = kNoDynamicBatch},
    OlderName{.old_name = "DYN_BATCH_LIMIT", .values = "-1|0", .doc = kNoDynamicBatch},
    OlderName{.old_name = "ENFORCE_BF16",
              .name = "INFERENCE_PRECISION_HINT",
              .device = "CPU",
              .values = "YES=bf16|NO=f32"},
    OlderName{.old_name = "FORCE_TBB_TERMINATE",
              .doc = "the end of oneTBB's threads with the library; the process that loads both "
                     "decides it"},
    OlderName{.old_name = "GNA_*",
              .doc = "of the accelerator GNA, which is not here; use device CPU"},
    OlderName{.old_name = "GPU_ENABLE_LOOP_UNROLLING", .values = "NO", .doc = kNoUnrolling},
    OlderName{.old_name = "GPU_MAX_NUM_THREADS", .doc = kNoCompileThreads},
    OlderName{.old_name = "GPU_NV12_TWO_INPUTS", .values = "NO", .doc = kNoPicturePlanes},
    OlderName{
        .old_name = "GPU_PLUGIN_PRIORITY", .name = "GPU_QUEUE_PRIORITY", .values = kQueueWords},
    OlderName{
        .old_name = "GPU_PLUGIN_THROTTLE", .name = "GPU_QUEUE_THROTTLE", .values = kQueueWords},
    OlderName{
        .old_name = "GPU_QUEUE_PRIORITY", .name = "GPU_QUEUE_PRIORITY", .values = kQueueWords},
    OlderName{
        .old_name = "GPU_QUEUE_THROTTLE", .name = "GPU_QUEUE_THROTTLE", .values = kQueueWords},
    OlderName{.old_name = "GPU_THROUGHPUT_STREAMS",
              .name = "NUM_STREAMS",
              .device = "GPU",
              .values = "GPU_THROUGHPUT_AUTO=AUTO"},
    OlderName{.old_name = "GPU_UARCH_VERSION",
              .doc = "the version of the hardware; FULL_DEVICE_NAME and GPU_FEATURES tell it"},
    OlderName{.old_name = "HDDL_DEVICE_TOTAL_NUM", .name = "HDDL_DEVICE_GROUP_TOTAL_NUM"},
    OlderName{.old_name = "HDDL_GROUP_DEVICE",
              .doc = "units reserved for a client; HDDL_DEVICE_TAG with HDDL_BIND_DEVICE binds a "
                     "model to a unit"},
    OlderName{.old_name = "HDDL_GROUP_ID", .doc = "groups of units; HDDL_DEVICE_TAG names units"},
    OlderName{.old_name = "HETERO_DUMP_DLA_MESSAGES",
              .doc = "why nodes do not run on an FPGA; `hetero query` tells it for every device"},
    OlderName{.old_name = "IMPORT_EXPORT_SUPPORT",
              .doc = "whether compiled models can be exported; those of CPU, GPU and HETERO can"},
    OlderName{.old_name = "INFERENCE_PRECISION_HINT",
              .name = "INFERENCE_PRECISION_HINT",
              .values = "undefined=dynamic"},
    OlderName{.old_name = "LOG_LEVEL", .doc = kNoLog},
    OlderName{.old_name = "LP_TRANSFORMS_MODE",
              .doc = "int8 arithmetic for quantised models; EXECUTION_MODE_HINT=ACCURACY switches "
                     "it off"},
    OlderName{.old_name = "MAX_BATCH_SIZE",
              .doc = "the largest batch that memory has room for; DEVICE_TOTAL_MEM_SIZE and "
                     "GPU_DEVICE_TOTAL_MEM_SIZE tell the memory"},
    OlderName{.old_name = "MODEL_PRIORITY",
              .name = "MODEL_PRIORITY",
              .values = "MODEL_PRIORITY_HIGH=HIGH|MODEL_PRIORITY_MED=MEDIUM|MODEL_PRIORITY_LOW="
                        "LOW"},
    OlderName{.old_name = "MYRIAD_*",
              .doc = "of the compiler for the chip Myriad; VPU has properties of its own"},
    OlderName{.old_name = "MYRIAD_CUSTOM_LAYERS", .doc = kNoVpuKernels},
    OlderName{.old_name = "MYRIAD_ENABLE_FORCE_RESET", .values = "NO", .doc = kNoReset},
    OlderName{.old_name = "MYRIAD_PERF_REPORT_MODE",
              .name = "VPU_PERF_REPORT_MODE",
              .values = "MYRIAD_PER_LAYER=PER_LAYER|MYRIAD_PER_STAGE=PER_STAGE"},
    OlderName{.old_name = "MYRIAD_THROUGHPUT_STREAMS", .doc = kNoVpuStreams},
    OlderName{.old_name = "NUMBER_OF_EXEC_INFER_REQUESTS", .doc = kNoRequestCounts},
    OlderName{.old_name = "NUMBER_OF_WAITING_INFER_REQUESTS", .doc = kNoRequestCounts},
    OlderName{.old_name = "RANGE_FOR_ASYNC_INFER_REQUESTS",
              .doc = "useful numbers of requests; OPTIMAL_NUMBER_OF_INFER_REQUESTS is one"},
    OlderName{.old_name = "SINGLE_THREAD",
              .doc = "all work in the caller's thread; INFERENCE_NUM_THREADS=1 limits the "
                     "threads"},
    OlderName{.old_name = "SUPPORTED_CONFIG_KEYS", .name = "SUPPORTED_PROPERTIES"},
    OlderName{.old_name = "SUPPORTED_METRICS", .name = "SUPPORTED_PROPERTIES"},
    OlderName{.old_name = "TARGET_FALLBACK", .name = "MULTI_DEVICE_PRIORITIES"},
    OlderName{.old_name = "TUNING_FILE",
              .doc = "a file of tuned kernels; measured choices are kept in CACHE_DIR"},
    OlderName{.old_name = "TUNING_MODE",
              .values = "TUNING_DISABLED",
              .doc = "whether kernels are tuned; they are measured when a model is compiled, and "
                     "CACHE_DIR keeps what was chosen"},
    OlderName{.old_name = "VPU_COMPUTE_LAYOUT",
              .values = "VPU_AUTO",
              .doc = "the layout that the chip computes in; INPUT_LAYOUTS tells that of inputs"},
    OlderName{.old_name = "VPU_CUSTOM_LAYERS", .doc = kNoVpuKernels},
    OlderName{.old_name = "VPU_FORCE_RESET", .values = "NO", .doc = kNoReset},
    OlderName{.old_name = "VPU_HDDL_BIND_DEVICE", .name = "HDDL_BIND_DEVICE"},
    OlderName{.old_name = "VPU_HDDL_DEVICE_TAG", .name = "HDDL_DEVICE_TAG"},
    OlderName{.old_name = "VPU_HDDL_GRAPH_TAG", .name = "HDDL_GRAPH_TAG"},
    OlderName{.old_name = "VPU_HDDL_RUNTIME_PRIORITY", .name = "HDDL_RUNTIME_PRIORITY"},
    OlderName{.old_name = "VPU_HDDL_STREAM_ID", .name = "HDDL_STREAM_ID"},
    OlderName{.old_name = "VPU_HDDL_USE_SGAD", .name = "HDDL_USE_SGAD"},
    OlderName{.old_name = "VPU_HW_STAGES_OPTIMIZATION",
              .doc = "stages of the chip Myriad X; VPU decides itself what it computes how"},
    OlderName{.old_name = "VPU_IGNORE_IR_STATISTIC",
              .doc = "statistics in IR files, which only version 5 to 7 had; FakeQuantize nodes "
                     "carry ranges"},
    OlderName{.old_name = "VPU_INPUT_BIAS",
              .doc = "a number added to inputs; MEAN_VALUES takes its opposite"},
    OlderName{.old_name = "VPU_INPUT_NORM", .doc = "a divisor of inputs; SCALE_VALUES takes it"},
    OlderName{.old_name = "VPU_LOG_LEVEL", .doc = kNoLog},
    OlderName{.old_name = "VPU_MYRIAD_*",
              .doc = "of the compiler for the chip Myriad; VPU has properties of its own"},
    OlderName{.old_name = "VPU_MYRIAD_FORCE_RESET", .values = "NO", .doc = kNoReset},
    OlderName{.old_name = "VPU_NETWORK_CONFIG",
              .doc = "a file about parts of the model; HETERO_AFFINITY places nodes"},
    OlderName{.old_name = "VPU_PERF_REPORT_MODE",
              .name = "VPU_PERF_REPORT_MODE",
              .values = "VPU_PER_LAYER=PER_LAYER|VPU_PER_STAGE=PER_STAGE"},
    OlderName{.old_name = "VPU_PLATFORM",
              .doc = "the version of the chip; the device's program tells it: HDDL_DEVICE_MODEL"},
    OlderName{.old_name = "VPU_PRINT_RECEIVE_TENSOR_TIME",
              .doc = "the time of getting results; PERF_COUNT=YES has a row for it"},
};

/// True when `given`, which may be an older name, means the property.
bool means(std::string_view given, std::string_view property) {
  given = without_key_prefix(given);
  const OlderName* older = find_older_name(given);
  return (older ? older->name : given) == property;
}

}  // namespace

std::span<const OlderName> older_names() {
  return kOlderNames;
}

std::string_view without_key_prefix(std::string_view name) {
  for (const std::string_view prefix : {"KEY_", "METRIC_"}) {
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  }
  return name;
}

const OlderName* find_older_name(std::string_view name) {
  const OlderName* family = nullptr;
  for (const OlderName& row : kOlderNames) {
    if (row.old_name == name) return &row;
    const std::string_view stem = row.old_name.substr(0, row.old_name.size() - 1);
    if (row.old_name.ends_with('*') && name.starts_with(stem)) family = &row;
  }
  return family;
}

void set_default(Properties& properties, std::string_view name, std::string value) {
  for (const auto& [given, unused] : properties) {
    if (means(given, name)) return;
  }
  properties.emplace(name, std::move(value));
}

void replace_property(Properties& properties, std::string_view name, std::string value) {
  std::erase_if(properties, [&](const auto& property) { return means(property.first, name); });
  properties.emplace(name, std::move(value));
}

}  // namespace het
