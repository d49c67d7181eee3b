#include "devices/gpu/plan/launches.h"
#include "devices/gpu/plan/strided_space.h"
#include "devices/gpu/products/key_selection.h"
#include "devices/gpu/products/rows.h"
#include "inference/base/registration.h"

namespace het::gpu {
namespace {

std::string refuse_top_k(const Node& node) {
  const ElementType type = node.input(0)->desc().type;
  if (type == ElementType::Float32) return {};
  if (is_real(type) || c_type(type).empty()) {
    return fmt::format("TopK of {} has no GPU kernel", to_string(type));
  }
  return {};
}

/// Values of 64 bits need keys of their own beside those of positions.
KeyWidth key_width(ElementType type) {
  const bool wide = type == ElementType::Int64 || type == ElementType::UInt64;
  return wide ? KeyWidth::Two : KeyWidth::One;
}

ProgramText text_of(const PlanBuilder& builder, ElementType type) {
  ProgramText text;
  text.file = "top_k";
  if (type == ElementType::Float32) {
    text.options = fmt::format("-DVALUE=float {}", storage_option(builder.options().stored_type));
  } else {
    const std::string_view name = c_type(type);
    text.options =
        fmt::format("-DTYPE={0} -DVALUE={0}{1}{2}", name, name.front() == 'u' ? " -DUNSIGNED" : "",
                    key_width(type) == KeyWidth::Two ? " -DWIDE_KEYS" : "");
  }
  return text;
}

Status plan_top_k(PlanBuilder& builder, const Node& node) {
  const Value& x = *node.input(0);
  const Shape& shape = x.desc().shape;
  HET_ASSIGN(const int64_t axis, normalize_axis(node.attributes().get_int("axis", -1),
                                                static_cast<int64_t>(shape.size())));
  const Format format = builder.home(x).format;
  const RowSpace space = *row_space(shape, format, {axis});
  const int64_t rows = space.outer * space.inner;
  const int64_t k = node.output()->desc().shape[static_cast<size_t>(axis)];
  HET_ASSIGN(const TensorId src, builder.read(x, format));
  const ProgramText text = text_of(builder, x.desc().type);
  const KeyWidth width = key_width(x.desc().type);
  TensorId keys = builder.temporary(
      {ElementType::UInt64, {rows, space.length * static_cast<int64_t>(width)}, Format::Plain});
  Launch launch;
  launch.text = text;
  launch.kernel = "make_keys";
  launch.args = {Read{src},           Write{keys},
                 as_int(space.outer), as_int(space.length),
                 as_int(space.inner), cl_int{node.attributes().get_int("largest", 1) != 0}};
  set_place_range(builder, launch, space.length, rows);
  HET_TRY(builder.add_step(node, std::move(launch)));
  HET_ASSIGN(keys, select_keys(builder, node, keys, rows, space.length, k, width));
  TensorId outputs[2] = {kNoTensor, kNoTensor};
  for (size_t i = 0; i < std::min<size_t>(2, node.outputs().size()); ++i) {
    if (node.outputs()[i] != nullptr) outputs[i] = builder.write(*node.outputs()[i], format);
  }
  Launch last;
  last.text = text;
  last.kernel = "read_keys";
  last.args = {Read{keys},          Read{src},
               Write{outputs[0]},   Write{outputs[1]},
               as_int(space.outer), as_int(space.length),
               as_int(space.inner), as_int(k)};
  set_place_range(builder, last, k, rows);
  return builder.add_step(node, std::move(last));
}

}  // namespace

HET_REGISTRATION void register_top_k(KernelRegistry& registry) {
  registry.add("", "TopK", {refuse_top_k, plan_top_k});
}

}  // namespace het::gpu
