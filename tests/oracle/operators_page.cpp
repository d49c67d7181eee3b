#include "tests/oracle/operators_page.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "inference/ops/op.h"
#include "inference/passes/infer_shapes.h"
#include "tests/oracle/random_case.h"

namespace het::oracle {
namespace {

constexpr int kDraws = 30;

constexpr std::string_view kHead = R"(# Operators

Made from the operator registry by `build-check/tests/oracle/print_operators > docs/operators.md`; a test fails when
this page is stale.

- Opset: the one that introduced an operator of ONNX, and the newest that changed its meaning, which is the meaning
  here. The ONNX reader takes files of opset 7 and newer and brings older forms into the newest; it also translates
  operators of com.microsoft and ai.onnx.ml that are others under another name (`inference/readers/onnx/lift.cpp`
  lists them). The OpenVINO IR reader translates into the same operators. Domain `het`: what ONNX lacks; OpenVINO's
  opset.
- Types: those of the first input (of the second where the first is a condition). floats: f16, bf16, f32, f64;
  integers: 8 to 64 bits, signed and unsigned; packed: 2- and 4-bit integers and f4; f8: all five kinds.
- Devices: every operator runs on REF, plainly and slowly, and on CPU: with a kernel of its own or of a fusion in the
  cases that it is for (float32 or 8-bit, usual shapes and constants), otherwise by the reference. GPU has kernels
  only: what it cannot run it refuses with a reason, and HETERO gives it to another device.
- Verified: oracle = random cases, every device against REF (`tests/oracle`); ops = values worked out by hand
  (`tests/ops`); node cases = ONNX' conformance data that contain the operator (`./check.sh --long onnx`); golden =
  models with outputs of ONNX Runtime or OpenVINO that contain it.

Sequences, optionals, strings, classical machine learning and training are refused by name, with the reason
(`inference/ops/out_of_scope.cpp`).
)";

/// What a line of outside_cases.txt says of an operator.
struct Outside {
  std::string first_opset = "-";
  int node_cases = 0;
  int golden_models = 0;
};

std::string qualified(std::string_view domain, std::string_view type) {
  return (domain.empty() ? "ai.onnx" : std::string(domain)) + "." + std::string(type);
}

std::map<std::string, Outside> read_outside(const std::string& path) {
  std::map<std::string, Outside> list;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream words(line);
    std::string name;
    Outside outside;
    words >> name >> outside.first_opset >> outside.node_cases >> outside.golden_models;
    list[name] = outside;
  }
  return list;
}

/// All hand-written tests of operators in one string.
std::string read_tests(const std::string& folder) {
  std::ostringstream text;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".cpp") text << std::ifstream(entry.path()).rdbuf();
  }
  return text.str();
}

struct TypeGroup {
  std::string_view name;
  std::vector<ElementType> types;
};

const std::vector<TypeGroup>& type_groups() {
  using T = ElementType;
  static const std::vector<TypeGroup> groups = {
      {"floats", {T::Float32, T::Float16, T::BFloat16, T::Float64}},
      {"integers",
       {T::Int8, T::Int16, T::Int32, T::Int64, T::UInt8, T::UInt16, T::UInt32, T::UInt64}},
      {"bool", {T::Bool}},
      {"packed", {T::Int2, T::UInt2, T::Int4, T::UInt4, T::Float4E2M1}},
      {"f8", {T::Float8E4M3FN, T::Float8E4M3FNUZ, T::Float8E5M2, T::Float8E5M2FNUZ, T::Float8E8M0}},
  };
  return groups;
}

/// The same values, or zeros where either type has no arithmetic.
Tensor retyped(const Tensor& tensor, ElementType type) {
  const auto plain = [](ElementType t) {
    return is_float(t) || t == ElementType::Bool || (is_integer(t) && bit_width(t) >= 8);
  };
  if (plain(tensor.type()) && plain(type)) return converted(tensor, type);
  Tensor zeros = *Tensor::allocate({type, tensor.shape()});
  std::fill_n(zeros.bytes(), zeros.size_bytes(), std::byte{0});
  return zeros;
}

/// Whether REF runs the call with all inputs of `from` in another type.
bool runs_with(const RandomCase& random_case, ElementType from, ElementType type) {
  Model model;
  std::vector<Value*> values;
  std::vector<Tensor> contents;
  for (const Argument& argument : random_case.call.inputs) {
    Tensor content = argument.content;
    if (!content.empty() && content.type() == from) content = retyped(content, type);
    values.push_back(content.empty() ? nullptr : model.add_input("x", content.desc()));
    contents.push_back(std::move(content));
  }
  std::vector<const Tensor*> pointers;
  for (const Tensor& content : contents) pointers.push_back(content.empty() ? nullptr : &content);
  std::vector<std::string> names;
  for (size_t i = 0; i < random_case.call.outputs; ++i) names.push_back("y" + std::to_string(i));
  const Node* node = model.add_node("node", std::string(random_case.generator.type),
                                    std::string(random_case.generator.domain), values, names,
                                    random_case.call.attributes);
  return evaluate_node(*node, pointers).has_value();
}

