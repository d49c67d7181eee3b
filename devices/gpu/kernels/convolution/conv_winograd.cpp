#include "devices/gpu/kernels/convolution/conv_winograd.h"

#include <array>

#include "devices/gpu/kernels/convolution/conv_direct.h"
#include "devices/gpu/plan/launches.h"

namespace het::gpu {
namespace {

/// Multiply-adds that a byte of memory traffic counts as: 88 GFLOP/s a core beside 12 GB/s.
constexpr double kWorkOfByte = 4.0;
/// Of the direct algorithm's cost: less is not worth the rounding errors.
constexpr double kWorthwhile = 0.85;

struct Tiles {
  int64_t m = 2;  ///< outputs along a dimension
  int64_t h = 0;
  int64_t w = 0;
  int64_t count = 0;
  int64_t size() const { return m + 2; }
  int64_t products() const { return size() * size(); }
};

Tiles tiles_of(const Convolution& conv, int64_t m) {
  Tiles tiles;
  tiles.m = m;
  tiles.h = (conv.window.out[1] + m - 1) / m;
  tiles.w = (conv.window.out[2] + m - 1) / m;
  tiles.count = conv.n * tiles.h * tiles.w;
  return tiles;
}

/// G g G' of every filter: [product][oc][ic].
std::vector<float> transformed_weights(const Convolution& conv, const std::vector<float>& weights,
                                       const Tiles& tiles) {
  using Row = std::array<double, 3>;
  static const std::vector<Row> kSmall = {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}};
  static const std::vector<Row> kLarge = {{1.0 / 4, 0, 0},
                                          {-1.0 / 6, -1.0 / 6, -1.0 / 6},
                                          {-1.0 / 6, 1.0 / 6, -1.0 / 6},
                                          {1.0 / 24, 1.0 / 12, 1.0 / 6},
                                          {1.0 / 24, -1.0 / 12, 1.0 / 6},
                                          {0, 0, 1}};
  const std::vector<Row>& g = tiles.m == 2 ? kSmall : kLarge;
  const auto filters = static_cast<size_t>(conv.oc * conv.ic);
  std::vector<float> result(static_cast<size_t>(tiles.products()) * filters);
  for (size_t filter = 0; filter < filters; ++filter) {
    const float* from = weights.data() + filter * 9;
    size_t product = 0;
    for (const Row& down : g) {
      Row column = {};
      for (size_t x = 0; x < 3; ++x) {
        for (size_t y = 0; y < 3; ++y) column[x] += down[y] * static_cast<double>(from[y * 3 + x]);
      }
      for (const Row& across : g) {
        const double sum = column[0] * across[0] + column[1] * across[1] + column[2] * across[2];
        result[product++ * filters + filter] = static_cast<float>(sum);
      }
    }
  }
  return result;
}

/// The products as a convolution with a group each, which merge nothing.
DirectProblem products_of(const Convolution& conv, const Tiles& tiles, std::vector<float> weights) {
  DirectProblem problem;
  problem.ic = conv.ic * tiles.products();
  problem.oc = conv.oc * tiles.products();
  problem.group = tiles.products();
  problem.window = {{1, 1, tiles.count}, {1, 1, tiles.count}, {1, 1, 1},
                    {1, 1, 1},           {1, 1, 1},           {0, 0, 0}};
  problem.weights = std::move(weights);
  problem.batched = true;
  return problem;
}

Launch transform(const PlanBuilder& builder, const Convolution& conv, const Tiles& tiles,
                 const char* what, int64_t channels) {
  const auto width = static_cast<int64_t>(builder.hardware().vector_width());
  Launch launch;
  launch.text.file = "conv_winograd";
  launch.text.options = convolution_options(builder, conv);
  generate_tail(launch.text, conv.tail);
  launch.kernel = fmt::format("winograd{}_{}", tiles.m, what);
  launch.global = {static_cast<size_t>(tiles.count * (channels / width)), 1, 1};
  launch.local = builder.row_local();
  return launch;
}

double winograd_cost(const Convolution& conv, int64_t m) {
  const Tiles tiles = tiles_of(conv, m);
  const auto products = static_cast<double>(tiles.products());
  const auto channels = static_cast<double>(conv.ic * conv.oc);
  const auto count = static_cast<double>(tiles.count);
  const double bytes =
      4.0 * products * (2.0 * count * static_cast<double>(conv.ic + conv.oc) + channels);
  return products * count * channels + kWorkOfByte * bytes;
}

double direct_cost(const Convolution& conv) {
  return conv.work() + kWorkOfByte * 4.0 * 9.0 * static_cast<double>(conv.ic * conv.oc);
}

}  // namespace

