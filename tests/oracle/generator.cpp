#include "tests/oracle/generator.h"

namespace het::oracle {
std::vector<const Generator*> all_generators() {
  std::vector<const Generator*> list;
  for (const auto& table :
       {box_generators(), control_generators(), detection_generators(), elementwise_generators(),
        mover_generators(), other_generators(), product_generators(), reduction_generators(),
        sampling_generators(), sequence_generators(), window_generators()}) {
    for (const Generator& generator : table) list.push_back(&generator);
  }
  return list;
}

}  // namespace het::oracle
