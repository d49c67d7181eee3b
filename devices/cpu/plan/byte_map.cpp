#include "devices/cpu/plan/byte_map.h"

#include <algorithm>
#include <numeric>

#include "devices/cpu/loops/byte_loops.h"
#include "devices/cpu/loops/elementwise_loop.h"

namespace het::cpu {
namespace {

ByteScale scale_of(const StoredValue& value) {
  return {value.scale, static_cast<float>(value.zero), value.type() == ElementType::Int8};
}

}  // namespace

ByteTable make_byte_table(const ByteFunction& function) {
  ByteTable table;
  std::iota(table.begin(), table.end(), uint8_t{0});
  auto* const bytes = reinterpret_cast<std::byte*>(table.data());
  std::array<float, 256> values;
  dequantise_row(bytes, scale_of(function.src), values.size(), values.data());
  if (!function.program.instructions.empty()) {
    std::vector<std::array<float, kElementwisePeriod>> constants(function.operands.size());
    std::vector<ElementwiseSource> sources(function.operands.size());
    for (size_t i = 0; i < sources.size(); ++i) {
      sources[i].values = values.data();
      if (!function.operands[i]) continue;
      constants[i].fill(*function.operands[i]);
      sources[i] = {constants[i].data(), false, true};
    }
    std::array<float, 256> results;
    run_elementwise(make_elementwise_code(function.program), sources.data(), results.data(),
                    results.size());
    values = results;
  }
  quantise_row(values.data(), scale_of(function.dst), values.size(), bytes);
  return table;
}

}  // namespace het::cpu
