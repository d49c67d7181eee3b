#pragma once

#include <string>
#include <vector>

#include "inference/model/model.h"

// What QLinear operators become: floats between DequantizeLinear and QuantizeLinear. New nodes are
// called like the old one with something behind it and stand for it.
namespace het {

/// A node's output, of type and shape `desc`.
Value* add_value(Model& model, const Node& like, const std::string& suffix, const std::string& type,
                 std::vector<Value*> inputs, TensorDesc desc, Attributes attributes = {});

/// Float32 of the value's shape.
TensorDesc as_float(const Value& value);

/// Input `index`, whose scale and zero point follow it, as the real value that it stands for.
Value* dequantised(Model& model, const Node& node, size_t index, const std::string& suffix);

/// Input `index` minus its zero point: whole numbers in float.
Value* centred(Model& model, const Node& node, size_t index);

/// Turns integer sums into steps of the stored type: by one factor, or by a tensor that broadcasts.
/// No Mul, which would be folded into weights: these must stay integers.
Value* rescaled(Model& model, const Node& node, Value* sums, Tensor factors);

/// Ends a lowered node: its result, a float in steps of the stored type, is stored for the readers.
/// `dst_scale` is the index of the output's scale, whose zero point follows.
void store_steps(Model& model, Node& node, Value* steps, size_t dst_scale);
/// The same of a real value: it is divided by the output's scale.
void store_real(Model& model, Node& node, Value* real, size_t dst_scale);

}  // namespace het
