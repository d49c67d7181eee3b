#include "inference/properties.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "inference/device_properties.h"

#include "inference/edit_distance.h"

namespace het {
namespace {

constexpr int64_t kMaxStreams = 1024;
constexpr int64_t kMaxRequests = 65536;
constexpr int64_t kMaxBatch = 65536;

constexpr std::array kTable = {
    PropertyDef{.name = "AUTO_BATCH_TIMEOUT",
                .type = PropertyType::Integer,
                .default_value = "1000",
                .minimum = 0,
                .maximum = std::numeric_limits<int32_t>::max(),
                .devices = "BATCH",
                .doc = "milliseconds that a request waits for others to make a batch with, before "
                       "it runs alone"},
    PropertyDef{.name = "BATCH_SIZE",
                .type = PropertyType::Integer,
                .default_value = "0",
                .minimum = 0,
                .maximum = kMaxBatch,
                .devices = "*",
                .is_preparation = true,
                .doc = "batch size that the model is given; 0: as in the file"},
    PropertyDef{.name = "CACHE_DIR",
                .devices = "*",
                .doc = "folder in which measured choices are kept, by default gst-hetero in "
                       "$XDG_CACHE_HOME or ~/.cache; empty: none, and nothing is measured"},
    PropertyDef{.name = "COMPRESS_TO_FP16",
                .type = PropertyType::Boolean,
                .default_value = "NO",
                .devices = "*",
                .is_preparation = true,
                .doc = "store float32 weights as float16"},
    PropertyDef{.name = "CONFIG_FILE",
                .devices = "GPU",
                .doc = "XML file with OpenCL kernels of one's own, as OpenVINO's custom layers"},
    PropertyDef{.name = "CPU_DENORMALS_OPTIMIZATION",
                .type = PropertyType::Boolean,
                .default_value = "YES",
                .devices = "CPU",
                .doc = "take numbers below 1.2e-38 for 0, which is faster; not with "
                       "EXECUTION_MODE_HINT=ACCURACY unless given"},
    PropertyDef{.name = "DETERMINISTIC",
                .type = PropertyType::Boolean,
                .default_value = "NO",
                .devices = "*",
                .doc = "fixed rules choose algorithms and types, never a measurement"},
    PropertyDef{.name = "DEVICE_PROPERTIES",
                .devices = "AUTO,HETERO,MULTI",
                .doc =
                    "properties of single devices: {CPU:{NUM_STREAMS:2},GPU:{PERF_COUNT:YES}} or "
                    "the same as JSON; GPU.PERF_COUNT=YES says one of them"},
    PropertyDef{.name = "DEVICE_TOTAL_MEM_SIZE",
                .read_only = true,
                .devices = "CPU",
                .doc = "memory of the machine in bytes"},
    PropertyDef{.name = "DEVICE_TYPE",
                .read_only = true,
                .devices = "*",
                .doc = "discrete: an accelerator with memory of its own; integrated: one that "
                       "shares the processor's; cpu: computes on the processor's cores"},
    PropertyDef{.name = "ENABLE_CPU_PINNING",
                .type = PropertyType::Choice,
                .default_value = "YES",
                .choices = "YES|NUMA|NO",
                .devices = "CPU",
                .doc = "bind threads to a core each (YES) or to the NUMA node of their stream"},
    PropertyDef{.name = "ENABLE_HYPER_THREADING",
                .type = PropertyType::Boolean,
                .default_value = "YES",
                .devices = "CPU",
                .doc = "use all hardware threads of a core; not under LATENCY unless given"},
    PropertyDef{.name = "ENABLE_STARTUP_FALLBACK",
                .type = PropertyType::Boolean,
                .default_value = "YES",
                .devices = "AUTO",
                .doc = "CPU runs requests while a better device compiles; not with "
                       "DETERMINISTIC=YES"},
    PropertyDef{.name = "EXCLUSIVE_ASYNC_REQUESTS",
                .type = PropertyType::Boolean,
                .default_value = "NO",
                .devices = "*",
                .doc = "all models on a device that have it run their requests one after the "
                       "other, first come first served; of HETERO, MULTI, AUTO and BATCH on each "
                       "of their devices"},
    PropertyDef{.name = "EXECUTION_DEVICES",
                .read_only = true,
                .devices = "*",
                .doc = "devices that run a compiled model"},
    PropertyDef{
        .name = "EXECUTION_MODE_HINT",
        .type = PropertyType::Choice,
        .default_value = "PERFORMANCE",
        .choices = "PERFORMANCE|ACCURACY",
        .devices = "*",
        .doc = "whether a device may choose a narrower type or an algorithm with larger rounding "
               "errors where that is faster"},
    PropertyDef{.name = "EXTENSIONS",
                .devices = "*",
                .doc =
                    "shared libraries with operators of one's own (inference/custom_operator.h), "
                    "separated by ';'"},
    PropertyDef{.name = "FOLD_PREPROCESS",
                .type = PropertyType::Boolean,
                .default_value = "NO",
                .devices = "*",
                .is_preparation = true,
                .doc = "fold the normalisation of pictures into the first convolution; implied by "
                       "mean and scale"},
    PropertyDef{.name = "FULL_DEVICE_NAME",
                .read_only = true,
                .devices = "*",
                .doc = "name of the hardware"},
    PropertyDef{.name = "GPU_ALLOW_CPU",
                .type = PropertyType::Boolean,
                .default_value = "NO",
                .devices = "GPU",
                .doc = "an OpenCL implementation on the CPU, such as PoCL, counts as a GPU; so it "
                       "does with HETERO_GPU_ALLOW_CPU=1 in the environment"},
    PropertyDef{.name = "GPU_COMPLETION",
                .type = PropertyType::Choice,
                .default_value = "CALLBACK",
                .choices = "CALLBACK|WAIT",
                .devices = "GPU",
                .doc = "who ends a request: the driver's callback or, for drivers whose callbacks "
                       "come late, a waiting thread per stream"},
    PropertyDef{.name = "GPU_DEVICE_TOTAL_MEM_SIZE",
                .read_only = true,
                .devices = "GPU",
                .doc = "memory of the device in bytes"},
    PropertyDef{.name = "GPU_EXECUTION_UNITS_COUNT",
                .read_only = true,
                .devices = "GPU",
                .doc = "compute units of the device"},
    PropertyDef{.name = "GPU_FEATURES",
                .read_only = true,
                .devices = "GPU",
                .doc = "OpenCL version and what of fp16, subgroups, dp4a and unified-memory the "
                       "device has; fp16 and dp4a were tried"},
    PropertyDef{
        .name = "GPU_INT8",
        .type = PropertyType::Choice,
        .default_value = "AUTO",
        .choices = "AUTO|YES|NO",
        .devices = "GPU",
        .doc = "products of quantised values are computed in bytes; AUTO: where the device has "
               "instructions for it or it was measured to be faster, and not with "
               "EXECUTION_MODE_HINT=ACCURACY"},
    PropertyDef{.name = "GPU_PICTURE_CONVERSION",
                .type = PropertyType::Choice,
                .default_value = "DEVICE",
                .choices = "DEVICE|HOST",
                .devices = "GPU",
                .doc = "who turns pictures into tensors: a kernel of the device, where the input's "
                       "type allows it, or the CPU"},
    PropertyDef{.name = "GPU_QUEUE_PRIORITY",
                .type = PropertyType::Choice,
                .default_value = "DEFAULT",
                .choices = "DEFAULT|LOW|MEDIUM|HIGH",
                .devices = "GPU",
                .doc = "of the model's command queues, where the driver knows such a hint"},
    PropertyDef{.name = "GPU_QUEUE_THROTTLE",
                .type = PropertyType::Choice,
                .default_value = "DEFAULT",
                .choices = "DEFAULT|LOW|MEDIUM|HIGH",
                .devices = "GPU",
                .doc = "how busy the driver's threads wait, where the driver knows such a hint"},
    PropertyDef{.name = "GPU_SURFACE_IMPORT",
                .read_only = true,
                .devices = "GPU",
                .doc = "how pictures in VA surfaces and DMA-BUFs reach the device: the extension "
                       "that imports them, or a mapped copy"},
    PropertyDef{
        .name = "HETERO_AFFINITY",
        .devices = "HETERO",
        .doc = "which nodes run where: a JSON file, or the JSON itself (docs/placement.md)"},
    PropertyDef{.name = "HETERO_DUMP_GRAPH_DOT",
                .type = PropertyType::Boolean,
                .default_value = "NO",
                .devices = "HETERO",
                .doc = "write hetero_affinity_MODEL and hetero_subgraphs_MODEL as .dot, .svg and "
                       ".json into the working directory; so does OPENVINO_HETERO_VISUALIZE=1 in "
                       "the environment"},
    PropertyDef{.name = "HETERO_EXECUTOR",
                .type = PropertyType::Choice,
                .default_value = "AUTO",
                .choices = "AUTO|LINEAR|DATAFLOW|PARALLEL",
                .devices = "HETERO",
                .doc = "subgraphs of one request: one at a time in the model's order (LINEAR) or "
                       "the one with most behind it first (DATAFLOW), or all that can (PARALLEL); "
                       "AUTO: LINEAR under the policy latency, else PARALLEL"},
    PropertyDef{.name = "HETERO_EXPLAIN",
                .type = PropertyType::Boolean,
                .default_value = "NO",
                .devices = "HETERO",
                .doc = "measure everything for HETERO_PLAN, under priority and with a stored plan "
                       "too"},
    PropertyDef{.name = "HETERO_FAIL_OVER",
                .type = PropertyType::Boolean,
                .default_value = "YES",
                .devices = "HETERO",
                .doc = "a request whose device fails is run again on the others, and later ones go "
                       "there; not with HETERO_STRICT"},
    PropertyDef{.name = "HETERO_MIXES",
                .type = PropertyType::Boolean,
                .default_value = "YES",
                .devices = "HETERO",
                .doc = "under the policy throughput, whether executions may be shared among "
                       "several placements; NO: all take the same"},
    PropertyDef{.name = "HETERO_NUMBER_OF_SUBMODELS",
                .read_only = true,
                .devices = "HETERO",
                .doc = "subgraphs that the model was split into"},
    PropertyDef{.name = "HETERO_PLAN",
                .read_only = true,
                .devices = "HETERO",
                .doc = "how a model was placed: candidates with their times, subgraphs, cuts"},
    PropertyDef{.name = "HETERO_POLICY",
                .type = PropertyType::Choice,
                .default_value = "priority",
                .choices = "priority|latency|parallel|throughput",
                .devices = "HETERO",
                .doc = "priority: every node on the first device that takes it; the others measure "
                       "devices and plans when the model is compiled, for one request (latency), "
                       "one with branches side by side (parallel) or many requests (throughput), "
                       "and never choose a plan that is slower than the best device alone; "
                       "priority with DETERMINISTIC=YES"},
    PropertyDef{.name = "HETERO_RETRY_INTERVAL",
                .type = PropertyType::Integer,
                .default_value = "10000",
                .minimum = 0,
                .maximum = std::numeric_limits<int32_t>::max(),
                .devices = "HETERO",
                .doc = "milliseconds until a device that failed is tried again beside running "
                       "requests, and taken back where it works, else again in growing intervals; "
                       "0: never"},
    PropertyDef{.name = "HETERO_STRICT",
                .type = PropertyType::Boolean,
                .default_value = "NO",
                .devices = "HETERO",
                .doc = "every node runs on the first device or where its affinity says; one that "
                       "cannot is an error instead of going to the next device"},
    PropertyDef{.name = "INFERENCE_NUM_THREADS",
                .type = PropertyType::Integer,
                .default_value = "0",
                .minimum = 0,
                .maximum = kMaxStreams,
                .devices = "CPU",
                .doc = "threads of all streams together; 0: the cores this process may use"},
    PropertyDef{.name = "INFERENCE_PRECISION_HINT",
                .type = PropertyType::Choice,
                .default_value = "dynamic",
                .choices = "f32|bf16|f16|dynamic",
                .devices = "*",
                .doc = "type of the arithmetic; dynamic: the device chooses"},
    PropertyDef{
        .name = "INPUT_LAYOUTS",
        .devices = "*",
        .is_preparation = true,
        .doc = "meaning of the dimensions: NCHW, name[NHWC]; name[NHWC->NCHW] changes them"},
    PropertyDef{
        .name = "INPUT_SHAPES",
        .devices = "*",
        .is_preparation = true,
        .doc = "[1,3,320,320], name[1,3,320,320] or sizes of named dimensions: N=1;height=320"},
    PropertyDef{.name = "INPUT_TYPES",
                .devices = "*",
                .is_preparation = true,
                .doc = "element types of the inputs, converted inside: u8 or name:u8;other:f32"},
    PropertyDef{.name = "MEAN_VALUES",
                .devices = "*",
                .is_preparation = true,
                .doc = "subtracted per channel inside the model: [123.7,116.3,103.5] or name[...]"},
    PropertyDef{.name = "MODEL_DISTRIBUTION_POLICY",
                .type = PropertyType::Choice,
                .choices = "|PIPELINE_PARALLEL|TENSOR_PARALLEL",
                .devices = "HETERO",
                .doc = "PIPELINE_PARALLEL: each device of the list takes as many nodes as its "
                       "memory has room for weights, in the order of the model, instead of what "
                       "HETERO_POLICY says; TENSOR_PARALLEL: refused"},
    PropertyDef{
        .name = "MODEL_OUTPUTS",
        .devices = "*",
        .is_preparation = true,
        .doc = "outputs by name or NODE:PORT, separated by semicolons; the rest is removed"},
    PropertyDef{.name = "MODEL_PRIORITY",
                .type = PropertyType::Choice,
                .default_value = "DEFAULT",
                .choices = "DEFAULT|LOW|MEDIUM|HIGH",
                .devices = "GPU",
                .doc = "of this model beside others on the device"},
    PropertyDef{.name = "MULTI_DEVICE_PRIORITIES",
                .devices = "AUTO,BATCH,HETERO,MULTI",
                .doc = "what may also follow the colon of the device's name: GPU(8) for BATCH, "
                       "GPU,CPU for HETERO and AUTO, GPU(2),CPU for MULTI, where a compiled model "
                       "takes another order or less devices at any time"},
    PropertyDef{.name = "NETWORK_NAME",
                .read_only = true,
                .devices = "*",
                .doc = "name of a compiled model"},
    PropertyDef{.name = "NUM_STREAMS",
                .type = PropertyType::Integer,
                .default_value = "0",
                .choices = "AUTO|NUMA",
                .minimum = 0,
                .maximum = kMaxStreams,
                .devices = "CPU,GPU,REF",
                .doc = "requests executed at the same time; 0: as PERFORMANCE_HINT says; AUTO: "
                       "one per core; NUMA: one per NUMA node"},
    PropertyDef{.name = "OPTIMAL_BATCH_SIZE",
                .read_only = true,
                .devices = "BATCH",
                .doc = "requests that one execution takes together"},
    PropertyDef{.name = "OPTIMAL_NUMBER_OF_INFER_REQUESTS",
                .read_only = true,
                .devices = "*",
                .doc = "requests in flight that keep a compiled model busy"},
    PropertyDef{.name = "OPTIMIZATION_CAPABILITIES",
                .read_only = true,
                .devices = "*",
                .doc = "types that the device computes in"},
    PropertyDef{.name = "OUTPUT_TYPES",
                .devices = "*",
                .is_preparation = true,
                .doc = "element types of the outputs: f32 or name:f32;other:f16"},
    PropertyDef{.name = "PERFORMANCE_HINT",
                .type = PropertyType::Choice,
                .default_value = "LATENCY",
                .choices = "LATENCY|THROUGHPUT|CUMULATIVE_THROUGHPUT",
                .devices = "*",
                .doc = "what streams and threads are chosen for"},
    PropertyDef{.name = "PERFORMANCE_HINT_NUM_REQUESTS",
                .type = PropertyType::Integer,
                .default_value = "0",
                .minimum = 0,
                .maximum = kMaxRequests,
                .devices = "*",
                .doc = "requests the application will have in flight at most; 0: unknown"},
    PropertyDef{.name = "PERF_COUNT",
                .type = PropertyType::Boolean,
                .default_value = "NO",
                .devices = "*",
                .doc = "time every node; InferRequest::profiling() returns the rows"},
    PropertyDef{.name = "RANGE_FOR_STREAMS",
                .read_only = true,
                .devices = "CPU,GPU,REF",
                .doc = "smallest and largest useful NUM_STREAMS"},
    PropertyDef{.name = "REVERSE_INPUT_CHANNELS",
                .type = PropertyType::Boolean,
                .default_value = "NO",
                .devices = "*",
                .is_preparation = true,
                .doc = "pictures come in the other order of channels (BGR for RGB)"},
    PropertyDef{
        .name = "SCALE_VALUES",
        .devices = "*",
        .is_preparation = true,
        .doc = "divided by per channel inside the model, after the mean: [255] or name[...]"},
    PropertyDef{.name = "SCHEDULING_CORE_TYPE",
                .type = PropertyType::Choice,
                .default_value = "ANY_CORE",
                .choices = "ANY_CORE|PCORE_ONLY|ECORE_ONLY",
                .devices = "CPU",
                .doc = "cores of a hybrid processor; ANY_CORE: the fast ones only under LATENCY"},
    PropertyDef{.name = "SPARE_CORES",
                .type = PropertyType::Integer,
                .default_value = "0",
                .minimum = 0,
                .maximum = kMaxStreams,
                .devices = "CPU",
                .doc = "cores left to others as far as more than one is there; not with "
                       "INFERENCE_NUM_THREADS; AUTO, HETERO and MULTI leave one to the thread "
                       "that feeds an accelerator"},
    PropertyDef{.name = "SUPPORTED_PROPERTIES",
                .read_only = true,
                .devices = "*",
                .doc = "names of all properties that the device understands"},
    PropertyDef{.name = "VPU_TIMEOUT",
                .type = PropertyType::Integer,
                .default_value = "10000",
                .minimum = 10,
                .maximum = std::numeric_limits<int32_t>::max(),
                .devices = "VPU",
                .doc = "milliseconds without an answer to a request after which the device counts "
                       "as lost, for all models on it"},
};

struct Alias {
  std::string_view old_name;
  std::string_view name;
};

/// Names of OpenVINO's older guides.
constexpr std::array kAliases = {
    Alias{"AUTO_BATCH_DEVICE_CONFIG", "MULTI_DEVICE_PRIORITIES"},
    Alias{"CLDNN_PLUGIN_PRIORITY", "GPU_QUEUE_PRIORITY"},
    Alias{"CLDNN_PLUGIN_THROTTLE", "GPU_QUEUE_THROTTLE"},
    Alias{"CPU_BIND_THREAD", "ENABLE_CPU_PINNING"},
    Alias{"CPU_BIND_THREADS", "ENABLE_CPU_PINNING"},
    Alias{"CPU_THREADS_NUM", "INFERENCE_NUM_THREADS"},
    Alias{"CPU_THROUGHPUT_STREAMS", "NUM_STREAMS"},
    Alias{"ENFORCE_BF16", "INFERENCE_PRECISION_HINT"},
    Alias{"GPU_PLUGIN_PRIORITY", "GPU_QUEUE_PRIORITY"},
    Alias{"GPU_PLUGIN_THROTTLE", "GPU_QUEUE_THROTTLE"},
    Alias{"GPU_THROUGHPUT_STREAMS", "NUM_STREAMS"},
    Alias{"TARGET_FALLBACK", "MULTI_DEVICE_PRIORITIES"},
};

bool contains(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const size_t comma = list.find(',');
    if (list.substr(0, comma) == word) return true;
    if (comma == std::string_view::npos) break;
    list.remove_prefix(comma + 1);
  }
  return false;
}

/// "AUTO" and "AUTO:-GPU" stand for whatever devices there are.
bool is_open_list(std::string_view device) {
  if (device.substr(0, device.find(':')) != "AUTO") return false;
  return device.size() <= 5 || device.find('-') != std::string_view::npos;
}

/// True for a row that devices know which compute.
bool is_of_single_devices(const PropertyDef& def) {
  for (const std::string_view device : {"CPU", "GPU", "REF", "VPU"}) {
    if (contains(def.devices, device)) return true;
  }
  return false;
}

/// `device` as users write it; one of its parts suffices: "BATCH:GPU.0(8)" is BATCH and GPU.
bool understands(const PropertyDef& def, std::string_view device) {
  if (def.devices == "*") return true;
  if (is_open_list(device) && is_of_single_devices(def)) return true;
  while (!device.empty()) {
    const size_t end = device.find_first_of(":,;");
    const std::string_view part = device.substr(0, end);
    if (contains(def.devices, part.substr(0, part.find_first_of(".(")))) return true;
    if (end == std::string_view::npos) break;
    device.remove_prefix(end + 1);
  }
  return false;
}

bool is_one_of(std::string_view value, std::string_view choices) {
  while (!choices.empty()) {
    const size_t bar = choices.find('|');
    if (choices.substr(0, bar) == value) return true;
    if (bar == std::string_view::npos) break;
    choices.remove_prefix(bar + 1);
  }
  return false;
}

std::string describe_choices(std::string_view choices) {
  std::string text(choices);
  std::replace(text.begin(), text.end(), '|', ' ');
  return text;
}

Result<int64_t> parse_integer(std::string_view text) {
  int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size()) {
    return error(StatusCode::InvalidArgument, "'{}' is not an integer", text);
  }
  return value;
}

