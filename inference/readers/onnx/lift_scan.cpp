#include <memory>
#include <utility>

#include "inference/ops/sequences/body.h"
#include "inference/readers/onnx/lift_rules.h"

namespace het::onnx {
namespace {

/// The model around the old body: what happens to one element of the batch.
class BatchBody {
 public:
  explicit BatchBody(std::string name)
      : name_(std::move(name)), model_(std::make_unique<Model>()) {}

  Value* input(std::string_view what, size_t index) {
    return model_->add_input(fmt::format("{}/{}_{}", name_, what, index), {});
  }
  Value* node(std::string op_type, std::vector<Value*> inputs, Attributes attributes = {}) {
    const std::string name = fmt::format("{}/{}_{}", name_, op_type, count_++);
    return model_
        ->add_node(name, std::move(op_type), "", std::move(inputs), {name}, std::move(attributes))
        ->output();
  }
  Value* number(int64_t value) {
    return model_->add_constant(fmt::format("{}/number_{}", name_, count_++),
                                Tensor::from<int64_t>({1}, {value}));
  }
  Model& model() { return *model_; }
  std::shared_ptr<Model> finish() { return std::move(model_); }

 private:
  std::string name_;
  std::unique_ptr<Model> model_;
  size_t count_ = 0;
};

}  // namespace

/// Scan-8 works on each element of a batch (axis 0 of everything) for itself, on the first
/// sequence_lens[i] elements when these are given, and fills outputs up with zeros. So it becomes a
/// Scan over the batch whose body is the Scan of today over the sequence.
void lift_scan(LiftContext& context) {
  PendingNode& node = context.node();
  const Attribute* attribute = node.attributes.find("body");
  const auto* body = attribute ? std::get_if<std::shared_ptr<Model>>(attribute) : nullptr;
  const int64_t scanned = node.attributes.get_int("num_scan_inputs", 0);
  const auto captured = static_cast<int64_t>(node.captures.size());
  const int64_t formal = static_cast<int64_t>(node.inputs.size()) - captured;
  if (body == nullptr || scanned < 1 || scanned >= formal) {
    return context.refuse(
        fmt::format("Scan of opset 8 with {} inputs and num_scan_inputs = {} is not a valid one",
                    formal, scanned));
  }
  const auto states = static_cast<size_t>(formal - 1 - scanned);
  const size_t outputs = (*body)->outputs().size();
  if (outputs < states) {
    return context.refuse(
        fmt::format("its body has {} outputs, but carries {} states", outputs, states));
  }

  BatchBody batch(node.name);
  std::vector<Value*> inner;
  for (size_t i = 0; i < states; ++i) inner.push_back(batch.input("state", i));
  for (int64_t i = 0; i < scanned; ++i) {
    inner.push_back(batch.input("sequence", static_cast<size_t>(i)));
  }
  Value* const lengths = node.input(0);
  Value* whole = nullptr;
  Value* missing = nullptr;
  if (lengths != nullptr) {
    whole = inner[states];
    Value* const length = batch.node("Reshape", {batch.input("length", 0), batch.number(1)});
    for (size_t i = states; i < inner.size(); ++i) {
      inner[i] = batch.node("Slice", {inner[i], batch.number(0), length, batch.number(0)});
    }
    Attributes first;
    first.set("start", int64_t{0});
    first.set("end", int64_t{1});
    Value* const size = batch.node("Shape", {whole}, std::move(first));
    Attributes axis;
    axis.set("axis", int64_t{0});
    Value* const rest = batch.node("Sub", {size, length});
    missing = batch.node("Concat", {batch.number(0), rest}, std::move(axis));
  }
  std::vector<std::string> captures;
  for (const std::string& name : node.captures) {
    inner.push_back(batch.model().add_input(name, {}));
    captures.push_back(inner.back()->name());
  }
  Attributes attributes;
  attributes.set("scan_input_directions", node.attributes.get_ints("directions"));
  attributes.set("num_scan_inputs", scanned);
  attributes.set("body", *body);
  for (const std::string_view name :
       {kCapturesAttribute, kBodyTypesAttribute, kBodyRanksAttribute}) {
    if (const Attribute* found = node.attributes.find(name)) {
      attributes.set(std::string(name), *found);
    }
  }
  std::vector<std::string> names;
  for (size_t i = 0; i < outputs; ++i) names.push_back(fmt::format("{}/output_{}", node.name, i));
  const Node* const scan = batch.model().add_node(fmt::format("{}/sequence", node.name), "Scan", "",
                                                  inner, names, std::move(attributes));
  for (size_t i = 0; i < outputs; ++i) {
    Value* result = scan->output(i);
    if (lengths != nullptr && i >= states) {
      result = batch.node("Pad", {result, missing, nullptr, batch.number(0)});
    }
    batch.model().add_output(names[i], result);
  }

  // The batch's inputs: states and sequences as they are, then the lengths, then the captures.
  std::vector<Value*> inputs(node.inputs.begin() + 1, node.inputs.begin() + formal);
  if (lengths != nullptr) inputs.push_back(lengths);
  const auto batched = static_cast<int64_t>(inputs.size());
  inputs.insert(inputs.end(), node.inputs.begin() + formal, node.inputs.end());
  node.inputs = std::move(inputs);
  node.attributes = Attributes();
  node.attributes.set("num_scan_inputs", batched);
  node.attributes.set("body", batch.finish());
  if (!captures.empty()) {
    node.captures = captures;
    node.attributes.set(std::string(kCapturesAttribute), captures);
  }
}

}  // namespace het::onnx
