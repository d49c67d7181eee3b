#pragma once

#include <memory>
#include <string>
#include <vector>

#include "inference/model/model.h"

namespace het::self_test {

/// A model of a few nodes with what goes in: made in memory, the same on every machine.
struct SmallModel {
  std::string name;  ///< what it tries: "convolution 3x3"
  std::unique_ptr<Model> model;
  std::vector<Tensor> inputs;
  /// Its last step rounds to levels: values beside a half may come out one level off.
  bool rounds = false;
};

/// Convolutions, products, pooling, normalisation and what detectors end with, from the plainest
/// on. The same every time.
std::vector<SmallModel> small_models();

}  // namespace het::self_test
