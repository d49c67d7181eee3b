#include "inference/devices/guide_table.h"

#include <algorithm>
#include <array>

#include "inference/devices/properties.h"

namespace het {
namespace {

constexpr std::string_view kHeteroGuide = "Heterogeneous execution";
constexpr std::string_view kAutoGuide = "Automatic device selection";
constexpr std::string_view kMultiGuide = "Multi-device execution";
constexpr std::string_view kBatchGuide = "Automatic batching";
constexpr std::string_view kHintsGuide = "High-level performance hints";
constexpr std::string_view kCpuGuide = "CPU device";
constexpr std::string_view kGpuGuide = "GPU device";
constexpr std::string_view kCachingGuide = "Model caching";
constexpr std::string_view kQueryGuide = "Querying device properties";
constexpr std::string_view kProfilingGuide = "Profiling";
constexpr std::string_view kOptimizingGuide =
    "Optimizing for throughput or latency, low-level settings";

constexpr std::array kGuideRows = {
    GuideRow{kHeteroGuide, "HETERO", "HETERO:GPU,CPU", "devices in the order of preference",
             "MULTI_DEVICE_PRIORITIES", "in the device string, or the property"},
    GuideRow{kHeteroGuide, "HETERO", "MULTI_DEVICE_PRIORITIES", "the same as a property",
             "MULTI_DEVICE_PRIORITIES", ""},
    GuideRow{kHeteroGuide, "HETERO", "TARGET_FALLBACK", "the same in the guides until 2021",
             "MULTI_DEVICE_PRIORITIES", ""},
    GuideRow{kHeteroGuide, "HETERO", "automatic fallback",
             "each operation on the first device that takes it", "HETERO_POLICY",
             "priority, the default; others measure"},
    GuideRow{kHeteroGuide, "HETERO", "affinity", "devices for single operations", "HETERO_AFFINITY",
             "also rt_info affinities of an IR and Node::set_affinity()"},
    GuideRow{kHeteroGuide, "HETERO", "query_model", "which device runs what", "",
             "Core::query_model(), hetero query, which says why not, too"},
    GuideRow{kHeteroGuide, "HETERO", "DEVICE_PROPERTIES", "settings of the devices in the list",
             "DEVICE_PROPERTIES", ""},
    GuideRow{kHeteroGuide, "HETERO", "MODEL_DISTRIBUTION_POLICY", "a model larger than a device",
             "MODEL_DISTRIBUTION_POLICY", ""},
    GuideRow{kHeteroGuide, "HETERO", "HETERO_NUMBER_OF_SUBMODELS",
             "parts that the model was split into", "HETERO_NUMBER_OF_SUBMODELS", ""},
    GuideRow{kHeteroGuide, "HETERO", "OPENVINO_HETERO_VISUALIZE=1",
             "pictures of the split, by the environment", "HETERO_DUMP_GRAPH_DOT",
             "the environment variable counts, too"},
    GuideRow{kHeteroGuide, "HETERO", "HETERO_DUMP_GRAPH_DOT", "the same in the guides until 2021",
             "HETERO_DUMP_GRAPH_DOT", ""},
    GuideRow{kHeteroGuide, "HETERO", "EXCLUSIVE_ASYNC_REQUESTS",
             "requests of all models one after the other", "EXCLUSIVE_ASYNC_REQUESTS",
             "off unless given: OpenVINO switches it on for HETERO"},
    GuideRow{kAutoGuide, "AUTO", "AUTO:GPU,CPU", "candidates, best first",
             "MULTI_DEVICE_PRIORITIES", "in the device string, or the property"},
    GuideRow{kAutoGuide, "AUTO", "AUTO:-GPU", "all devices but some", "MULTI_DEVICE_PRIORITIES",
             "in the device string, or the property"},
    GuideRow{kAutoGuide, "AUTO", "AUTO_DEVICE_LIST", "the candidates in the guide of 2021",
             "MULTI_DEVICE_PRIORITIES", ""},
    GuideRow{kAutoGuide, "AUTO", "PERFORMANCE_HINT",
             "LATENCY, THROUGHPUT or, on several devices, CUMULATIVE_THROUGHPUT",
             "PERFORMANCE_HINT", ""},
    GuideRow{kAutoGuide, "AUTO", "ENABLE_STARTUP_FALLBACK",
             "CPU helps while a better device compiles", "ENABLE_STARTUP_FALLBACK", ""},
    GuideRow{kAutoGuide, "AUTO", "ENABLE_RUNTIME_FALLBACK", "another device goes on when one fails",
             "ENABLE_RUNTIME_FALLBACK", ""},
    GuideRow{kAutoGuide, "AUTO", "EXECUTION_DEVICES", "where the model runs now",
             "EXECUTION_DEVICES", ""},
    GuideRow{kAutoGuide, "AUTO", "DEVICE_PROPERTIES", "settings of the candidates",
             "DEVICE_PROPERTIES", ""},
    GuideRow{kAutoGuide, "AUTO", "MODEL_PRIORITY", "important models get the better device",
             "MODEL_PRIORITY",
             "counts on GPU; AUTO gives every model the first device that compiles it"},
    GuideRow{kAutoGuide, "AUTO", "SCHEDULE_POLICY",
             "who gets a request under CUMULATIVE_THROUGHPUT", "",
             "not there: a request goes to the free device that is expected to take least"},
    GuideRow{kAutoGuide, "AUTO", "DEVICE_BIND_BUFFER", "tensors in the memory of the device", "",
             "not there: tensors of requests are used in place"},
    GuideRow{kAutoGuide, "AUTO", "LOG_LEVEL", "what the selection writes into the log", "",
             "GST_DEBUG=hetero:5 in pipelines, set_log_sink() in applications"},
    GuideRow{kMultiGuide, "MULTI", "MULTI:GPU,CPU", "the whole model on each of several devices",
             "MULTI_DEVICE_PRIORITIES", "in the device string, or the property"},
    GuideRow{kMultiGuide, "MULTI", "MULTI:GPU(4),CPU(2)", "requests that a device gets at a time",
             "MULTI_DEVICE_PRIORITIES", "in the device string, or the property"},
    GuideRow{kMultiGuide, "MULTI", "MULTI_DEVICE_PRIORITIES",
             "another order or less devices while requests run", "MULTI_DEVICE_PRIORITIES",
             "CompiledModel::set_property()"},
    GuideRow{kMultiGuide, "MULTI", "OPTIMAL_NUMBER_OF_INFER_REQUESTS",
             "requests that keep all devices busy", "OPTIMAL_NUMBER_OF_INFER_REQUESTS", ""},
    GuideRow{kMultiGuide, "MULTI", "DEVICE_PROPERTIES", "settings of single devices",
             "DEVICE_PROPERTIES", ""},
    GuideRow{kBatchGuide, "BATCH", "BATCH:GPU(16)", "requests that run together",
             "MULTI_DEVICE_PRIORITIES",
             "in the device string, the property, or batch-size of the elements"},
    GuideRow{kBatchGuide, "BATCH", "AUTO_BATCH_DEVICE_CONFIG", "the same as a property",
             "MULTI_DEVICE_PRIORITIES", ""},
    GuideRow{kBatchGuide, "BATCH", "AUTO_BATCH_TIMEOUT", "how long a request waits for others",
             "AUTO_BATCH_TIMEOUT", ""},
    GuideRow{kBatchGuide, "BATCH", "ALLOW_AUTO_BATCHING", "batches under THROUGHPUT without BATCH",
             "", "not there: batches are made where the device string or batch-size says so"},
    GuideRow{kBatchGuide, "BATCH", "OPTIMAL_BATCH_SIZE", "the batch that suits the device",
             "OPTIMAL_BATCH_SIZE", ""},
    GuideRow{kBatchGuide, "BATCH", "MAX_BATCH_SIZE", "the largest batch that fits", "",
             "not there: a batch that does not fit is an error of the compile"},
    GuideRow{kBatchGuide, "BATCH", "PERFORMANCE_HINT_NUM_REQUESTS",
             "no larger batch than requests in flight", "PERFORMANCE_HINT_NUM_REQUESTS", ""},
    GuideRow{kHintsGuide, "*", "PERFORMANCE_HINT", "latency or throughput", "PERFORMANCE_HINT", ""},
    GuideRow{kHintsGuide, "*", "PERFORMANCE_HINT_NUM_REQUESTS",
             "requests that the application will have in flight", "PERFORMANCE_HINT_NUM_REQUESTS",
             ""},
    GuideRow{kHintsGuide, "*", "OPTIMAL_NUMBER_OF_INFER_REQUESTS", "requests to create",
             "OPTIMAL_NUMBER_OF_INFER_REQUESTS", "the elements take it where nireq is 0"},
    GuideRow{kHintsGuide, "*", "EXECUTION_MODE_HINT", "speed or accuracy", "EXECUTION_MODE_HINT",
             ""},
    GuideRow{kHintsGuide, "*", "INFERENCE_PRECISION_HINT", "type of the arithmetic",
             "INFERENCE_PRECISION_HINT", ""},
    GuideRow{kCpuGuide, "CPU", "NUM_STREAMS", "requests at the same time", "NUM_STREAMS", ""},
    GuideRow{kCpuGuide, "CPU", "CPU_THROUGHPUT_STREAMS", "the same in the guides until 2021",
             "NUM_STREAMS", ""},
    GuideRow{kCpuGuide, "CPU", "INFERENCE_NUM_THREADS", "threads in all", "INFERENCE_NUM_THREADS",
             "of a model; all models together compute on no more than there are cores"},
    GuideRow{kCpuGuide, "CPU", "CPU_THREADS_NUM", "the same in the guides until 2021",
             "INFERENCE_NUM_THREADS", ""},
    GuideRow{kCpuGuide, "CPU", "ENABLE_CPU_PINNING", "threads bound to cores", "ENABLE_CPU_PINNING",
             ""},
    GuideRow{kCpuGuide, "CPU", "CPU_BIND_THREAD", "the same in the guides until 2021",
             "ENABLE_CPU_PINNING", ""},
    GuideRow{kCpuGuide, "CPU", "AFFINITY", "the same in the guides of 2022", "ENABLE_CPU_PINNING",
             "CORE is YES, NUMA is NUMA, NONE is NO"},
    GuideRow{
        kCpuGuide, "CPU", "ENABLE_CPU_RESERVATION", "cores that no other model uses", "",
        "not there: models take turns on the cores; SPARE_CORES leaves some to what is no model"},
    GuideRow{kCpuGuide, "CPU", "ENABLE_HYPER_THREADING", "both threads of a core",
             "ENABLE_HYPER_THREADING", ""},
    GuideRow{kCpuGuide, "CPU", "SCHEDULING_CORE_TYPE", "performance or efficient cores",
             "SCHEDULING_CORE_TYPE", ""},
    GuideRow{kCpuGuide, "CPU", "ENFORCE_BF16", "bfloat16 in the guides until 2021",
             "INFERENCE_PRECISION_HINT", ""},
    GuideRow{kCpuGuide, "CPU", "CPU_DENORMALS_OPTIMIZATION", "subnormal numbers are 0",
             "CPU_DENORMALS_OPTIMIZATION", ""},
    GuideRow{kCpuGuide, "CPU", "CPU_SPARSE_WEIGHTS_DECOMPRESSION_RATE",
             "weights that are mostly 0 kept packed", "",
             "not there: weights are read as they are"},
    GuideRow{kCpuGuide, "CPU", "DYN_BATCH_ENABLED", "smaller batches at run time, until 2021", "",
             "not there: leave the dimension unbound, or use BATCH"},
    GuideRow{kCpuGuide, "CPU", "DYN_BATCH_LIMIT", "its limit", "", "not there, as above"},
    GuideRow{kCpuGuide, "CPU", "KV_CACHE_PRECISION", "type of the cache of language models", "",
             "not there: states have the type of the model"},
    GuideRow{kCpuGuide, "CPU", "DYNAMIC_QUANTIZATION_GROUP_SIZE",
             "activations of language models in bytes", "",
             "not there: models are quantised before"},
    GuideRow{kCpuGuide, "CPU", "COMPILATION_NUM_THREADS", "threads of a compile", "",
             "not there: a compile has no threads of its own to limit"},
    GuideRow{kCpuGuide, "CPU", "ENABLE_MMAP", "weights stay in the file", "",
             "not there: model files are always mapped"},
    GuideRow{kGpuGuide, "GPU", "GPU.0, GPU.1", "one of several devices", "",
             "in the device string"},
    GuideRow{kGpuGuide, "GPU", "NUM_STREAMS", "requests at the same time", "NUM_STREAMS", ""},
    GuideRow{kGpuGuide, "GPU", "GPU_THROUGHPUT_STREAMS", "the same in the guides until 2021",
             "NUM_STREAMS", ""},
    GuideRow{kGpuGuide, "GPU", "GPU_QUEUE_PRIORITY", "beside other queues", "GPU_QUEUE_PRIORITY",
             ""},
    GuideRow{kGpuGuide, "GPU", "CLDNN_PLUGIN_PRIORITY", "the same in the guides until 2020",
             "GPU_QUEUE_PRIORITY", ""},
    GuideRow{kGpuGuide, "GPU", "GPU_PLUGIN_PRIORITY", "the same in the guide of 2021",
             "GPU_QUEUE_PRIORITY", ""},
    GuideRow{kGpuGuide, "GPU", "GPU_QUEUE_THROTTLE", "how the driver waits", "GPU_QUEUE_THROTTLE",
             ""},
    GuideRow{kGpuGuide, "GPU", "CLDNN_PLUGIN_THROTTLE", "the same in the guides until 2020",
             "GPU_QUEUE_THROTTLE", ""},
    GuideRow{kGpuGuide, "GPU", "GPU_PLUGIN_THROTTLE", "the same in the guide of 2021",
             "GPU_QUEUE_THROTTLE", ""},
    GuideRow{kGpuGuide, "GPU", "MODEL_PRIORITY", "this model beside others", "MODEL_PRIORITY", ""},
    GuideRow{kGpuGuide, "GPU", "GPU_HOST_TASK_PRIORITY",
             "cores of the threads that feed the device", "",
             "not there: SPARE_CORES makes CPU leave them a core"},
    GuideRow{kGpuGuide, "GPU", "CONFIG_FILE", "OpenCL kernels of one's own", "CONFIG_FILE", ""},
    GuideRow{kGpuGuide, "GPU", "GPU_DISABLE_WINOGRAD_CONVOLUTION",
             "no algorithms with larger rounding errors", "EXECUTION_MODE_HINT", "ACCURACY"},
    GuideRow{kGpuGuide, "GPU", "GPU_ENABLE_LOOP_UNROLLING", "loops of known length in the graph",
             "", "not there: GPU has no loops; HETERO runs them on CPU"},
    GuideRow{kGpuGuide, "GPU", "GPU_ENABLE_SDPA_OPTIMIZATION", "fused attention", "",
             "not there: no switch"},
    GuideRow{kGpuGuide, "GPU", "CLDNN_INT8_ENABLED", "int8 kernels, until 2020", "GPU_INT8", ""},
    GuideRow{kGpuGuide, "GPU", "CLDNN_ENABLE_FP16_FOR_QUANTIZED_MODELS",
             "what is not quantised in half, 2021", "INFERENCE_PRECISION_HINT", ""},
    GuideRow{kGpuGuide, "GPU", "CLDNN_NV12_TWO_INPUTS", "NV12 pictures as two inputs, until 2021",
             "", "not there: set_image() takes NV12 for one input"},
    GuideRow{kGpuGuide, "GPU", "CLDNN_MEM_POOL", "buffers share memory, until 2020", "",
             "not there: they always do"},
    GuideRow{kGpuGuide, "GPU", "TUNING_MODE", "kernels chosen by measuring, until 2020",
             "CACHE_DIR", "measured in a compile, kept there"},
    GuideRow{kGpuGuide, "GPU", "TUNING_FILE", "where the choices are kept, until 2020", "CACHE_DIR",
             ""},
    GuideRow{kGpuGuide, "GPU", "CLDNN_GRAPH_DUMPS_DIR", "the graph in files, until 2021",
             "HETERO_DUMP_GRAPH_DOT", "for HETERO:GPU, into the working directory"},
    GuideRow{kGpuGuide, "GPU", "CLDNN_SOURCES_DUMPS_DIR", "kernels' sources in files, until 2021",
             "", "not there: the kernels lie in devices/gpu/kernels"},
    GuideRow{kGpuGuide, "GPU", "DUMP_KERNELS", "own kernels' sources in files, until 2020", "",
             "not there: errors quote the build log"},
    GuideRow{kGpuGuide, "GPU", "ov::intel_gpu::ocl_context", "work in the application's context",
             "", "Core::create_context() with cl_context"},
    GuideRow{kGpuGuide, "GPU", "ov::intel_gpu::ocl_queue", "the application's queue", "",
             "Core::create_context() with cl_queue"},
    GuideRow{kGpuGuide, "GPU", "ov::intel_gpu::va_device", "surfaces of a VA display", "",
             "Core::create_context() with VADisplay"},
    GuideRow{kGpuGuide, "GPU", "GPU_DEVICE_TOTAL_MEM_SIZE", "memory of the device",
             "GPU_DEVICE_TOTAL_MEM_SIZE", ""},
    GuideRow{kGpuGuide, "GPU", "GPU_EXECUTION_UNITS_COUNT", "compute units",
             "GPU_EXECUTION_UNITS_COUNT", ""},
    GuideRow{kGpuGuide, "GPU", "GPU_UARCH_VERSION", "version of the hardware", "GPU_FEATURES",
             "what kernels are chosen by instead"},
    GuideRow{kGpuGuide, "GPU", "GPU_MEMORY_STATISTICS", "memory in use", "",
             "not there: hetero bench prints that of the process"},
    GuideRow{kCachingGuide, "*", "CACHE_DIR", "faster second starts", "CACHE_DIR",
             "keeps measured choices and built kernels; whole models with WEIGHT_SHARING, on CPU"},
    GuideRow{kCachingGuide, "*", "export_model, import_model", "a compiled model in a file", "",
             "CompiledModel::export_model(), Core::import_model()"},
    GuideRow{kCachingGuide, "HETERO", "WEIGHTS_PATH", "where the weights of a compiled model lie",
             "WEIGHTS_PATH", ""},
    GuideRow{kCachingGuide, "*", "CACHE_MODE", "small or fast files", "",
             "not there: a file that is mapped has to be a fast one"},
    GuideRow{kCachingGuide, "*", "CACHE_ENCRYPTION_CALLBACKS", "encrypted files", "",
             "not there, as above"},
    GuideRow{kCachingGuide, "*", "LOADED_FROM_CACHE", "whether a file was used", "",
             "not there, as above"},
    GuideRow{kQueryGuide, "*", "AVAILABLE_DEVICES", "devices of this machine", "",
             "Core::available_devices(), hetero devices"},
    GuideRow{kQueryGuide, "*", "SUPPORTED_PROPERTIES", "properties that a device knows",
             "SUPPORTED_PROPERTIES", ""},
    GuideRow{kQueryGuide, "*", "FULL_DEVICE_NAME", "name of the hardware", "FULL_DEVICE_NAME", ""},
    GuideRow{kQueryGuide, "*", "DEVICE_TYPE", "discrete or integrated", "DEVICE_TYPE", ""},
    GuideRow{kQueryGuide, "*", "OPTIMIZATION_CAPABILITIES", "types that it computes in",
             "OPTIMIZATION_CAPABILITIES", ""},
    GuideRow{kQueryGuide, "*", "RANGE_FOR_STREAMS", "useful numbers of streams",
             "RANGE_FOR_STREAMS", ""},
    GuideRow{kQueryGuide, "*", "RANGE_FOR_ASYNC_INFER_REQUESTS", "useful numbers of requests",
             "OPTIMAL_NUMBER_OF_INFER_REQUESTS", "one number"},
    GuideRow{kQueryGuide, "*", "NETWORK_NAME", "name of a compiled model", "NETWORK_NAME", ""},
    GuideRow{kQueryGuide, "*", "DEVICE_UUID", "identity of the hardware", "",
             "not there: GPU.0, GPU.1 in the order of the drivers"},
    GuideRow{kQueryGuide, "*", "DEVICE_GOPS", "peak speed", "", "not there: hetero bench measures"},
    GuideRow{kQueryGuide, "*", "DEVICE_THERMAL", "temperature", "",
             "not there for CPU and GPU; HDDL_DEVICE_THERMAL of VPU"},
    GuideRow{kQueryGuide, "*", "DEVICE_ARCHITECTURE", "family of the hardware", "FULL_DEVICE_NAME",
             ""},
    GuideRow{kProfilingGuide, "*", "PERF_COUNT", "times of single operations", "PERF_COUNT",
             "also hetero bench -pc, -trace, and heterotrace for frames"},
    GuideRow{kProfilingGuide, "*", "ITT tasks", "tasks for VTune", "",
             "elements, requests and nodes, in builds with libittnotify (docs/tracing.md)"},
    GuideRow{kOptimizingGuide, "*", "start_async, set_callback", "several requests in flight", "",
             "InferRequest::start_async(), set_callback(); nireq of the elements"},
    GuideRow{kOptimizingGuide, "*", "preprocessing in the model",
             "mean, scale, type, layout and order of channels", "MEAN_VALUES",
             "also SCALE_VALUES, INPUT_TYPES, INPUT_LAYOUTS, REVERSE_INPUT_CHANNELS; set_image() "
             "resizes and converts"},
    GuideRow{kOptimizingGuide, "*", "reshape", "another size of the input", "INPUT_SHAPES", ""},
    GuideRow{kOptimizingGuide, "*", "set_batch", "another batch", "BATCH_SIZE", ""},
    GuideRow{kOptimizingGuide, "*", "remote tensors", "pictures that stay in the device's memory",
             "", "Core::create_context(), Image with VA surfaces or DMA-BUFs (docs/media.md)"},
    GuideRow{kOptimizingGuide, "*", "query_state, reset_state", "models with state", "",
             "CompiledModel::query_state(), reset_state(), InferRequest::set_stream(): a state "
             "belongs to a stream"},
};

/// "HETERO", "GPU" and "CPU" of "HETERO:GPU.1,CPU(2)".
bool is_part_of(std::string_view kind, std::string_view device) {
  while (!device.empty()) {
    const size_t end = device.find_first_of(":,;");
    const std::string_view part = device.substr(0, end);
    if (part.substr(0, part.find_first_of(".(")) == kind) return true;
    if (end == std::string_view::npos) break;
    device.remove_prefix(end + 1);
  }
  return false;
}

}  // namespace

std::span<const GuideRow> guide_table() {
  return kGuideRows;
}

bool is_property_key(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

bool is_accepted_as_written(const GuideRow& row) {
  return is_property_key(row.name) &&
         find_property(row.name, row.devices == "*" ? "CPU" : row.devices).has_value();
}

bool concerns(const GuideRow& row, std::string_view device) {
  return row.devices == "*" || is_part_of(row.devices, device);
}

}  // namespace het
