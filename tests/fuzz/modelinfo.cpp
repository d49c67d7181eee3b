#include <cstddef>
#include <cstdint>
#include <string>

#include "inference/base/log.h"
#include "inference/decoders/exchange/tensor_groups.h"

namespace {

/// A picture, and outputs of YOLO with masks.
het::Model described_model() {
  het::Model model("fuzz");
  het::Value* const picture =
      model.add_input("images", {het::ElementType::Float32, {1, 3, 64, 64}});
  const auto add_output = [&](const std::string& name, const het::Shape& shape) {
    het::Value* const made = model.add_node(name, "Unknown", "", {picture}, {name})->output();
    model.set_desc(made, {het::ElementType::Float32, shape});
    model.add_output(name, made);
  };
  add_output("output0", {1, 116, 84});
  add_output("output1", {1, 32, 16, 16});
  return model;
}

}  // namespace

/// The text of a .modelinfo file, and what its ids make of the outputs.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  het::set_log_sink([](het::LogLevel, std::string_view) {}, het::LogLevel::Error);
  static const het::Model model = described_model();
  const auto metadata =
      het::read_modelinfo({reinterpret_cast<const char*>(data), size}, "fuzz", model);
  if (!metadata) return 0;
  std::vector<het::Port> inputs{{"images", model.inputs()[0].value->desc(), het::PreprocessDesc{}}};
  std::vector<het::Port> outputs;
  for (const het::ModelOutput& output : model.outputs())
    outputs.push_back({output.name, output.value->desc(), std::nullopt});
  const auto choice = het::choose_decoders({}, *metadata, model, inputs, outputs, {});
  (void)het::tensor_group(model, *metadata, choice, inputs, outputs);
  return 0;
}