std::string refuse_winograd(const PlanBuilder& builder, const Convolution& conv) {
  const Window3& window = conv.window;
  if (conv.transposed || !conv.is_flat()) return "not a convolution in two dimensions";
  if (!conv.has_constants()) return "computed weights";
  if (conv.group != 1) return "groups";
  if (window.kernel != std::array<int64_t, 3>{1, 3, 3}) return "no 3x3 window";
  for (size_t d = 1; d < 3; ++d) {
    if (window.strides[d] != 1 || window.dilations[d] != 1) return "strides or dilations";
  }
  const auto width = static_cast<int64_t>(builder.hardware().vector_width());
  if (conv.ic % width != 0 || conv.oc % width != 0) return "channels that fill no vectors";
  if (builder.options().stored_type != ElementType::Float32) return "half storage";
  // Between the transforms there are more elements than kernels count.
  const Tiles tiles = tiles_of(conv, 2);
  const int64_t most = tiles.products() * tiles.count * std::max(conv.ic, conv.oc);
  return most > INT32_MAX ? "too many elements" : "";
}

int64_t winograd_tile(const PlanBuilder& builder, const Convolution& conv) {
  if (!builder.options().fast_algorithms || !refuse_winograd(builder, conv).empty()) return 0;
  int64_t best = 0;
  double least = kWorthwhile * direct_cost(conv);
  for (const int64_t m : {2, 4}) {
    const double cost = winograd_cost(conv, m);
    if (cost >= least) continue;
    best = m;
    least = cost;
  }
  return best;
}

Status plan_winograd(PlanBuilder& builder, const Node& node, const Convolution& conv, int64_t m) {
  const Tiles tiles = tiles_of(conv, m);
  const Window3& window = conv.window;
  HET_ASSIGN(const std::vector<float> weights, to_float_vector(conv.weights->constant()));
  HET_ASSIGN(const TensorId src, builder.read(*conv.src, Format::ChannelsLast));
  HET_ASSIGN(const TailOperands operands, tail_operands(builder, conv, conv.oc));
  const ElementType type = builder.options().stored_type;
  const TensorId transformed = builder.temporary({type, {tiles.products(), tiles.count, conv.ic}});
  const TensorId sums = builder.temporary({type, {tiles.products(), tiles.count, conv.oc}});
  const Convolution bare = without_tail(conv);
  Launch source = transform(builder, bare, tiles, "source", conv.ic);
  source.args = {Read{src}, Write{transformed}};
  for (const int64_t value : {tiles.count, tiles.h, tiles.w, conv.ic, window.in[1], window.in[2],
                              window.pads[1], window.pads[2]}) {
    source.args.emplace_back(as_int(value));
  }
  HET_TRY(builder.add_step(node, std::move(source)));

  const DirectProblem problem = products_of(conv, tiles, transformed_weights(conv, weights, tiles));
  DirectOperands products;
  products.src = {transformed, 1, tiles.count, 0, 0};
  products.dst = {sums, conv.oc, 0};
  HET_TRY(add_direct(builder, node, bare, problem, products, direct_tile(builder, problem)));

  const ChannelPlace dst =
      conv.sum == nullptr
          ? builder.write_channels(*conv.dst)
          : ChannelPlace{builder.write(*conv.dst, Format::ChannelsLast), conv.oc, 0};
  Launch back = transform(builder, conv, tiles, "sums", conv.oc);
  back.args = {Read{sums}, Read{operands.bias}, Read{operands.sum}, Write{dst.id}};
  for (const int64_t value :
       {tiles.count, tiles.h, tiles.w, conv.oc, window.out[1], window.out[2], dst.row, dst.first}) {
    back.args.emplace_back(as_int(value));
  }
  return builder.add_step(node, std::move(back));
}

}  // namespace het::gpu