/// YES and NO for the other words that mean them; anything else as it is.
std::string plain_boolean(const std::string& value) {
  if (value == "true" || value == "TRUE" || value == "1") return "YES";
  if (value == "false" || value == "FALSE" || value == "0") return "NO";
  return value;
}

/// The value in its normal form, or why it is not one.
Result<std::string> check_value(const PropertyDef& def, const std::string& value) {
  switch (def.type) {
    case PropertyType::Text:
      return value;
    case PropertyType::Boolean: {
      const std::string text = plain_boolean(value);
      if (text == "YES" || text == "NO") return text;
      return error(StatusCode::InvalidArgument, "property {} takes YES or NO, not '{}'", def.name,
                   value);
    }
    case PropertyType::Choice:
      if (is_one_of(value, def.choices)) return value;
      if (is_one_of(plain_boolean(value), def.choices)) return plain_boolean(value);
      return error(StatusCode::InvalidArgument, "property {} takes one of {}, not '{}'", def.name,
                   describe_choices(def.choices), value);
    case PropertyType::Integer: {
      if (!def.choices.empty() && is_one_of(value, def.choices)) return value;
      const auto number = parse_integer(value);
      if (!number || *number < def.minimum || *number > def.maximum) {
        return error(StatusCode::InvalidArgument,
                     "property {} takes an integer from {} to {}{}{}, not '{}'", def.name,
                     def.minimum, def.maximum, def.choices.empty() ? "" : " or ",
                     describe_choices(def.choices), value);
      }
      return value;
    }
    case PropertyType::Float: {
      char* end = nullptr;
      const double number = std::strtod(value.c_str(), &end);
      if (value.empty() || *end != '\0' || !std::isfinite(number)) {
        return error(StatusCode::InvalidArgument, "property {} takes a number, not '{}'", def.name,
                     value);
      }
      return value;
    }
  }
  return value;
}

