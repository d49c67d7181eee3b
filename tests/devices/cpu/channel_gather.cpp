/// Channels picked from several values: the kernel in every format, and the pass that asks for it.

#include "devices/cpu/moves/channel_gather.h"

#include <numeric>

#include "inference/passes/fusions/passes.h"
#include "inference/passes/prepare_model.h"
#include "inference/passes/print_model.h"
#include "tests/devices/cpu/cpu_testing.h"

namespace het {
namespace {

using cpu::ChannelSources;
using cpu::Format;
using cpu_testing::CpuTest;
using cpu_testing::Ints;
using cpu_testing::make_attributes;
using cpu_testing::ModelMaker;

/// Element (n, c, p) of a dense tensor of any type in any format.
int64_t place_of(const cpu::TensorSpec& spec, int64_t n, int64_t c, int64_t p) {
  const int64_t channels = spec.shape[1];
  const int64_t pixels = spec.shape[2] * spec.shape[3];
  if (spec.format == Format::Plain) return (n * channels + c) * pixels + p;
  if (spec.format == Format::ChannelsLast) return (n * pixels + p) * channels + c;
  const int64_t block = cpu::block_of(spec.format);
  const int64_t blocks = (channels + block - 1) / block;
  return ((n * blocks + c / block) * pixels + p) * block + c % block;
}

/// Runs the kernel over sources that hold their own numbers, and compares every element.
template <class T>
void check_gather(ElementType type, Format format, const Ints& channels, const Ints& picked) {
  constexpr int64_t kImages = 2;
  constexpr int64_t kHeight = 9;
  constexpr int64_t kWidth = 71;
  const auto spec = [&](int64_t count) {
    return cpu::TensorSpec{type, {kImages, count, kHeight, kWidth}, format};
  };
  std::vector<std::vector<T>> sources;
  std::vector<std::byte*> inputs;
  for (size_t i = 0; i < channels.size(); ++i) {
    sources.emplace_back(static_cast<size_t>(cpu::physical_count(spec(channels[i]))));
    std::iota(sources[i].begin(), sources[i].end(), static_cast<T>(1 + 1000 * i));
    inputs.push_back(reinterpret_cast<std::byte*>(sources[i].data()));
  }
  const cpu::TensorSpec to = spec(static_cast<int64_t>(picked.size()));
  std::vector<T> wanted(static_cast<size_t>(cpu::physical_count(to)), T{0});
  for (int64_t n = 0; n < kImages; ++n) {
    for (int64_t p = 0; p < kHeight * kWidth; ++p) {
      for (size_t c = 0; c < picked.size(); ++c) {
        size_t input = 0;
        int64_t channel = picked[c];
        while (channel >= channels[input]) channel -= channels[input++];
        wanted[static_cast<size_t>(place_of(to, n, static_cast<int64_t>(c), p))] =
            sources[input][static_cast<size_t>(place_of(spec(channels[input]), n, channel, p))];
      }
    }
  }
  const auto kernel = cpu::make_channel_gather(ChannelSources{channels, spec(channels[0])}, picked);
  for (const int team : {1, 2, 3}) {
    const cpu_testing::TeamScope scope(team);
    std::vector<T> got(wanted.size(), T{7});
    std::byte* outputs[] = {reinterpret_cast<std::byte*>(got.data())};
    cpu::KernelArgs args;
    args.inputs = inputs.data();
    args.outputs = outputs;
    EXPECT_TRUE(kernel->execute(args, nullptr).ok());
    EXPECT_EQ(got, wanted) << to_string(to) << " on " << team << " threads";
  }
}

TEST(CpuChannelGather, TakesChannelsOfSeveralValuesInEveryFormat) {
  // One to eight vectors give to one of the result; repeated channels; a last block not filled;
  // two runs in turn and every second channel, more and less than a vector, up to the last one.
  std::vector<std::pair<Ints, Ints>> cases = {{{8}, {7, 6, 5, 4, 3, 2, 1, 0}},
                                              {{5, 7, 4}, {}},
                                              {{20}, {3, 19, 3, 0, 11, 12}},
                                              {{58, 58}, {}},
                                              {{40, 24}, {}},
                                              {{6, 6}, {6, 1, 7, 2, 8, 3, 11, 5}},
                                              {{95, 5}, {}},
                                              {{4, 3}, {0, 2, 4, 6, 1, 3}},
                                              {{50}, {}}};
  cases[1].second.resize(16);
  std::iota(cases[1].second.begin(), cases[1].second.end(), 0);
  for (int64_t c = 29; c < 58; ++c) cases[3].second.insert(cases[3].second.end(), {c, 58 + c});
  for (int64_t c = 0; c < 64; ++c) cases[4].second.push_back(c % 8 * 8 + c / 8);
  for (int64_t c = 0; c < 95; c += 2) cases[6].second.push_back(c);
  for (int64_t c = 1; c < 95; c += 2) cases[6].second.push_back(c);
  for (int64_t c = 0; c < 50; ++c) cases[8].second.insert(cases[8].second.end(), {c, c});
  for (const auto& [channels, picked] : cases) {
    for (const Format format :
         {Format::Blocked8, Format::Blocked16, Format::ChannelsLast, Format::Plain}) {
      check_gather<float>(ElementType::Float32, format, channels, picked);
    }
    for (const Format format : {Format::ChannelsLast, Format::Plain}) {
      check_gather<uint16_t>(ElementType::BFloat16, format, channels, picked);
      check_gather<uint8_t>(ElementType::UInt8, format, channels, picked);
    }
  }
}

class CpuChannelGathers : public CpuTest {
 protected:
  static Value* shuffled(ModelMaker& m, Value* x, int64_t group, const Shape& shape) {
    Value* a =
        m.op("Reshape", {x, m.ints({shape[0], group, shape[1] / group, shape[2], shape[3]})});
    Value* b = m.op("Transpose", {a}, make_attributes({{"perm", Ints{0, 2, 1, 3, 4}}}));
    return m.op("Reshape", {b, m.ints(shape)});
  }
  static Value* concat(ModelMaker& m, std::vector<Value*> values) {
    return m.op("Concat", std::move(values), make_attributes({{"axis", int64_t{-3}}}));
  }
  static Value* slice(ModelMaker& m, Value* x, int64_t begin, int64_t end, int64_t axis = 1) {
    return m.op("Slice", {x, m.ints({begin}), m.ints({end}), m.ints({axis})});
  }