/// Types of the first input, or of the second where the first is a condition; inputs of one type
/// change together.
std::string types_text(const std::vector<RandomCase>& cases) {
  std::map<size_t, std::vector<ElementType>> accepted;
  for (const RandomCase& random_case : cases) {
    if (random_case.has_zero_size) continue;
    for (size_t i = 0; i < random_case.call.inputs.size(); ++i) {
      const Tensor& content = random_case.call.inputs[i].content;
      if (content.empty()) continue;
      std::vector<ElementType>& list = accepted[i];
      for (const TypeGroup& group : type_groups()) {
        for (const ElementType type : group.types) {
          if (std::find(list.begin(), list.end(), type) != list.end()) continue;
          if (runs_with(random_case, content.type(), type)) list.push_back(type);
        }
      }
    }
  }
  const bool condition = accepted[0] == std::vector{ElementType::Bool} && !accepted[1].empty();
  const std::vector<ElementType>& list = accepted[condition ? 1 : 0];
  std::string text;
  for (const TypeGroup& group : type_groups()) {
    std::string some;
    size_t count = 0;
    for (const ElementType type : group.types) {
      if (std::find(list.begin(), list.end(), type) == list.end()) continue;
      some += (some.empty() ? "" : ", ") + std::string(to_string(type));
      ++count;
    }
    if (count == group.types.size()) some = group.name;
    if (!some.empty()) text += (text.empty() ? "" : ", ") + some;
  }
  return text.empty() ? "-" : text;
}

/// Inputs or results have no elements: such calls are folded, and no device has anything to run.
bool is_empty_call(const Model& model) {
  const bool takes_nothing = std::ranges::any_of(model.inputs(), [](const ModelInput& input) {
    return element_count(input.value->desc().shape) == 0;
  });
  if (takes_nothing) return true;
  const std::unique_ptr<Model> copy = model.clone();
  if (!infer_shapes(*copy).ok()) return false;
  return std::ranges::all_of(copy->outputs(), [](const ModelOutput& output) {
    const TensorDesc& desc = output.value->desc();
    return desc.is_static() && element_count(desc.shape) == 0;
  });
}

/// "REF, CPU", or how a device that has no kernel of its own for any case runs it.
std::string devices_text(Core& core, const std::vector<RandomCase>& cases) {
  std::string text = "REF";
  for (const std::string& device : core.available_devices()) {
    if (device == "REF") continue;
    bool supported = false;
    bool kernel = false;
    for (const RandomCase& random_case : cases) {
      const BuiltModel plain = random_case.plain();
      if (is_empty_call(plain.model)) continue;
      const auto rows = core.query_model(plain.model, device);
      if (!rows || !rows->front().supported()) continue;
      supported = true;
      kernel = kernel || rows->front().reason.find("reference") == std::string::npos;
    }
    if (supported) text += ", " + device + (kernel ? "" : " by the reference");
  }
  return text;
}

std::string row(Core& core, const OpDef& op, const std::map<std::string, Outside>& outside,
                const std::string& tests) {
  std::string types = "-";
  std::string devices = "REF, CPU by the reference";
  std::vector<std::string> evidence;
  for (const Generator* generator : all_generators()) {
    if (generator->domain != op.domain || generator->type != op.type) continue;
    std::vector<RandomCase> cases;
    for (uint64_t seed = 0; seed < kDraws; ++seed) cases.emplace_back(*generator, Choices(seed));
    devices = devices_text(core, cases);
    types = types_text(cases);
    evidence.emplace_back("oracle");
  }
  if (tests.find('"' + std::string(op.type) + '"') != std::string::npos) {
    evidence.emplace_back("ops");
  }
  std::string opset = std::to_string(op.since_version);
  if (const auto found = outside.find(qualified(op.domain, op.type)); found != outside.end()) {
    const Outside& counts = found->second;
    if (counts.first_opset != "-" && counts.first_opset != opset) {
      opset = counts.first_opset + " to " + opset;
    }
    const auto count = [&](int number, const std::string& what) {
      if (number > 0) evidence.push_back(fmt::format("{} {}", number, what));
    };
    count(counts.node_cases, "node cases");
    count(counts.golden_models, "golden");
  }
  std::string verified;
  for (const std::string& item : evidence) verified += (verified.empty() ? "" : ", ") + item;
  return fmt::format("| {} | {} | {} | {} | {} |\n", op.type, opset, types, devices, verified);
}

}  // namespace

std::string operators_page(Core& core, const std::string& source_root) {
  const auto outside = read_outside(source_root + "/tests/oracle/outside_cases.txt");
  const std::string tests = read_tests(source_root + "/tests/ops");
  std::map<std::string, std::map<std::string, const OpDef*>> domains;
  for (const OpDef* op : op_registry().all()) {
    domains[op->domain.empty() ? "ai.onnx" : std::string(op->domain)][std::string(op->type)] = op;
  }
  std::string page(kHead);
  for (const auto& [domain, ops] : domains) {
    page += fmt::format(
        "\n## {}\n\n| operator | opset | types | devices | verified |\n"
        "| --- | --- | --- | --- | --- |\n",
        domain);
    for (const auto& [type, op] : ops) page += row(core, *op, outside, tests);
  }
  return page;
}

}  // namespace het::oracle
