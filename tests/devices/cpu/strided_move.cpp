/// Copies between arrangements (devices/cpu/moves/strided_move.h).

#include "devices/cpu/moves/strided_move.h"

#include <cstring>
#include <vector>

#include "tests/devices/cpu/instruction_sets.h"

namespace het {
namespace {

/// Bits of all kinds, among them those of NaN that signals, which arithmetic would change.
template <class T>
std::vector<T> bits_of_all_kinds(size_t count) {
  const uint32_t special[] = {0x7FA00001u, 0xFF800001u, 0x7F800000u, 0x80000000u,
                              0x00000001u, 0x7F817FA0u, 0xFFA0FF81u};
  std::vector<T> values;
  for (size_t i = 0; i < count; ++i) {
    const uint32_t word = i % 3 == 0 ? special[i / 3 % 7] : static_cast<uint32_t>(i * 2654435761u);
    values.push_back(static_cast<T>(word));
  }
  return values;
}

/// `dims` of the source, outermost first; those of the target are dims[order[0]], dims[order[1]]...
template <class T>
void expect_turned(const std::vector<int64_t>& dims, const std::vector<size_t>& order) {
  const size_t rank = dims.size();
  std::vector<int64_t> src_strides(rank, 1);
  std::vector<int64_t> dst_strides(rank, 1);
  int64_t count = 1;
  for (size_t d = rank; d-- > 0; count *= dims[d]) src_strides[d] = count;
  int64_t step = 1;
  for (size_t i = rank; i-- > 0; step *= dims[order[i]]) dst_strides[order[i]] = step;
  const std::vector<T> src = bits_of_all_kinds<T>(static_cast<size_t>(count));
  std::vector<T> want(src.size() + 1, T(77));
  for (int64_t i = 0; i < count; ++i) {
    int64_t to = 0;
    for (size_t d = 0; d < rank; ++d) to += i / src_strides[d] % dims[d] * dst_strides[d];
    want[static_cast<size_t>(to)] = src[static_cast<size_t>(i)];
  }
  cpu_testing::on_each_instruction_set([&] {
    std::vector<T> got(src.size() + 1, T(77));
    cpu::StridedMove(dims, src_strides, dst_strides, sizeof(T))
        .run(reinterpret_cast<const std::byte*>(src.data()),
             reinterpret_cast<std::byte*>(got.data()));
    EXPECT_EQ(got, want) << dims.size() << " dimensions, the last " << dims.back() << ", of "
                         << sizeof(T) << " bytes";
  });
}

template <class T>
void expect_turned_pictures() {
  for (const int64_t rows : {1, 5, 15, 16, 17, 31, 33, 50, 196}) {
    for (const int64_t columns : {3, 16, 19, 32, 45}) {
      expect_turned<T>({rows, columns}, {1, 0});
      expect_turned<T>({2, rows, columns}, {0, 2, 1});
      expect_turned<T>({rows, 3, 2, columns}, {1, 2, 3, 0});
      expect_turned<T>({2, rows, 3, columns}, {2, 0, 1, 3});
    }
  }
}

TEST(CpuStridedMove, RowsBecomeColumns) {
  expect_turned_pictures<uint8_t>();
  expect_turned_pictures<uint16_t>();
  expect_turned_pictures<uint32_t>();
  expect_turned_pictures<uint64_t>();
}

TEST(CpuStridedMove, ValuesAreRepeated) {
  const std::vector<uint32_t> src = bits_of_all_kinds<uint32_t>(40);
  std::vector<uint32_t> got(40 * 37);
  cpu::StridedMove({40, 37}, {1, 0}, {37, 1}, 4)
      .run(reinterpret_cast<const std::byte*>(src.data()),
           reinterpret_cast<std::byte*>(got.data()));
  for (size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], src[i / 37]) << i;
}

}  // namespace
}  // namespace het
