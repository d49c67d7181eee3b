#include "devices/cpu/plan/byte_map.h"

#include <vector>

#include "devices/cpu/loops/elementwise_loop.h"

namespace het::cpu {

void run_on_bytes(const ElementwiseProgram& program, std::span<const ByteValues> operands,
                  ByteValues& result) {
  std::vector<ElementwiseSource> sources;
  for (const ByteValues& values : operands) sources.push_back({values.data()});
  run_elementwise(make_elementwise_code(program), sources.data(), result.data(), result.size());
}

}  // namespace het::cpu
