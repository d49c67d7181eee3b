/// Reorders between blocks of channels and pixels (devices/cpu/moves/block_reorder.h).

#include "devices/cpu/moves/block_reorder.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "devices/cpu/onednn/onednn.h"
#include "tests/devices/cpu/cpu_testing.h"
#include "tests/devices/cpu/instruction_sets.h"

namespace het {
namespace {

using cpu::Format;
using cpu::TensorSpec;
using cpu_testing::CpuTest;
using cpu_testing::make_attributes;
using cpu_testing::ModelMaker;

template <class T>
constexpr ElementType kBlockType =
    std::is_same_v<T, float> ? ElementType::Float32 : ElementType::BFloat16;

/// Numbers of all kinds.
float number_of_all_kinds(int64_t i) {
  const float special[] = {std::numeric_limits<float>::quiet_NaN(),
                           std::numeric_limits<float>::infinity(),
                           -std::numeric_limits<float>::infinity(),
                           -0.0f,
                           3.3e38f,
                           1.00390625f,  // halves of bfloat16, to even ones
                           1.01171875f};
  return i % 11 < 7 ? special[i % 11] : static_cast<float>(i) * 1.37f - 500.0f;
}

template <class T>
bool same_number(T a, T b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

template <class S, class T>
void expect_block_reorder(const Shape& shape, Format blocks, bool to_pixels) {
  const TensorSpec src{kBlockType<S>, shape, to_pixels ? blocks : Format::ChannelsLast};
  const TensorSpec dst{kBlockType<T>, shape, to_pixels ? Format::ChannelsLast : blocks};
  SCOPED_TRACE(to_string(src) + " -> " + to_string(dst));
  const auto kernel = cpu::make_block_reorder(src, dst);
  ASSERT_NE(kernel, nullptr);
  const int64_t block = cpu::block_of(blocks);
  const int64_t channels = shape[1];
  const int64_t padded = (channels + block - 1) / block * block;
  const int64_t pixels = element_count(std::span(shape).subspan(2));
  const auto in_blocks = [&](int64_t n, int64_t c, int64_t p) {
    return static_cast<size_t>((n * padded / block + c / block) * pixels * block + p * block +
                               c % block);
  };
  const auto in_pixels = [&](int64_t n, int64_t c, int64_t p) {
    return static_cast<size_t>((n * pixels + p) * channels + c);
  };
  // Padding of the source is 0 as everywhere, that of the target is to become so.
  std::vector<S> from(static_cast<size_t>(physical_count(src)), S(0.0f));
  std::vector<T> want(static_cast<size_t>(physical_count(dst)) + 1, T(0.0f));
  want.back() = T(-7.0f);
  std::vector<T> got(want.size(), T(-7.0f));
  for (int64_t n = 0; n < shape[0]; ++n) {
    for (int64_t c = 0; c < channels; ++c) {
      for (int64_t p = 0; p < pixels; ++p) {
        const S value = S(number_of_all_kinds((n * channels + c) * pixels + p));
        from[to_pixels ? in_blocks(n, c, p) : in_pixels(n, c, p)] = value;
        T& place = want[to_pixels ? in_pixels(n, c, p) : in_blocks(n, c, p)];
        if constexpr (std::is_same_v<S, T>) {
          place = value;
        } else {
          place = T(static_cast<float>(value));
        }
      }
    }
  }
  std::byte* inputs[] = {reinterpret_cast<std::byte*>(from.data())};
  std::byte* outputs[] = {reinterpret_cast<std::byte*>(got.data())};
  cpu::KernelArgs args;
  args.inputs = inputs;
  args.outputs = outputs;
  ASSERT_TRUE(kernel->execute(args, nullptr).ok());
  for (size_t i = 0; i < want.size(); ++i) ASSERT_TRUE(same_number(got[i], want[i])) << i;
}

void expect_block_reorders() {
  for (const Shape& shape :
       {Shape{1, 16, 16}, Shape{2, 17, 3, 7}, Shape{2, 24, 14, 14}, Shape{1, 3, 5, 5},
        Shape{3, 40, 2, 3, 11}, Shape{1, 96, 13, 10}, Shape{2, 71, 1, 1}}) {
    for (const Format blocks : {Format::Blocked8, Format::Blocked16}) {
      for (const bool to_pixels : {false, true}) {
        expect_block_reorder<float, float>(shape, blocks, to_pixels);
        expect_block_reorder<float, BFloat16>(shape, blocks, to_pixels);
        expect_block_reorder<BFloat16, float>(shape, blocks, to_pixels);
        expect_block_reorder<BFloat16, BFloat16>(shape, blocks, to_pixels);
      }
    }
  }
}

TEST(CpuBlockReorder, MovesEveryValue) {
  cpu_testing::on_each_instruction_set(expect_block_reorders);
}

TEST(CpuBlockReorder, OthersAreRefused) {
  const auto refused = [](TensorSpec src, TensorSpec dst) {
    return cpu::make_block_reorder(src, dst) == nullptr;
  };
  const ElementType f32 = ElementType::Float32;
  const Shape shape{1, 32, 8, 8};
  EXPECT_FALSE(refused({f32, shape, Format::Blocked8}, {f32, shape, Format::ChannelsLast}));
  EXPECT_TRUE(refused({f32, shape, Format::Plain}, {f32, shape, Format::ChannelsLast}));
  EXPECT_TRUE(refused({f32, shape, Format::Plain}, {f32, shape, Format::Blocked16}));
  EXPECT_TRUE(refused({f32, shape, Format::Blocked8}, {f32, shape, Format::Blocked16}));
  EXPECT_TRUE(
      refused({f32, shape, Format::Blocked16}, {ElementType::UInt8, shape, Format::ChannelsLast}));
}

using CpuReorders = CpuTest;

TEST_F(CpuReorders, ReordersBetweenBlocksAndPixelsAreOurs) {
  if (!cpu::has_bfloat16_arithmetic()) {
    GTEST_SKIP() << "without instructions for bfloat16 oneDNN wants blocks everywhere";
  }
  ModelMaker maker;
  // Convolutions of groups want blocks in bfloat16, others pixels; with AMX all want the same.
  const size_t between = cpu::bfloat16_speed() < 16 ? 2 : 0;
  Value* x = maker.conv(maker.input({1, 32, 12, 10}), 32, 64);
  maker.output(maker.conv(maker.conv(x, 64, 64, 3, 4), 64, 32));
  size_t reorders = 0;
  for (const ProfileRow& row :
       compare(maker.model(), 0.05f, {{"INFERENCE_PRECISION_HINT", "bf16"}, {"CACHE_DIR", ""}})) {
    if (row.layer_type != "Reorder") continue;
    ++reorders;
    EXPECT_EQ(row.exec_type, "own_simd") << row.node_name;
  }
  EXPECT_EQ(reorders, 2 + between) << "the input's, the output's and those in between";
}

}  // namespace
}  // namespace het
