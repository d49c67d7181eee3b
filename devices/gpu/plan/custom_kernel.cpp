#include "devices/gpu/plan/custom_kernel.h"

#include <algorithm>

#include "devices/gpu/plan/expression_text.h"
#include "devices/gpu/plan/launches.h"
#include "devices/gpu/plan/work_size.h"

namespace het::gpu {
namespace {

constexpr size_t kMostRank = 4;

const Value* value_of(const CustomArgument& argument, const Node& node) {
  const auto& values = argument.is_output ? node.outputs() : node.inputs();
  return argument.port < values.size() ? values[argument.port] : nullptr;
}

/// B, F, Y and X; dimensions that a shape lacks are 1.
FormulaSizes sizes_of(const Shape& shape) {
  FormulaSizes sizes = {1, 1, 1, 1};
  std::copy(shape.begin(), shape.end(), sizes.begin());
  return sizes;
}

const Value* sized_value(const CustomLayer& layer, const Node& node) {
  return value_of({layer.sizes_of_output, layer.sizes_port, Format::Plain}, node);
}

/// A shape of fewer dimensions than three has one order.
Format format_of(const CustomArgument& argument, const Value& value) {
  return value.desc().shape.size() < 3 ? Format::Plain : argument.format;
}

template <class Values>
std::string array_text(std::string_view type, const Values& values) {
  std::string text = fmt::format("({} []){{", type);
  for (const auto& value : values) {
    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, float>) {
      text += literal(value) + ", ";
    } else {
      text += fmt::format("{}, ", value);
    }
  }
  return text + "}";
}

std::string define(const std::string& name, const std::string& value) {
  return fmt::format("#define {} {}\n", name, value);
}

std::string array_defines(const std::string& name, const FormulaSizes& values) {
  return define(name, array_text("int", values)) + define(name + "_SIZE", "4");
}

/// OpenVINO's names for what a kernel may ask of a tensor.
std::string tensor_defines(const CustomArgument& argument, const Value& value) {
  const std::string name =
      fmt::format("{}{}", argument.is_output ? "OUTPUT" : "INPUT", argument.port);
  const FormulaSizes dims = sizes_of(value.desc().shape);
  const bool is_last = format_of(argument, value) == Format::ChannelsLast;
  const int64_t pixels = dims[2] * dims[3];
  FormulaSizes pitches = {dims[1] * pixels, pixels, dims[3], 1};
  if (is_last) pitches = {dims[1] * pixels, 1, dims[1] * dims[3], dims[1]};
  std::string text = array_defines(name + "_DIMS", dims);
  text += array_defines(name + "_PITCHES", pitches);
  text += array_defines(name + "_LOWER_PADDING", {0, 0, 0, 0});
  text += array_defines(name + "_UPPER_PADDING", {0, 0, 0, 0});
  text += define(name + "_OFFSET", "0");
  text += define(name + "_TYPE", std::string(c_type(value.desc().type)));
  return text + define(name + "_FORMAT_" + (is_last ? "BYXF" : "BFYX"), "1");
}

/// The value of a Define: numbers only, since a model may come from elsewhere and this becomes
/// code.
Result<std::string> value_text(const CustomDefine& made, const Node& node) {
  const Attribute* const attribute =
      made.param.empty() ? nullptr : node.attributes().find(made.param);
  if (attribute == nullptr) return made.standard;
  const bool as_float = made.type.starts_with("float");
  const bool as_array = made.type.ends_with("[]");
  const std::string_view type = as_float ? "float" : "int";
  const auto number = [&](auto value) {
    return as_float ? literal(static_cast<float>(value)) : fmt::format("{}", value);
  };
  if (const auto* integer = std::get_if<int64_t>(attribute); integer != nullptr && !as_array) {
    return number(*integer);
  }
  const auto* real = std::get_if<float>(attribute);
  if (real != nullptr && !as_array && (as_float || made.type.empty())) return literal(*real);
  if (const auto* list = std::get_if<std::vector<int64_t>>(attribute); list && as_array) {
    if (!as_float) return array_text(type, *list);
    return array_text(type, std::vector<float>(list->begin(), list->end()));
  }
  if (const auto* list = std::get_if<std::vector<float>>(attribute); list && as_array && as_float) {
    return array_text(type, *list);
  }
  return error(StatusCode::InvalidArgument, "the attribute '{}' is not of type '{}'", made.param,
               made.type.empty() ? "int or float" : made.type);
}

struct WorkSizes {
  std::vector<size_t> global;
  std::vector<size_t> local;
};

/// Kernels of users do not check bounds: the global size stays exact.
Result<WorkSizes> work_sizes(const CustomLayer& layer, const Node& node) {
  const FormulaSizes sizes = sizes_of(sized_value(layer, node)->desc().shape);
  WorkSizes work;
  HET_ASSIGN(work.global, evaluate_work_sizes(layer.global, sizes));
  HET_ASSIGN(work.local, evaluate_work_sizes(layer.local, sizes));
  if (work.global.empty()) return error(StatusCode::InvalidArgument, "it has no global work size");
  if (!work.local.empty() && work.local.size() != work.global.size()) {
    return error(StatusCode::InvalidArgument, "'{}' has other dimensions than '{}'", layer.local,
                 layer.global);
  }
  for (size_t i = 0; i < work.local.size(); ++i) {
    if (work.global[i] % work.local[i] == 0) continue;
    return error(StatusCode::InvalidArgument, "global work size {} is no multiple of the local {}",
                 work.global[i], work.local[i]);
  }
  return work;
}

Result<std::string> program_source(const CustomLayer& layer, const Node& node,
                                   const WorkSizes& work) {
  std::string text;
  size_t inputs = 0;
  for (const CustomArgument& argument : layer.arguments) {
    if (!argument.is_output) ++inputs;
    text += tensor_defines(argument, *value_of(argument, node));
  }
  text += define("NUM_INPUTS", std::to_string(inputs));
  text += define("GLOBAL_WORKSIZE", array_text("size_t", work.global));
  text += define("GLOBAL_WORKSIZE_SIZE", std::to_string(work.global.size()));
  text += define("LOCAL_WORKSIZE", array_text("size_t", work.local));
  text += define("LOCAL_WORKSIZE_SIZE", std::to_string(work.local.size()));
  for (const CustomDefine& made : layer.defines) {
    HET_ASSIGN(const std::string value, value_text(made, node));
    text += define(made.name, value);
  }
  return text + layer.source;
}

}  // namespace

