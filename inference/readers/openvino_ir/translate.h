#pragma once

#include <span>
#include <string_view>

#include "inference/readers/openvino_ir/layer_context.h"

/// Translations of OpenVINO's operations, one table per family. A function ends with
/// LayerContext::finish() or refuse().
namespace het::ir {

struct Translation {
  std::string_view type;
  void (*translate)(LayerContext& context);
};

std::span<const Translation> activation_translations();
std::span<const Translation> block_translations();
std::span<const Translation> control_translations();
std::span<const Translation> convolution_translations();
std::span<const Translation> detection_translations();
std::span<const Translation> elementwise_translations();
std::span<const Translation> embedding_translations();
std::span<const Translation> fourier_translations();
std::span<const Translation> gather_translations();
std::span<const Translation> matrix_translations();
std::span<const Translation> normalization_translations();
std::span<const Translation> picture_translations();
std::span<const Translation> pooling_translations();
std::span<const Translation> random_translations();
std::span<const Translation> recurrent_translations();
std::span<const Translation> reduction_translations();
std::span<const Translation> resize_translations();
std::span<const Translation> scatter_translations();
std::span<const Translation> shape_translations();
std::span<const Translation> slice_translations();
std::span<const Translation> sorting_translations();
std::span<const Translation> space_translations();

/// All of these tables: what translate() knows, and what tests walk.
using TranslationTable = std::span<const Translation> (*)();
std::span<const TranslationTable> translation_tables();

/// Attributes of a node that has one.
inline Attributes with(std::string name, Attribute value) {
  Attributes attributes;
  attributes.set(std::move(name), std::move(value));
  return attributes;
}

/// Translates the layer; one without a translation is refused.
void translate(LayerContext& context);

}  // namespace het::ir
