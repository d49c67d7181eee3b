#include "tests/oracle/generator.h"

namespace het::oracle {
namespace {

/// Every device runs its reference; tests/ops and `--long ir` judge that.
constexpr std::string_view kPending = "no generator yet; tests/ops has its cases";

constexpr Exemption kTable[] = {
    {"", "Constant", "it has no inputs: the reader makes a constant of it, and folding any other"},
    {"het", "AdaptiveAvgPool", kPending},
    {"het", "AdaptiveMaxPool", kPending},
    {"het", "DeformConv", kPending},
    {"het", "ExperimentalDetectronDetectionOutput", kPending},
    {"het", "ExperimentalDetectronGenerateProposalsSingleImage", kPending},
    {"het", "ExperimentalDetectronPriorGridGenerator", kPending},
    {"het", "GatherTree", kPending},
    {"het", "GenerateProposals", kPending},
    {"het", "Inverse", kPending},
    {"het", "MatrixNms", kPending},
    {"het", "MulticlassNms", kPending},
    {"het", "NMSRotated", kPending},
    {"het", "NonMaxSuppression", kPending},
    {"het", "ROIAlignRotated", kPending},
};

}  // namespace

std::vector<const Generator*> all_generators() {
  std::vector<const Generator*> list;
  for (const auto& table :
       {control_generators(), detection_generators(), elementwise_generators(), mover_generators(),
        other_generators(), product_generators(), reduction_generators(), sampling_generators(),
        sequence_generators(), window_generators()}) {
    for (const Generator& generator : table) list.push_back(&generator);
  }
  return list;
}

std::span<const Exemption> exemptions() {
  return kTable;
}

}  // namespace het::oracle
