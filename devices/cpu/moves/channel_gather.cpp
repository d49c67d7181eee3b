#include "devices/cpu/moves/channel_gather.h"

#include <algorithm>
#include <numeric>

#include "devices/cpu/loops/channel_gather_loops.h"
#include "devices/cpu/threads/parallel.h"

namespace het::cpu {
namespace {

/// Elements of the result that are worth a thread.
constexpr int64_t kGatherGrain = 8192;

int64_t pixels_of(const Shape& shape) {
  return std::accumulate(shape.begin() + 2, shape.end(), int64_t{1}, std::multiplies<>());
}

/// A channel in one of the inputs.
struct Place {
  size_t input;
  int64_t channel;
};

std::vector<Place> places(const ChannelSources& sources, const std::vector<int64_t>& picked) {
  std::vector<Place> result;
  for (int64_t channel : picked) {
    size_t input = 0;
    while (channel >= sources.channels[input]) channel -= sources.channels[input++];
    result.push_back({input, channel});
  }
  return result;
}

/// Blocked floats. Loop order: image, vector of the output's channels, pixel. Each thread has some
/// pixels, of which products of pixels (1x1) share out the same.
class BlockedGather final : public Kernel {
 public:
  BlockedGather(const ChannelSources& sources, const std::vector<int64_t>& picked)
      : block_(block_of(sources.spec.format)),
        lanes_(gather_lanes(block_)),
        images_(sources.spec.shape[0]),
        pixels_(pixels_of(sources.spec.shape)),
        channels_(static_cast<int64_t>(picked.size())) {
    for (const int64_t channels : sources.channels) {
      image_sizes_.push_back(blocks(channels) * pixels_ * block_);
    }
    vectors_.resize(static_cast<size_t>(blocks(channels_) * block_ / lanes_));
    const std::vector<Place> from = places(sources, picked);
    for (size_t c = 0; c < from.size(); ++c) {
      const auto to = static_cast<int64_t>(c);
      add(from[c], vectors_[static_cast<size_t>(to / lanes_)], static_cast<size_t>(to % lanes_));
    }
  }

  std::string_view implementation() const override { return "own_blocked"; }

  Status execute(const KernelArgs& args, KernelState*) const override {
    parallel_for(images_ * pixels_,
                 std::max<int64_t>(kGatherGrain / std::max<int64_t>(channels_, 1), 1),
                 [&](int64_t begin, int64_t end) {
                   while (begin < end) {
                     const int64_t image = begin / pixels_;
                     const int64_t stop = std::min(end, (image + 1) * pixels_);
                     gather(args, image, begin % pixels_, stop - begin);
                     begin = stop;
                   }
                 });
    return {};
  }

 private:
  /// A part whose source is known by its input and the place in its first image.
  struct Part {
    size_t input;
    int64_t place;
    GatherPart lanes;
  };

  int64_t blocks(int64_t channels) const { return (channels + block_ - 1) / block_; }

  void add(const Place& from, std::vector<Part>& parts, size_t lane) const {
    const int64_t inner = from.channel % block_;
    const int64_t place = from.channel / block_ * pixels_ * block_ + inner / lanes_ * lanes_;
    auto part = std::ranges::find_if(
        parts, [&](const Part& p) { return p.input == from.input && p.place == place; });
    if (part == parts.end()) part = parts.insert(part, {from.input, place, {}});
    part->lanes.from[lane] = static_cast<int32_t>(inner % lanes_);
    part->lanes.taken[lane] = -1;
  }

  void gather(const KernelArgs& args, int64_t image, int64_t first, int64_t count) const {
    // Every part has at least one lane of its own.
    std::array<GatherPart, kGatherLanes> parts;
    auto* dst = reinterpret_cast<float*>(args.outputs[0]) +
                (image * blocks(channels_) * pixels_ + first) * block_;
    const int64_t in_block = block_ / lanes_;
    for (size_t v = 0; v < vectors_.size(); ++v) {
      size_t filled = 0;
      for (const Part& part : vectors_[v]) {
        parts[filled] = part.lanes;
        parts[filled++].src = reinterpret_cast<const float*>(args.inputs[part.input]) +
                              image * image_sizes_[part.input] + part.place + first * block_;
      }
      const auto vector = static_cast<int64_t>(v);
      gather_vectors(parts.data(), filled, block_, count,
                     dst + vector / in_block * pixels_ * block_ + vector % in_block * lanes_);
    }
  }

