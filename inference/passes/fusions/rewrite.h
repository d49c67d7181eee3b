#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "inference/base/status.h"
#include "inference/model/model.h"

namespace het {

using Rewrite = Status (*)(Model& model);
/// One after the other; what each left unused is removed, and the nodes are sorted again.
Status run_rewrites(Model& model, std::initializer_list<Rewrite> rewrites);

/// The node that reads the value if there is exactly one, it reads it once, and no model output
/// does; else null. Passes keep uses exact by detach().
Node* only_reader(const Model& model, const Value& value);

/// True when a node or a model output reads the value.
bool is_read(const Model& model, const Value& value);

/// A node that no longer counts as a reader; remove_unused() deletes it later.
void detach(Model& model, Node& node);
/// True after detach().
bool is_detached(const Node& node);

/// True for a node of this type of ONNX's own domain that is there and not detached.
bool is_op(const Node* node, std::string_view type);

/// What replaces a few nodes: the new node computes what `last` computed, is called like `first`
/// (the node whose work is the largest) and stands for both.
struct Replacement {
  Node* first = nullptr;
  Node* last = nullptr;
  std::string op_type;
  std::string domain;
  std::vector<Value*> inputs;
  Attributes attributes;
};
/// `last` must have one output that is used. Both old nodes are detached.
Node* replace(Model& model, Replacement replacement);
/// The same when the device can run the new node; else null, and nothing has changed.
Node* replace_if(Model& model, bool (*can_run)(const Node& node), Replacement replacement);

}  // namespace het
