#pragma once

#include <span>
#include <string_view>

#include "inference/readers/openvino_ir/layer_context.h"

namespace het::ir {

enum class OwnAttributeKind { Int, Real, Flag, Text, Type, Ints, Reals, Dims };

/// An attribute of an operator of the domain het, named as in OpenVINO. Flags become integers 0 and
/// 1, types our names of them ("int64"), unknown
/// dimensions -1. What the file leaves out stays out: defaults are the
/// operator's.
struct OwnAttribute {
  std::string_view name;
  OwnAttributeKind kind;
};

/// The layer as one node of the domain het: its type, its inputs in their order, these attributes.
void finish_own_operator(LayerContext& context, std::span<const OwnAttribute> attributes);

}  // namespace het::ir
