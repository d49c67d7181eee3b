#pragma once

#include <vector>

#include "inference/model/model.h"

namespace het::cpu {

/// One node alone, so that a kernel that needs it at run time lets go of the model with its
/// weights.
class NodeCopy {
 public:
  /// `inputs`: descriptions of the node's inputs; those of omitted ones are not read.
  NodeCopy(const Node& node, const std::vector<TensorDesc>& inputs) {
    std::vector<Value*> values;
    for (size_t i = 0; i < node.inputs().size(); ++i) {
      values.push_back(node.input(i) ? model_.add_input(node.input(i)->name(), inputs[i])
                                     : nullptr);
    }
    std::vector<std::string> names;
    for (const Value* output : node.outputs()) names.push_back(output->name());
    node_ = model_.add_node(node.name(), node.op_type(), node.domain(), std::move(values),
                            std::move(names), node.attributes());
  }
  NodeCopy(const NodeCopy&) = delete;
  NodeCopy& operator=(const NodeCopy&) = delete;

  const Node& operator*() const { return *node_; }

 private:
  Model model_{"copy"};
  const Node* node_ = nullptr;
};

}  // namespace het::cpu