  int64_t block_;
  int64_t lanes_;
  int64_t images_;
  int64_t pixels_;
  int64_t channels_;
  std::vector<int64_t> image_sizes_;        ///< floats, per input
  std::vector<std::vector<Part>> vectors_;  ///< per vector of the output's channels
};

/// Other formats: runs of channels. Where channels are last also two runs in turn, as a shuffle of
/// two groups leaves them, and every second channel, as one takes them. Loop order: image (and
/// pixel, where channels are last), run; the other two: what is picked, row.
template <class T>
class RunGather final : public Kernel {
 public:
  RunGather(const ChannelSources& sources, const std::vector<int64_t>& picked) {
    const Shape& shape = sources.spec.shape;
    const bool last = sources.spec.format == Format::ChannelsLast;
    const int64_t unit = last ? 1 : pixels_of(shape);
    rows_ = shape[0] * (last ? pixels_of(shape) : 1);
    for (const int64_t channels : sources.channels) strides_.push_back(channels * unit);
    const std::vector<Place> from = places(sources, picked);
    row_ = static_cast<int64_t>(from.size()) * unit;
    for (size_t c = 0; c < from.size();) {
      const int64_t to = static_cast<int64_t>(c) * unit;
      const int64_t length = run_length(from, c, 1, 1);
      const int64_t seconds = last && length == 1 ? run_length(from, c, 1, 2) : 1;
      const int64_t pairs = last && length == 1 ? run_length(from, c, 2, 1) / 2 : 1;
      if (pairs > 1) {
        pairs_.push_back({from[c], from[c + 1], pairs, to});
        c += static_cast<size_t>(2 * pairs);
      } else if (seconds > 1) {
        seconds_.push_back({from[c], seconds, to});
        c += static_cast<size_t>(seconds);
      } else {
        runs_.push_back({from[c].input, from[c].channel * unit, length * unit, to});
        c += static_cast<size_t>(length);
      }
    }
  }

  std::string_view implementation() const override {
    return pairs_.empty() && seconds_.empty() ? "own_copy" : "own_pairs";
  }

  Status execute(const KernelArgs& args, KernelState*) const override {
    parallel_for(
        rows_, std::max<int64_t>(kGatherGrain / std::max<int64_t>(row_, 1), 1),
        [&](int64_t begin, int64_t end) {
          for (int64_t row = begin; row < end; ++row) {
            for (const Run& run : runs_) {
              std::copy_n(source(args, run.input, row) + run.from, run.length,
                          result(args, row) + run.to);
            }
          }
          for (const Pairs& pairs : pairs_) {
            const Place& first = pairs.first;
            const Place& second = pairs.second;
            interleave_rows(Interleave<T>{source(args, first.input, begin) + first.channel,
                                          strides_[first.input],
                                          source(args, second.input, begin) + second.channel,
                                          strides_[second.input], pairs.count,
                                          result(args, begin) + pairs.to, row_},
                            end - begin);
          }
          for (const Seconds& picked : seconds_) {
            const Place& from = picked.from;
            pick_every_second(
                EverySecond<T>{source(args, from.input, begin) + from.channel, strides_[from.input],
                               picked.count, result(args, begin) + picked.to, row_},
                end - begin);
          }
        });
    return {};
  }

 private:
  struct Run {
    size_t input;
    int64_t from;
    int64_t length;
    int64_t to;
  };
  struct Pairs {
    Place first;
    Place second;
    int64_t count;
    int64_t to;
  };
  struct Seconds {
    Place from;
    int64_t count;
    int64_t to;
  };

  /// Channels from `begin` on of which each lies `distance` behind that of `period` before it.
  static int64_t run_length(const std::vector<Place>& from, size_t begin, size_t period,
                            int64_t distance) {
    size_t end = std::min(begin + period, from.size());
    while (end < from.size() && from[end].input == from[end - period].input &&
           from[end].channel == from[end - period].channel + distance) {
      ++end;
    }
    return static_cast<int64_t>(end - begin);
  }

  const T* source(const KernelArgs& args, size_t input, int64_t row) const {
    return reinterpret_cast<const T*>(args.inputs[input]) + row * strides_[input];
  }
  T* result(const KernelArgs& args, int64_t row) const {
    return reinterpret_cast<T*>(args.outputs[0]) + row * row_;
  }

  int64_t rows_ = 0;
  int64_t row_ = 0;               ///< elements of the output
  std::vector<int64_t> strides_;  ///< elements of a row, per input
  std::vector<Run> runs_;
  std::vector<Pairs> pairs_;
  std::vector<Seconds> seconds_;
};

}  // namespace

int64_t ChannelSources::count() const {
  return std::accumulate(channels.begin(), channels.end(), int64_t{0});
}

std::unique_ptr<Kernel> make_channel_gather(const ChannelSources& sources,
                                            const std::vector<int64_t>& picked) {
  if (is_blocked(sources.spec.format)) return std::make_unique<BlockedGather>(sources, picked);
  switch (byte_width(sources.spec.type)) {
    case 1:
      return std::make_unique<RunGather<uint8_t>>(sources, picked);
    case 2:
      return std::make_unique<RunGather<uint16_t>>(sources, picked);
    default:
      return std::make_unique<RunGather<uint32_t>>(sources, picked);
  }
}

}  // namespace het::cpu
