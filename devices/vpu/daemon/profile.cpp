#include "devices/vpu/daemon/profile.h"

#include <array>
#include <fstream>
#include <nlohmann/json.hpp>

namespace het::vpu {
namespace {

/// What such sticks and cards ran: layers of networks, hardly any arithmetic on integers.
constexpr std::array kOperators = {"Abs",
                                   "Add",
                                   "ArgMax",
                                   "AveragePool",
                                   "BatchNormalization",
                                   "Cast",
                                   "Clip",
                                   "Concat",
                                   "Conv",
                                   "ConvTranspose",
                                   "DepthToSpace",
                                   "Div",
                                   "Elu",
                                   "Erf",
                                   "Exp",
                                   "Expand",
                                   "Flatten",
                                   "Gather",
                                   "Gelu",
                                   "Gemm",
                                   "GlobalAveragePool",
                                   "GlobalMaxPool",
                                   "HardSigmoid",
                                   "HardSwish",
                                   "Identity",
                                   "InstanceNormalization",
                                   "LRN",
                                   "LayerNormalization",
                                   "LeakyRelu",
                                   "Log",
                                   "LogSoftmax",
                                   "MatMul",
                                   "Max",
                                   "MaxPool",
                                   "Min",
                                   "Mish",
                                   "Mul",
                                   "Neg",
                                   "PRelu",
                                   "Pad",
                                   "Pow",
                                   "Reciprocal",
                                   "ReduceMax",
                                   "ReduceMean",
                                   "ReduceMin",
                                   "ReduceSum",
                                   "Relu",
                                   "Reshape",
                                   "Resize",
                                   "Sigmoid",
                                   "Slice",
                                   "Softmax",
                                   "Softplus",
                                   "SpaceToDepth",
                                   "Split",
                                   "Sqrt",
                                   "Squeeze",
                                   "Sub",
                                   "Sum",
                                   "Swish",
                                   "Tanh",
                                   "Tile",
                                   "Transpose",
                                   "Unsqueeze",
                                   "het.NormalizeL2"};

/// Those of networks for pictures, as a bitstream for them has.
constexpr std::array kBitstreamOperators = {"Add",
                                            "AveragePool",
                                            "BatchNormalization",
                                            "Clip",
                                            "Concat",
                                            "Conv",
                                            "ConvTranspose",
                                            "Flatten",
                                            "Gemm",
                                            "GlobalAveragePool",
                                            "Identity",
                                            "LRN",
                                            "LeakyRelu",
                                            "MatMul",
                                            "MaxPool",
                                            "Mul",
                                            "PRelu",
                                            "Relu",
                                            "Reshape",
                                            "Sigmoid",
                                            "Softmax",
                                            "Squeeze",
                                            "Tanh",
                                            "Transpose",
                                            "Unsqueeze"};

std::vector<ElementType> types() {
  return {ElementType::Float32, ElementType::Float16, ElementType::UInt8, ElementType::Int32,
          ElementType::Int64};
}

Profile myriad() {
  Profile profile;
  profile.name = "myriad";
  profile.credits = 4;
  profile.memory_bytes = 512 * kMegabyte;
  // What is left of USB 3's 5 Gbit/s for the stick's own protocol.
  profile.link_us = 100;
  profile.link_mbytes = 400;
  profile.types = types();
  profile.operators = {kOperators.begin(), kOperators.end()};
  return profile;
}

Profile hddl() {
  Profile profile = myriad();
  profile.name = "hddl";
  profile.credits = 32;
  profile.units = 8;
  // PCIe 2.0 with four lanes.
  profile.link_us = 20;
  profile.link_mbytes = 1600;
  return profile;
}

Profile fpga() {
  Profile profile = myriad();
  profile.name = "fpga";
  profile.credits = 5;
  profile.memory_bytes = 2048 * kMegabyte;
  profile.counts_nodes = false;
  // PCIe 3.0 with eight lanes.
  profile.link_us = 10;
  profile.link_mbytes = 6000;
  profile.bitstream = "cnn";
  profile.operators = {kBitstreamOperators.begin(), kBitstreamOperators.end()};
  return profile;
}

/// A whole number within limits.
template <class T>
Status read_number(const nlohmann::json& value, const std::string& name, uint64_t least,
                   uint64_t most, T& into) {
  if (value.is_number_unsigned() && value.get<uint64_t>() >= least &&
      value.get<uint64_t>() <= most) {
    into = static_cast<T>(value.get<uint64_t>());
    return {};
  }
  return error(StatusCode::InvalidArgument, "'{}' has to be a number from {} to {}, not {}", name,
               least, most, value.dump());
}

Status read_texts(const nlohmann::json& value, const std::string& name,
                  std::vector<std::string>& into) {
  into.clear();
  for (const nlohmann::json& entry : value) {
    if (!value.is_array() || !entry.is_string()) break;
    into.push_back(entry.get<std::string>());
  }
  if (value.is_array() && into.size() == value.size()) return {};
  return error(StatusCode::InvalidArgument, "'{}' has to be a list of texts, not {}", name,
               value.dump());
}

Status read_text(const nlohmann::json& value, const std::string& name, std::string& into) {
  if (!value.is_string() || value.get<std::string>().empty()) {
    return error(StatusCode::InvalidArgument, "'{}' has to be a text, not {}", name, value.dump());
  }
  into = value.get<std::string>();
  return {};
}

Status read_entry(const std::string& name, const nlohmann::json& value, Profile& profile) {
  if (name == "base") return {};
  if (name == "name") return read_text(value, name, profile.name);
  if (name == "bitstream") return read_text(value, name, profile.bitstream);
  if (name == "requests") return read_number(value, name, 1, 4096, profile.credits);
  if (name == "units") return read_number(value, name, 1, 4096, profile.units);
  if (name == "request_limit_ms") {
    return read_number(value, name, 1, 3600000, profile.request_limit_ms);
  }
  if (name == "link_us") return read_number(value, name, 0, 10000000, profile.link_us);
  if (name == "link_mbytes") return read_number(value, name, 0, 1000000, profile.link_mbytes);
  if (name == "memory_mb") {
    HET_TRY(read_number(value, name, 1, 1 << 20, profile.memory_bytes));
    profile.memory_bytes *= kMegabyte;
    return {};
  }
  if (name == "counts_nodes") {
    if (!value.is_boolean()) {
      return error(StatusCode::InvalidArgument, "'{}' has to be true or false, not {}", name,
                   value.dump());
    }
    profile.counts_nodes = value.get<bool>();
    return {};
  }
  if (name == "operators") return read_texts(value, name, profile.operators);
  if (name == "types") {
    std::vector<std::string> names;
    HET_TRY(read_texts(value, name, names));
    profile.types.clear();
    for (const std::string& type : names) {
      HET_ASSIGN(profile.types.emplace_back(), parse_element_type(type));
    }
    return {};
  }
  if (name == "graph_tags" && value.is_object()) {
    for (const auto& [tag, count] : value.items()) {
      HET_TRY(read_number(count, "graph_tags." + tag, 1, 4096, profile.graph_tags[tag]));
    }
    return {};
  }
  return error(StatusCode::InvalidArgument,
               "there is no entry '{}' {}; there are base, bitstream, counts_nodes, graph_tags, "
               "link_mbytes, link_us, memory_mb, name, operators, request_limit_ms, requests, "
               "types and units",
               name, value.dump());
}

Result<Profile> parse_profile(const nlohmann::json& json) {
  if (!json.is_object()) return error(StatusCode::ParseError, "it is no object");
  Profile profile = myriad();
  if (json.contains("base")) {
    std::string base;
    HET_TRY(read_text(json["base"], "base", base));
    HET_ASSIGN(profile, find_profile(base));
  }
  for (const auto& [name, value] : json.items()) HET_TRY(read_entry(name, value, profile));
  return profile;
}

}  // namespace

Result<Profile> find_profile(std::string_view name) {
  if (name == "myriad") return myriad();
  if (name == "hddl") return hddl();
  if (name == "fpga") return fpga();
  return error(StatusCode::NotFound, "there is no profile '{}'; there are myriad, hddl and fpga",
               name);
}

Result<Profile> read_profile(const std::string& path) {
  std::ifstream file(path);
  if (!file) return error(StatusCode::NotFound, "cannot read '{}'", path);
  const nlohmann::json json = nlohmann::json::parse(file, nullptr, false);
  if (json.is_discarded()) return error(StatusCode::ParseError, "'{}' is no JSON", path);
  auto profile = parse_profile(json);
  if (!profile) return Failure(profile.error().with_context(path));
  return profile;
}

}  // namespace het::vpu
