/// Reorders between planes and pixels (devices/cpu/moves/transposed_reorder.h).

#include "devices/cpu/moves/transposed_reorder.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "devices/cpu/onednn/onednn.h"
#include "tests/devices/cpu/cpu_testing.h"
#include "tests/devices/cpu/instruction_sets.h"
#include "tests/guarded_memory.h"

namespace het {
namespace {

using cpu::Format;
using cpu::TensorSpec;
using cpu_testing::CpuTest;
using cpu_testing::make_attributes;
using cpu_testing::ModelMaker;

/// Numbers of all kinds, in both types.
struct Source {
  std::vector<float> floats;
  std::vector<BFloat16> halves;

  explicit Source(size_t count) {
    const float special[] = {std::numeric_limits<float>::quiet_NaN(),
                             std::numeric_limits<float>::infinity(),
                             -std::numeric_limits<float>::infinity(),
                             -0.0f,
                             3.3e38f,
                             1.00390625f,  // halves of bfloat16, to even ones
                             1.01171875f};
    for (size_t i = 0; i < count; ++i) {
      floats.push_back(i % 11 < 7 ? special[i % 11] : static_cast<float>(i) * 1.37f - 500.0f);
      halves.emplace_back(floats.back());
    }
  }
  std::byte* values(ElementType type) {
    return type == ElementType::Float32 ? reinterpret_cast<std::byte*>(floats.data())
                                        : reinterpret_cast<std::byte*>(halves.data());
  }
};

void expect_reorder(const Shape& shape, ElementType from, ElementType to, bool to_pixels) {
  const TensorSpec src{from, shape, to_pixels ? Format::Plain : Format::ChannelsLast};
  const TensorSpec dst{to, shape, to_pixels ? Format::ChannelsLast : Format::Plain};
  SCOPED_TRACE(to_string(src) + " -> " + to_string(dst));
  const auto kernel = cpu::make_transposed_reorder(src, dst);
  ASSERT_NE(kernel, nullptr);
  const auto count = static_cast<size_t>(physical_count(src));
  Source source(count);
  std::vector<float> floats(count + 1, -7.0f);
  std::vector<BFloat16> halves(count + 1, BFloat16(-7.0f));
  std::byte* inputs[] = {source.values(from)};
  std::byte* outputs[] = {to == ElementType::Float32 ? reinterpret_cast<std::byte*>(floats.data())
                                                     : reinterpret_cast<std::byte*>(halves.data())};
  cpu::KernelArgs args;
  args.inputs = inputs;
  args.outputs = outputs;
  ASSERT_TRUE(kernel->execute(args, nullptr).ok());
  const int64_t channels = shape[1];
  const int64_t pixels = physical_count(src) / shape[0] / channels;
  for (int64_t i = 0; i < physical_count(src); ++i) {
    const int64_t image = i / (channels * pixels);
    const int64_t rest = i % (channels * pixels);
    const int64_t place = to_pixels ? rest % channels * pixels + rest / channels
                                    : rest % pixels * channels + rest / pixels;
    const auto at = static_cast<size_t>(image * channels * pixels + place);
    if (to == ElementType::BFloat16) {
      const BFloat16 wanted = source.halves[at];  // of both sources
      ASSERT_EQ(halves[static_cast<size_t>(i)].bits, wanted.bits) << i;
      continue;
    }
    const float wanted =
        from == ElementType::Float32 ? source.floats[at] : static_cast<float>(source.halves[at]);
    uint32_t bits[2];
    std::memcpy(bits, &floats[static_cast<size_t>(i)], sizeof(float));
    std::memcpy(bits + 1, &wanted, sizeof(float));
    ASSERT_EQ(bits[0], bits[1]) << i;
  }
  EXPECT_EQ(floats[count], -7.0f);
  EXPECT_EQ(halves[count].bits, BFloat16(-7.0f).bits);
}

void expect_reorders() {
  for (const Shape& shape :
       {Shape{1, 16, 16}, Shape{2, 17, 3, 7}, Shape{2, 24, 14, 14}, Shape{1, 31, 5, 5},
        Shape{3, 40, 2, 3, 11}, Shape{1, 100, 61, 47}, Shape{2, 513, 4, 4}}) {
    for (const ElementType from : {ElementType::Float32, ElementType::BFloat16}) {
      for (const ElementType to : {ElementType::Float32, ElementType::BFloat16}) {
        for (const bool to_pixels : {false, true}) expect_reorder(shape, from, to, to_pixels);
      }
    }
  }
}

TEST(CpuTransposedReorder, MovesEveryValue) {
  cpu_testing::on_each_instruction_set(expect_reorders);
}

/// Squares, lines and what is left of them, to rows that meet in the cache and others.
TEST(CpuTransposedReorder, MovesEveryByte) {
  cpu_testing::on_each_instruction_set([] {
    for (const Shape& shape : {Shape{1, 16, 16}, Shape{2, 17, 3, 7}, Shape{1, 31, 5, 53},
                               Shape{1, 4096, 40}, Shape{1, 40, 4096}, Shape{2, 100, 17, 33}}) {
      for (const bool to_pixels : {false, true}) {
        const TensorSpec planes{ElementType::Int8, shape, Format::Plain};
        const TensorSpec pixels{ElementType::Int8, shape, Format::ChannelsLast};
        const Tensor source =
            guarded_copy(cpu_testing::random_bytes<int8_t>({physical_count(planes)}, 3));
        const Tensor result = guarded_copy(*Tensor::allocate(source.desc()));
        const auto kernel = to_pixels ? cpu::make_transposed_reorder(planes, pixels)
                                      : cpu::make_transposed_reorder(pixels, planes);
        ASSERT_NE(kernel, nullptr);
        std::byte* const inputs[] = {source.bytes()};
        std::byte* const outputs[] = {result.bytes()};
        cpu::KernelArgs args;
        args.inputs = inputs;
        args.outputs = outputs;
        ASSERT_TRUE(kernel->execute(args, nullptr).ok());
        const int64_t channels = shape[1];
        const int64_t count = source.element_count() / shape[0] / channels;
        for (int64_t i = 0; i < source.element_count(); ++i) {
          const int64_t image = i / (channels * count) * channels * count;
          const int64_t rest = i - image;
          const int64_t plane = image + rest % channels * count + rest / channels;
          const int8_t* const from = source.data<int8_t>() + (to_pixels ? plane : i);
          ASSERT_EQ(result.data<int8_t>()[to_pixels ? i : plane], *from) << to_string(shape);
        }
      }
    }
  });
}

TEST(CpuTransposedReorder, OthersAreRefused) {
  const auto refused = [](TensorSpec src, TensorSpec dst) {
    return cpu::make_transposed_reorder(src, dst) == nullptr;
  };
  const ElementType f32 = ElementType::Float32;
  const Shape shape{1, 32, 8, 8};
  EXPECT_FALSE(refused({f32, shape, Format::Plain}, {f32, shape, Format::ChannelsLast}));
  EXPECT_TRUE(refused({f32, shape, Format::Plain}, {f32, shape, Format::Blocked16}));
  EXPECT_TRUE(refused({f32, shape, Format::Blocked16}, {f32, shape, Format::ChannelsLast}));
  EXPECT_TRUE(refused({f32, shape, Format::Plain}, {f32, shape, Format::Plain}));
  EXPECT_TRUE(
      refused({f32, shape, Format::Plain}, {ElementType::UInt8, shape, Format::ChannelsLast}));
  for (const Shape& small : {Shape{1, 15, 8, 8}, Shape{1, 32, 5, 3}, Shape{64, 64}}) {
    EXPECT_TRUE(refused({f32, small, Format::Plain}, {f32, small, Format::ChannelsLast}));
  }
}

using CpuReorders = CpuTest;

TEST_F(CpuReorders, ReordersBetweenPlanesAndPixelsAreOurs) {
  if (!cpu::has_bfloat16()) GTEST_SKIP() << "no AVX-512: bf16 is refused, floats lie in blocks";
  ModelMaker maker;
  Value* x = maker.conv(maker.input({1, 32, 12, 10}), 32, 40, 3);
  maker.output(maker.op("Softmax", {x}, make_attributes({{"axis", int64_t{3}}})));
  size_t own = 0;
  for (const ProfileRow& row :
       compare(maker.model(), 0.05f, {{"INFERENCE_PRECISION_HINT", "bf16"}, {"CACHE_DIR", ""}})) {
    own += row.layer_type == "Reorder" && row.exec_type == "own_simd";
  }
  EXPECT_GE(own, 2u);
}

}  // namespace
}  // namespace het