/// The next comma outside brackets: values such as "[1,3,320,320],size[1,2]" keep theirs.
size_t find_comma(std::string_view text) {
  size_t depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[' || text[i] == '{') ++depth;
    if ((text[i] == ']' || text[i] == '}') && depth > 0) --depth;
    if (text[i] == ',' && depth == 0) return i;
  }
  return std::string_view::npos;
}

/// "GPU" and "GPU.1" are members of "HETERO:GPU.1,CPU".
bool is_member(std::string_view member, std::string_view device) {
  const size_t colon = device.find(':');
  if (is_open_list(device)) return true;
  if (colon == std::string_view::npos) return false;
  device.remove_prefix(colon + 1);
  while (!device.empty()) {
    const size_t end = device.find_first_of(":,;");
    std::string_view part = device.substr(0, end);
    part = part.substr(0, part.find('('));
    if (part == member || part.substr(0, part.find('.')) == member) return true;
    if (end == std::string_view::npos) break;
    device.remove_prefix(end + 1);
  }
  return false;
}

/// The normal form of one property of one device in a composite one.
Result<std::pair<std::string, std::string>> validate_member(const MemberProperty& property,
                                                            const std::string& value,
                                                            std::string_view device) {
  if (!is_member(property.device, device)) {
    return error(StatusCode::InvalidArgument,
                 "property {}.{} is for a device '{}', which is not in {}", property.device,
                 property.name, property.device, device);
  }
  const std::string_view kind =
      std::string_view(property.device).substr(0, property.device.find('.'));
  HET_ASSIGN(const Properties single, validate_properties({{property.name, value}}, kind));
  return *single.begin();
}

const PropertyDef* table_row(std::string_view name) {
  const auto it = std::find_if(kTable.begin(), kTable.end(),
                               [&](const PropertyDef& def) { return def.name == name; });
  return it == kTable.end() ? nullptr : &*it;
}

}  // namespace

