#include "devices/cpu/onednn/blocked_layout.h"

#include <gtest/gtest.h>

#include <dnnl.hpp>
#include <numeric>
#include <string>

#include "devices/cpu/onednn/onednn.h"
#include "inference/tensors/tensor.h"

namespace het {
namespace {

using cpu::BlockedLayout;
using dnnl::memory;
using Tag = memory::format_tag;

TEST(BlockedLayout, ASmallMatrixByHand) {
  // 3 x 3 in blocks of 2 x 2, columns outermost within a block, blocks in rows.
  BlockedLayout layout;
  layout.dims = {3, 3};
  layout.padded = {4, 4};
  layout.strides = {8, 4};
  layout.blocks = {{1, 2}, {0, 2}};
  const std::vector<float> from = {11, 12, 13,  //
                                   21, 22, 23,  //
                                   31, 32, 33};
  std::vector<float> to(16, -1.0f);
  cpu::pack_blocked(from.data(), {3, 1}, layout, to.data());
  EXPECT_EQ(to, (std::vector<float>{11, 21, 12, 22, 13, 23, 0, 0,  //
                                    31, 0, 32, 0, 33, 0, 0, 0}));
  // The transposed matrix.
  cpu::pack_blocked(from.data(), {1, 3}, layout, to.data());
  EXPECT_EQ(to, (std::vector<float>{11, 12, 21, 22, 31, 32, 0, 0,  //
                                    13, 0, 23, 0, 33, 0, 0, 0}));
}

TEST(BlockedLayout, ADimensionCutTwice) {
  // 8 elements: 4 blocks of 2 within one block of 8, the same as none.
  BlockedLayout layout;
  layout.dims = {7};
  layout.padded = {8};
  layout.strides = {8};
  layout.blocks = {{0, 4}, {0, 2}};
  std::vector<float> from(7);
  std::iota(from.begin(), from.end(), 1.0f);
  std::vector<float> to(8, -1.0f);
  cpu::pack_blocked(from.data(), {1}, layout, to.data());
  EXPECT_EQ(to, (std::vector<float>{1, 2, 3, 4, 5, 6, 7, 0}));
}

/// What oneDNN's own reorder makes of the same values.
std::vector<float> reordered(const Tensor& plain, const memory::desc& from,
                             const memory::desc& to) {
  memory src(from, cpu::cpu_engine(), plain.bytes());
  std::vector<float> result(to.get_size() / sizeof(float), -1.0f);
  memory dst(to, cpu::cpu_engine(), result.data());
  dnnl::stream stream(cpu::cpu_engine());
  dnnl::reorder(src, dst).execute(stream, src, dst);
  stream.wait();
  return result;
}

TEST(BlockedLayout, PackedConstantsAreThoseOfOneDnn) {
  struct Case {
    std::string name;
    memory::dims dims;
    Tag from;
    Tag to;
  };
  const std::vector<Case> cases = {
      {"1x1", {32, 48, 1, 1}, Tag::abcd, Tag::ABcd16b16a},
      {"padded in both", {20, 35, 3, 3}, Tag::abcd, Tag::ABcd16b16a},
      {"AVX2", {20, 35, 3, 3}, Tag::abcd, Tag::ABcd8b8a},
      {"twice cut", {33, 18, 1, 1}, Tag::abcd, Tag::ABcd4b16a4b},
      {"few channels", {20, 3, 3, 3}, Tag::abcd, Tag::Acdb16a},
      {"depthwise", {35, 1, 1, 5, 3}, Tag::abcde, Tag::Abcde16a},
      {"groups", {3, 10, 6, 3, 3}, Tag::abcde, Tag::aBCde16c16b},
      {"transposed", {20, 35, 3, 3}, Tag::bacd, Tag::ABcd16a16b},
      {"plain", {5, 6, 3, 2}, Tag::abcd, Tag::cdba},
      {"matrix", {37, 70}, Tag::ab, Tag::BA16a64b},
  };
  for (const Case& c : cases) {
    const memory::desc from(c.dims, memory::data_type::f32, c.from);
    const memory::desc to(c.dims, memory::data_type::f32, c.to);
    std::vector<float> values(from.get_size() / sizeof(float));
    std::iota(values.begin(), values.end(), 1.0f);
    const Tensor plain =
        Tensor::from<float>({static_cast<int64_t>(values.size())}, std::span<const float>(values));
    const auto packed = cpu::pack_constant(plain, from, to);
    ASSERT_TRUE(packed) << c.name << ": " << packed.error().message();
    const auto* got = static_cast<const float*>(packed->get_data_handle());
    EXPECT_EQ(std::vector<float>(got, got + to.get_size() / sizeof(float)),
              reordered(plain, from, to))
        << c.name;
  }
}

}  // namespace
}  // namespace het
