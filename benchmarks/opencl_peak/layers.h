#pragma once

#include <memory>
#include <string>
#include <vector>

#include "devices/gpu/peaks.h"
#include "devices/gpu/plan/plan_builder.h"
#include "inference/model/model.h"

namespace het::gpu {

/// A convolution or matrix product of a model with what was fused into it, alone.
struct Layer {
  std::string name;   ///< of the first such node
  std::string text;   ///< "64x56x56 -> 64x56x56, 3x3"
  int64_t count = 1;  ///< nodes of the model that are alike
  double flops = 0.0;
  bool convolution = false;
  std::unique_ptr<Model> model;
};

/// The distinct ones of a model that fusions were run on.
std::vector<Layer> layers_of(const Model& fused);

/// How the plan runs it and how fast.
struct LayerTime {
  std::string kernels;
  Fastest time;  ///< of the node's own launches, reorders left out
};
Result<LayerTime> measure_layer(const Layer& layer, const std::shared_ptr<Context>& context,
                                const PlanOptions& options, double while_s);

}  // namespace het::gpu