std::span<const PropertyDef> property_table() {
  return kTable;
}

std::optional<MemberProperty> split_member_property(std::string_view name) {
  const size_t point = name.rfind('.');
  if (point == std::string_view::npos) return std::nullopt;
  return MemberProperty{std::string(name.substr(0, point)), std::string(name.substr(point + 1))};
}

Result<const PropertyDef*> find_property(std::string_view name, std::string_view device) {
  const std::string_view given = name;
  for (const Alias& alias : kAliases) {
    if (alias.old_name == name) name = alias.name;
  }
  std::string valid;
  std::string_view nearest;
  size_t nearest_distance = std::numeric_limits<size_t>::max();
  for (const PropertyDef& def : kTable) {
    if (!understands(def, device)) continue;
    if (def.name == name) return &def;
    valid += valid.empty() ? "" : ", ";
    valid += def.name;
    const size_t distance = edit_distance(name, def.name);
    if (distance < nearest_distance) {
      nearest_distance = distance;
      nearest = def.name;
    }
  }
  const std::string hint = nearest_distance <= 1 + name.size() / 4
                               ? fmt::format("; did you mean {}?", nearest)
                               : std::string();
  return error(StatusCode::InvalidArgument, "device {} has no property '{}'{} Valid are: {}",
               device, given, hint.empty() ? "." : hint, valid);
}

