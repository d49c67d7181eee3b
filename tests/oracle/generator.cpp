#include "tests/oracle/generator.h"

namespace het::oracle {
namespace {

constexpr Exemption kTable[] = {
    {"", "Constant", "it has no inputs: the reader makes a constant of it, and folding any other"},
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
