#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hetero/split/subgraph_splitter.h"
#include "inference/base/status.h"
#include "inference/model/model.h"

namespace het::hetero {

/// What is known about crossing from one device to another.
struct CrossingRules {
  /// Whether the device stores float32 values of models as float16.
  std::function<bool(const std::string& device)> is_half;
  /// Whether this value is there sooner as float16, conversions included; nothing where that was
  /// not measured.
  std::function<std::optional<bool>(const std::string& from, const std::string& to,
                                    const TensorDesc& desc)>
      half_is_cheaper;
};

/// Subgraphs' models that exchange float16 instead of float32 where that loses nothing - one side
/// of the cut stores float16 anyway - and is cheaper or needs no conversion. Casts stand at both
/// ends, one per tensor and device, as nodes of their own ("NAME/Cast").
struct CutTypes {
  std::vector<std::unique_ptr<Model>> models;  ///< per subgraph; null: as it was
  std::vector<TensorDesc> descs;               ///< per cut
};
Result<CutTypes> choose_cut_types(const Split& split, const CrossingRules& rules);

}  // namespace het::hetero