Result<Properties> validate_properties(const Properties& properties, std::string_view device) {
  Properties checked;
  for (const auto& [name, value] : properties) {
    if (const auto member = split_member_property(name)) {
      HET_ASSIGN(const auto single, validate_member(*member, value, device));
      // What is said of one property alone counts more than DEVICE_PROPERTIES.
      checked[fmt::format("{}.{}", member->device, single.first)] = single.second;
      continue;
    }
    HET_ASSIGN(const PropertyDef* def, find_property(name, device));
    if (def->read_only) {
      return error(StatusCode::InvalidArgument, "property {} can only be read", def->name);
    }
    std::string text = value;
    if (name == "ENFORCE_BF16") text = value == "YES" ? "bf16" : "f32";
    if (name == "GPU_THROUGHPUT_STREAMS" && value == "GPU_THROUGHPUT_AUTO") text = "AUTO";
    if (name == "CPU_THROUGHPUT_STREAMS") {
      // The old guides' prefixed words.
      if (value == "CPU_THROUGHPUT_AUTO") text = "AUTO";
      if (value == "CPU_THROUGHPUT_NUMA") text = "NUMA";
    }
    if (def->name == "GPU_QUEUE_PRIORITY" || def->name == "GPU_QUEUE_THROTTLE") {
      // The old guides' numbers.
      constexpr std::array<std::string_view, 4> kWords = {"DEFAULT", "LOW", "MEDIUM", "HIGH"};
      if (text.size() == 1 && text[0] >= '0' && text[0] <= '3') text = kWords[text[0] - '0'];
    }
    if (def->name == "DEVICE_PROPERTIES") {
      HET_ASSIGN(const auto listed, parse_device_properties(value));
      for (const auto& [member, its] : listed) {
        for (const auto& [key, its_value] : its) {
          HET_ASSIGN(const auto single, validate_member({member, key}, its_value, device));
          checked.try_emplace(fmt::format("{}.{}", member, single.first), single.second);
        }
      }
      continue;
    }
    HET_ASSIGN(text, check_value(*def, text));
    checked[std::string(def->name)] = text;
  }
  return checked;
}

