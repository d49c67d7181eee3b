#include "inference/ops/pool.h"

#include <algorithm>

#include "devices/cpu/onednn.h"
#include "devices/cpu/plan_builder.h"
#include "inference/registration.h"

namespace het::cpu {
namespace {

/// A window of one spatial dimension becomes one of two: oneDNN's fast kernels are for pictures.
void add_height(PoolingSpec& spec) {
  const auto insert = [](std::vector<int64_t>& list, int64_t value) {
    list.insert(list.begin(), value);
  };
  insert(spec.kernel, 1);
  insert(spec.strides, 1);
  insert(spec.dilations, 1);
  insert(spec.pads_begin, 0);
  insert(spec.pads_end, 0);
  spec.src.shape.insert(spec.src.shape.begin() + 2, 1);
  spec.dst.shape.insert(spec.dst.shape.begin() + 2, 1);
}

Result<Primitive> make_in_format(PoolingSpec spec, Format format) {
  spec.src.format = format;
  spec.dst.format = format;
  return make_pooling(spec);
}

/// True when oneDNN has no kernel, or only the one for everything.
bool is_slow(const Result<Primitive>& primitive) {
  return !primitive || primitive->implementation.rfind("ref", 0) == 0;
}

Result<bool> plan_pooling(PlanBuilder& builder, const Node& node) {
  const Value& src = *node.input(0);
  const Value& dst = *node.output();
  const bool is_max = node.op_type() == "MaxPool" || node.op_type() == "GlobalMaxPool";
  ElementType type = src.desc().type;
  const bool is_byte = type == ElementType::UInt8 || type == ElementType::Int8;
  if (type != ElementType::Float32 && !(is_byte && is_max)) return false;
  if (node.outputs().size() > 1 && builder.is_read(*node.output(1))) return false;
  if (builder.home(src).type == ElementType::BFloat16) type = ElementType::BFloat16;
  HET_ASSIGN(const PoolAttributes pool, pool_attributes(node, src.desc().shape));

  PoolingSpec spec;
  spec.kernel = pool.kernel;
  spec.strides = pool.strides;
  spec.dilations = pool.dilations;
  spec.pads_begin = pool.pads_begin;
  for (size_t i = 0; i < pool.kernel.size(); ++i) {
    // With ceil_mode the last window may need more than the model's padding.
    const int64_t in = src.desc().shape[i + 2];
    const int64_t reach = (pool.output[i] - 1) * pool.strides[i] + pool.extent(i);
    const int64_t end = reach - in - pool.pads_begin[i];
    spec.pads_end.push_back(std::max(end, pool.pads_end[i]));
    if (end > pool.pads_end[i] && pool.count_include_pad && !is_max) return false;
    if (pool.pads_begin[i] >= pool.extent(i) || spec.pads_end[i] >= pool.extent(i)) return false;
  }
  spec.kind = is_max                   ? PoolingSpec::Kind::Max
              : pool.count_include_pad ? PoolingSpec::Kind::AverageIncludePadding
                                       : PoolingSpec::Kind::AverageExcludePadding;
  spec.src = {type, src.desc().shape, Format::Plain};
  spec.dst = {type, dst.desc().shape, Format::Plain};
  if (spec.src.shape.size() == 3) add_height(spec);
  Format format = builder.home(src).format;
  Result<Primitive> primitive = make_in_format(spec, format);
  if (is_slow(primitive)) {
    // Of bytes there is generated code for channels last only.
    Result<Primitive> last = make_in_format(spec, Format::ChannelsLast);
    if (!is_slow(last)) {
      primitive = std::move(last);
      format = Format::ChannelsLast;
    }
  }
  if (!primitive) return false;
  HET_ASSIGN(const TensorId in, builder.read(src, format, type));
  const TensorId out = builder.write(dst, {type, dst.desc().shape, format});
  builder.add_step(node,
                   make_primitive_kernel(std::move(*primitive),
                                         {{PrimitiveOperand::Source::Input, DNNL_ARG_SRC, 0, {}},
                                          {PrimitiveOperand::Source::Output, DNNL_ARG_DST, 0, {}}}),
                   {in}, {out});
  return true;
}

}  // namespace

HET_REGISTRATION void register_pooling(KernelRegistry& registry) {
  for (const char* type : {"MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool"}) {
    registry.add("", type, plan_pooling);
  }
}

}  // namespace het::cpu
