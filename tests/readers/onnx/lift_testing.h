#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "inference/ops/op.h"
#include "inference/passes/prepare_model.h"
#include "inference/passes/print_model.h"
#include "tests/readers/onnx/onnx_file.h"

/// What the reader makes of nodes: their text, and what they compute.
namespace het::test {

inline std::string lifted(const Graph& graph, int64_t opset) {
  const auto model = read(graph, opset);
  if (!model) return model.error().message();
  std::string text;
  std::string all = print_model(**model);
  // The lines of the nodes only.
  for (size_t at = 0; at < all.size();) {
    const size_t end = all.find('\n', at);
    const std::string line = all.substr(at, end - at);
    if (line.rfind("input ", 0) != 0 && line.rfind("output ", 0) != 0) text += line + "\n";
    at = end + 1;
  }
  return text;
}

/// Runs the prepared model on the host, node by node.
inline std::vector<float> run(const Graph& graph, int64_t opset, const Tensor& x) {
  const auto model = read(graph, opset);
  if (!model) {
    ADD_FAILURE() << model.error().message();
    return {};
  }
  const Status status = prepare_model(**model);
  if (!status.ok()) {
    ADD_FAILURE() << status.message();
    return {};
  }
  std::map<const Value*, Tensor> tensors{{(*model)->inputs()[0].value, x}};
  for (const auto& node : (*model)->nodes()) {
    std::vector<const Tensor*> inputs;
    for (const Value* input : node->inputs()) {
      inputs.push_back(!input                 ? nullptr
                       : input->is_constant() ? &input->constant()
                                              : &tensors.at(input));
    }
    auto outputs = evaluate_node(*node, inputs);
    if (!outputs) {
      ADD_FAILURE() << outputs.error().message();
      return {};
    }
    for (size_t i = 0; i < outputs->size(); ++i) tensors[node->output(i)] = (*outputs)[i];
  }
  const Value* const output = (*model)->outputs()[0].value;
  return *to_float_vector(output->is_constant() ? output->constant() : tensors.at(output));
}

}  // namespace het::test
