#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "inference/base/status.h"
#include "inference/model/model.h"
#include "inference/tensors/element_type.h"
#include "inference/tensors/tensor.h"

namespace het::onnx {

/// A node of the file on its way into the model.
struct PendingNode {
  std::string name;
  std::string op_type;
  std::string domain;
  std::vector<Value*> inputs;  ///< null: omitted
  std::vector<std::string> outputs;
  Attributes attributes;
  std::vector<std::string> captures;  ///< names of the last inputs, see kCapturesAttribute
  std::string unsupported_reason;     ///< not empty: the node becomes Model::mark_unsupported()
  std::vector<std::pair<size_t, Value*>> bound_outputs;  ///< outputs that other nodes compute

  Value* input(size_t index) const { return index < inputs.size() ? inputs[index] : nullptr; }
  void set_input(size_t index, Value* value) {
    if (index >= inputs.size()) inputs.resize(index + 1, nullptr);
    inputs[index] = value;
  }
};

/// What a lift rule works with: it changes the pending node, which becomes the last node of the
/// result, and puts constants and nodes in front of it.
class LiftContext {
 public:
  /// `file_float_type` is the only floating-point type in the file, or Undefined; `is_read` tells
  /// whether anything reads a value of the file.
  LiftContext(Model& model, PendingNode& node, int64_t opset, ElementType file_float_type,
              std::function<bool(std::string_view)> is_read)
      : model_(model),
        node_(node),
        opset_(opset),
        file_float_type_(file_float_type),
        is_read_(std::move(is_read)) {}

  PendingNode& node() { return node_; }
  Attributes& attributes() { return node_.attributes; }
  /// The file's opset of the default domain.
  int64_t opset() const { return opset_; }
  bool is_read(std::string_view value) const { return is_read_(value); }

  /// A one-dimensional int64 constant.
  Value* constant(std::string_view suffix, const std::vector<int64_t>& values);
  Value* constant(std::string_view suffix, Tensor content);
  /// A scalar of the type that `like` has, whatever that turns out to be.
  Value* scalar_like(std::string_view suffix, float value, Value* like);
  /// A node in front of the pending one; returns its only output.
  Value* insert(std::string op_type, std::vector<Value*> inputs, Attributes attributes = {});
  /// A node in front of the pending one; returns its `count` outputs.
  std::vector<Value*> insert_parts(std::string op_type, std::vector<Value*> inputs, size_t count,
                                   Attributes attributes);
  /// A Transpose in front of the pending node.
  Value* transpose(Value* x, std::vector<int64_t> permutation);
  /// The same for the last two dimensions of a value whose rank may be unknown.
  Value* swap_last_two(Value* x);
  /// Makes the pending node this one of the default domain.
  void become(std::string op_type, std::vector<Value*> inputs, Attributes attributes = {});
  void become_transpose(Value* x, std::vector<int64_t> permutation);
  /// Output `index` of the pending node is `value`, which an inserted node computes.
  void bind_output(size_t index, Value* value) { node_.bound_outputs.emplace_back(index, value); }
  /// Turns an attribute that holds integers (a single one counts as a list) into input `index`;
  /// nothing when the node has no such attribute.
  void move_to_input(std::string_view attribute, size_t index);
  /// Drops the outputs from `index` on. Refuses the node when one of them is read.
  void drop_outputs(size_t index, std::string_view what);
  /// False, and the node refused, where it has no first input.
  bool require_input();
  /// Says that the newest form cannot express this node.
  void refuse(std::string reason) { node_.unsupported_reason = std::move(reason); }

 private:
  Model& model_;
  PendingNode& node_;
  int64_t opset_;
  ElementType file_float_type_;
  std::function<bool(std::string_view)> is_read_;
  size_t inserted_ = 0;
};

/// Brings a node of the default domain from the semantics of context.opset() to the newest ones,
/// and nodes of com.microsoft and ai.onnx.ml that ONNX can express to it.
void lift(LiftContext& context);

}  // namespace het::onnx
