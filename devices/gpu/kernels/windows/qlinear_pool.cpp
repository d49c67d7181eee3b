#include "devices/gpu/kernels/convolution/convolution.h"
#include "devices/gpu/plan/launches.h"
#include "devices/gpu/plan/plan_builder.h"
#include "devices/gpu/plan/strided_move.h"
#include "inference/base/registration.h"
#include "inference/ops/packed_integer.h"
#include "inference/ops/windows/pool.h"

namespace het::gpu {
namespace {

bool has_channels_last(const Node& node) {
  return node.attributes().get_int("channels_last", 0) != 0;
}

/// [n, c, spatial...], in whatever order the node has its dimensions.
Shape channels_first(const Node& node) {
  Shape shape = node.input(0)->desc().shape;
  if (has_channels_last(node) && shape.size() > 2) {
    shape.insert(shape.begin() + 1, shape.back());
    shape.pop_back();
  }
  return shape;
}

/// As the windows of all kernels count them; nothing where they do not.
Result<Window3> window_of(const Node& node) {
  const Shape shape = channels_first(node);
  HET_ASSIGN(const PoolAttributes pool, pool_attributes(node, shape));
  return window3(pool, std::span(shape).subspan(2));
}

std::string refuse_qlinear_pool(const Node& node) {
  for (const size_t i : {size_t{1}, size_t{3}}) {
    const ElementType type = node.input(i)->desc().type;
    if (type != ElementType::Float32) return fmt::format("its scales are {}", to_string(type));
  }
  for (const Value* value : {node.input(0), node.output()}) {
    if (value->desc().type != ElementType::UInt8 && value->desc().type != ElementType::Int8) {
      return fmt::format("no GPU kernel pools {} as bytes", to_string(value->desc().type));
    }
  }
  const Result<Window3> window = window_of(node);
  return window ? refuse_window(*window) : window.error().message();
}

/// The zero point, or a constant one where it is omitted.
Result<TensorId> zero_point(PlanBuilder& builder, const Value* zero) {
  if (zero != nullptr) return builder.read(*zero, Format::Plain);
  return builder.constant(Tensor::scalar(uint8_t{0}));
}

Status plan_qlinear_pool(PlanBuilder& builder, const Node& node) {
  const Shape shape = channels_first(node);
  HET_ASSIGN(const PoolAttributes pool, pool_attributes(node, shape));
  HET_ASSIGN(const Window3 window, window_of(node));
  const Format format = has_channels_last(node) ? Format::Plain : Format::ChannelsLast;
  HET_ASSIGN(const TensorId from, builder.read(*node.input(0), format));
  HET_ASSIGN(const TensorId src_scale,
             builder.read(*node.input(1), Format::Plain, ElementType::Float32));
  HET_ASSIGN(const TensorId src_zero, zero_point(builder, node.input(2)));
  HET_ASSIGN(const TensorId dst_scale,
             builder.read(*node.input(3), Format::Plain, ElementType::Float32));
  HET_ASSIGN(const TensorId dst_zero, zero_point(builder, node.input(4)));
  const TensorId to = builder.write(*node.output(), format);
  std::vector<int64_t> list;
  for (const auto& part :
       {window.in, window.out, window.kernel, window.strides, window.dilations, window.pads}) {
    list.insert(list.end(), part.begin(), part.end());
  }
  HET_ASSIGN(const TensorId numbers, int_list(builder, list));
  const int64_t channels = shape[1];
  const int64_t positions = shape[0] * window.out_count();
  const auto chunks = static_cast<int64_t>(
      groups_of(channels, static_cast<int64_t>(builder.hardware().vector_width())));
  const ElementType result = node.output()->desc().type;
  const IntegerRange range = integer_range(result);
  Launch launch;
  launch.text.file = "qlinear_pool";
  launch.text.options = row_options(builder);
  launch.text.generated = fmt::format(
      "#define SOURCE {}\n#define RESULT {}\n#define LOWEST {}.0f\n#define HIGHEST {}.0f\n",
      c_type(node.input(0)->desc().type), c_type(result), range.lowest, range.highest);
  launch.kernel = "qlinear_pool";
  launch.args = {Read{from},
                 Write{to},
                 Read{numbers},
                 Read{src_scale},
                 Read{src_zero},
                 Read{dst_scale},
                 Read{dst_zero},
                 as_int(channels),
                 as_int(chunks),
                 as_int(positions),
                 as_int(pool.count_include_pad ? 1 : 0)};
  launch.global[0] = static_cast<size_t>(positions * chunks);
  launch.local = builder.row_local();
  return builder.add_step(node, std::move(launch));
}

}  // namespace

HET_REGISTRATION void register_qlinear_pool(KernelRegistry& registry) {
  for (const char* type : {"QLinearAveragePool", "QLinearGlobalAveragePool"}) {
    registry.add("com.microsoft", type, {refuse_qlinear_pool, plan_qlinear_pool});
  }
}

}  // namespace het::gpu