  static std::string fused(const Model& model) {
    const std::unique_ptr<Model> prepared = model.clone();
    EXPECT_TRUE(prepare_model(*prepared).ok());
    for (const auto pass : {fuse_channel_shuffles, fuse_channel_gathers}) {
      EXPECT_TRUE(pass(*prepared).ok());
      prepared->remove_unused();
      EXPECT_TRUE(prepared->sort().ok());
    }
    return "\n" + print_model(*prepared);
  }
};

TEST_F(CpuChannelGathers, HalvesOfAShuffledConcat) {
  ModelMaker m;
  Value* y =
      shuffled(m, concat(m, {m.input({1, 3, 2, 2}), m.input({1, 3, 2, 2})}), 2, {1, 6, 2, 2});
  m.output(slice(m, y, 0, 3));
  m.output(slice(m, y, 3, 6));
  EXPECT_EQ(fused(m.model()), R"(
input x0 : float32[1,3,2,2]
input x1 : float32[1,3,2,2]
Slice4_y_2 = het.ChannelGather(x0, x1) {channels=[0,3,1]} : float32[1,3,2,2]
Slice5_y_2 = het.ChannelGather(x0, x1) {channels=[4,2,5]} : float32[1,3,2,2]
output y0 = Slice4_y_2
output y1 = Slice5_y_2
)");
  compare(m.model(), 0.0f);
}

TEST_F(CpuChannelGathers, AllOfAShuffledConcatAndSlicesWithoutOne) {
  ModelMaker m;
  Value* a = m.input({1, 2, 2, 2});
  m.output(m.op("Relu", {shuffled(m, concat(m, {a, m.input({1, 4, 2, 2})}), 3, {1, 6, 2, 2})}));
  m.output(slice(m, shuffled(m, a, 2, {1, 2, 2, 2}), 1, 2));
  EXPECT_EQ(fused(m.model()), R"(
input x0 : float32[1,2,2,2]
input x1 : float32[1,4,2,2]
Reshape3_y_2_2 = het.ChannelGather(x0, x1) {channels=[0,2,4,1,3,5]} : float32[1,6,2,2]
Relu4_y = Relu(Reshape3_y_2_2) : float32[1,6,2,2]
Slice8_y_2 = het.ChannelGather(x0) {channels=[1]} : float32[1,1,2,2]
output y0 = Relu4_y
output y1 = Slice8_y_2
)");
  compare(m.model(), 0.0f);
}

TEST_F(CpuChannelGathers, OtherReadersKeepTheirValues) {
  // A concatenation of rows, one that is an output, a slice of rows, a shuffle that is an output.
  ModelMaker m;
  Value* a = m.input({1, 4, 2, 2});
  Value* rows = m.op("Concat", {a, a}, make_attributes({{"axis", int64_t{2}}}));
  m.output(m.op("Relu", {shuffled(m, rows, 2, {1, 4, 4, 2})}));
  Value* read = concat(m, {a, a});
  m.output(read);
  Value* y = shuffled(m, read, 2, {1, 8, 2, 2});
  m.output(slice(m, y, 0, 4));
  m.output(slice(m, y, 0, 1, 2));
  Value* z = shuffled(m, a, 2, {1, 4, 2, 2});
  m.output(z);
  m.output(slice(m, z, 0, 2));
  const std::string after = fused(m.model());
  EXPECT_EQ(after.find("ChannelGather"), std::string::npos) << after;
  compare(m.model(), 0.0f);
}

TEST_F(CpuChannelGathers, UnitsOfShuffleNetAreOneStepEach) {
  for (const int64_t channels : {58, 24}) {
    ModelMaker m;
    Value* x = m.conv(m.input({2, 8, 9, 7}), 8, 2 * channels);
    for (int unit = 0; unit < 2; ++unit) {
      Value* kept = slice(m, x, 0, channels);
      Value* branch = m.conv(slice(m, x, channels, 2 * channels), channels, channels);
      x = shuffled(m, concat(m, {kept, branch}), 2, {2, 2 * channels, 9, 7});
    }
    m.output(m.conv(x, 2 * channels, 8));
    const auto rows = compare(m.model(), 1e-4f);
    EXPECT_EQ(count_type(rows, "ChannelGather"), 3u);
    EXPECT_EQ(count_type(rows, "ChannelShuffle") + count_type(rows, "Concat"), 0u);
  }
}

}  // namespace
}  // namespace het
