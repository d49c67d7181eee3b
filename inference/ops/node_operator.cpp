// What a node knows through the operators: here, so that the graph does not include them.
#include "inference/model/model.h"
#include "inference/ops/custom_operators.h"
#include "inference/ops/op.h"
#include "inference/ops/out_of_scope.h"

namespace het {

const OpDef* Node::find_op(std::string_view domain, std::string_view type) {
  const OpDef* op = op_registry().find(domain, type);
  return op != nullptr ? op : find_library_op(domain, type);
}

const OpDef* Node::find_library_op(std::string_view domain, std::string_view type) {
  return find_custom_operator(domain, type);
}

std::string Node::unsupported_reason() const {
  if (op_ != nullptr) return {};
  if (!unsupported_reason_.empty()) return unsupported_reason_;
  const std::string_view reason = out_of_scope_reason(domain_, op_type_);
  if (!reason.empty()) {
    return fmt::format("operator {} is not supported: {}", qualified_type(), reason);
  }
  return fmt::format("operator {} is unknown to this build", qualified_type());
}

}  // namespace het