bool is_preparation_property(std::string_view name) {
  const PropertyDef* def = table_row(name);
  return def != nullptr && def->is_preparation;
}

std::string property_text(const Properties& properties, std::string_view name) {
  const auto it = properties.find(std::string(name));
  if (it != properties.end()) return it->second;
  const PropertyDef* def = table_row(name);
  return def ? std::string(def->default_value) : std::string();
}

int64_t property_integer(const Properties& properties, std::string_view name) {
  const std::string text = property_text(properties, name);
  if (text == "AUTO") return -1;
  const auto value = parse_integer(text);
  return value ? *value : 0;
}

bool property_boolean(const Properties& properties, std::string_view name) {
  return property_text(properties, name) == "YES";
}

std::string supported_properties(std::string_view device) {
  std::string names;
  for (const PropertyDef& def : kTable) {
    if (!understands(def, device)) continue;
    names += names.empty() ? "" : " ";
    names += def.name;
  }
  return names;
}

Result<Properties> parse_properties(std::string_view text) {
  Properties properties;
  const std::string_view original = text;
  while (!text.empty()) {
    const size_t comma = find_comma(text);
    std::string_view item = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    while (!item.empty() && item.front() == ' ') item.remove_prefix(1);
    while (!item.empty() && item.back() == ' ') item.remove_suffix(1);
    if (item.empty()) continue;
    const size_t equals = item.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      return error(StatusCode::InvalidArgument,
                   "'{}' in '{}' is not of the form KEY=VALUE,KEY=VALUE", item, original);
    }
    properties[std::string(item.substr(0, equals))] = std::string(item.substr(equals + 1));
  }
  return properties;
}

}  // namespace het