const CustomLayer* custom_layer_of(const CustomLayers* layers, const Node& node) {
  if (layers == nullptr) return nullptr;
  auto found = layers->find(node.qualified_type());
  if (found == layers->end()) found = layers->find(node.op_type());
  return found == layers->end() ? nullptr : &found->second;
}

std::string refuse_custom(const CustomLayer& layer, const Node& node) {
  const auto refused = [&](std::string_view reason) {
    return fmt::format("CustomLayer '{}' does not fit: {}", layer.name, reason);
  };
  std::vector<bool> written(node.outputs().size());
  for (const CustomArgument& argument : layer.arguments) {
    const Value* const value = value_of(argument, node);
    if (value == nullptr) {
      return refused(fmt::format("the node has no {} {}", argument.is_output ? "output" : "input",
                                 argument.port));
    }
    if (c_type(value->desc().type).empty()) {
      return refused(fmt::format("no kernel reads {}", to_string(value->desc().type)));
    }
    if (value->desc().shape.size() > kMostRank) {
      return refused(fmt::format("'{}' has more than four dimensions", value->name()));
    }
    if (argument.is_output) written[argument.port] = true;
  }
  if (std::ranges::find(written, false) != written.end()) {
    return refused("it does not write all outputs of the node");
  }
  const Value* const sized = sized_value(layer, node);
  if (sized == nullptr || sized->desc().shape.size() > kMostRank) {
    return refused("the tensor of its work sizes is not there or has more than four dimensions");
  }
  if (const auto work = work_sizes(layer, node); !work) return refused(work.error().message());
  for (const CustomDefine& made : layer.defines) {
    if (const auto value = value_text(made, node); !value) return refused(value.error().message());
  }
  return {};
}

Status plan_custom(PlanBuilder& builder, const CustomLayer& layer, const Node& node) {
  HET_ASSIGN(const WorkSizes work, work_sizes(layer, node));
  Launch launch;
  HET_ASSIGN(launch.text.generated, program_source(layer, node, work));
  launch.text.options = layer.options;
  launch.text.is_foreign = true;
  launch.kernel = layer.entry;
  std::vector<TensorId> written(node.outputs().size(), kNoTensor);
  for (const CustomArgument& argument : layer.arguments) {
    const Value& value = *value_of(argument, node);
    const Format format = format_of(argument, value);
    if (argument.is_output) {
      TensorId& id = written[argument.port];
      if (id == kNoTensor) {
        id = builder.write(value, {value.desc().type, value.desc().shape, format});
      }
      launch.args.emplace_back(Write{id});
    } else {
      HET_ASSIGN(const TensorId id, builder.read(value, format, value.desc().type));
      launch.args.emplace_back(Read{id});
    }
  }
  std::copy(work.global.begin(), work.global.end(), launch.global.begin());
  if (work.local.empty()) {
    // The largest group that divides the first dimension.
    size_t group = std::min(builder.hardware().group_size(), launch.global[0]);
    while (launch.global[0] % group != 0) --group;
    launch.local = {group, 1, 1};
  } else {
    std::copy(work.local.begin(), work.local.end(), launch.local.begin());
  }
  return builder.add_step(node, std::move(launch));
}

}  // namespace het::gpu
