#include "devices/gpu/plan/launches.h"
#include "devices/gpu/products/rows.h"
#include "devices/gpu/programs/kernel_sources.h"
#include "inference/base/registration.h"
#include "inference/ops/op_checks.h"

namespace het::gpu {
namespace {

/// As kernels/values/normalise.cl counts.
enum class FactorMode : cl_int {
  RootOfMean = 0,
  DeviationPlus = 1,
  RootOfSumPlus = 2,
  RootOfLargerSum = 3,
  RootOfSum = 4,
  SumOfMagnitudes = 5,
};

struct Normalisation {
  Format format = Format::Plain;
  RowSpace space;
  bool centred = true;
  FactorMode mode = FactorMode::RootOfMean;
  float epsilon = 0.0f;
  const Value* scale = nullptr;
  const Value* bias = nullptr;
  // Where a row's parameters lie, where rows are neighbours in memory.
  int64_t cycle = 1;       ///< rows after which the parameters are the same again
  int64_t first_step = 0;  ///< parameters from row to row
  int64_t share = 1;       ///< neighbours with one parameter
};

bool is_row_normalisation(const Node& node) {
  return node.op_type() == "LayerNormalization" || node.op_type() == "RMSNormalization";
}

bool is_group_normalisation(const Node& node) {
  return node.op_type() == "GroupNormalization" || node.op_type() == "InstanceNormalization";
}

/// LayerNormalization and RMSNormalization: one parameter per element of a row, or one for all.
Result<Normalisation> row_normalisation(const Node& node) {
  const Shape& shape = node.input(0)->desc().shape;
  HET_ASSIGN(const int64_t axis, normalize_axis(node.attributes().get_int("axis", -1),
                                                static_cast<int64_t>(shape.size())));
  Normalisation made;
  const std::span<const int64_t> dims(shape);
  made.space = {element_count(dims.first(static_cast<size_t>(axis))),
                element_count(dims.subspan(static_cast<size_t>(axis))), 1};
  made.centred = node.op_type() == "LayerNormalization";
  made.epsilon = node.attributes().get_float("epsilon", 1e-5f);
  made.scale = node.input(1);
  made.bias = node.input(2);
  return made;
}

/// GroupNormalization and InstanceNormalization: a parameter per channel.
Normalisation group_normalisation(const Node& node, Format home) {
  const Picture picture = picture_of(node.input(0)->desc().shape);
  const bool instance = node.op_type() == "InstanceNormalization";
  const int64_t groups = instance ? picture.c : node.attributes().get_int("num_groups", 1);
  Normalisation made;
  made.epsilon = node.attributes().get_float("epsilon", 1e-5f);
  made.scale = node.input(1);
  made.bias = node.input(2);
  if (home == Format::ChannelsLast && groups == picture.c) {
    made.format = home;
    made.space = {picture.n, picture.s, picture.c};
    return made;
  }
  made.space = {picture.n * groups, picture.c / groups * picture.s, 1};
  made.cycle = groups;
  made.first_step = picture.c / groups;
  made.share = picture.s;
  return made;
}

/// Operators without parameters, along given axes.
Result<Normalisation> plain_normalisation(const Node& node, Format home) {
  const Shape& shape = node.input(0)->desc().shape;
  const Attributes& attributes = node.attributes();
  Normalisation made;
  std::vector<int64_t> axes;
  if (node.op_type() == "MeanVarianceNormalization") {
    axes = attributes.get_ints("axes", {0, 2, 3});
    made.mode = FactorMode::DeviationPlus;
    made.epsilon = 1e-9f;
  } else if (node.op_type() == "LpNormalization") {
    axes = {attributes.get_int("axis", -1)};
    made.centred = false;
    made.mode =
        attributes.get_int("p", 2) == 2 ? FactorMode::RootOfSum : FactorMode::SumOfMagnitudes;
  } else {
    if (!node.input(1)->is_constant()) {
      return error(StatusCode::NotSupported, "the axes are computed at run time");
    }
    HET_ASSIGN(axes, to_int64_vector(node.input(1)->constant()));
    made.centred = false;
    made.mode = attributes.get_string("eps_mode", "") == "add" ? FactorMode::RootOfSumPlus
                                                               : FactorMode::RootOfLargerSum;
    made.epsilon = attributes.get_float("eps", 0.0f);
  }
  HET_ASSIGN(axes, normalize_axes(axes, static_cast<int64_t>(shape.size())));
  const std::optional<RowFormat> rows = row_format(shape, home, axes);
  if (!rows) {
    return error(StatusCode::NotSupported,
                 "the dimensions that are normalised together lie apart in memory");
  }
  made.format = rows->format;
  made.space = rows->space;
  return made;
}

Result<Normalisation> normalisation_of(const Node& node, Format home) {
  if (is_row_normalisation(node)) return row_normalisation(node);
  if (is_group_normalisation(node)) return group_normalisation(node, home);
  return plain_normalisation(node, home);
}

/// One parameter for each element of a row, or one for all.
std::string refusal_of_parameters(const Value* value, std::string_view name, const Shape& shape,
                                  int64_t length) {
  if (value == nullptr) return {};
  const Shape& own = value->desc().shape;
  const int64_t count = element_count(own);
  if (value->desc().type != ElementType::Float32) {
    return fmt::format("{} is {}", name, to_string(value->desc().type));
  }
  // The trailing dimensions of the row, which may have ones in front.
  bool fits = count == 1 || count == length;
  int64_t covered = 1;
  for (size_t i = 0; fits && count > 1 && i < own.size(); ++i) {
    const int64_t dim = own[own.size() - 1 - i];
    fits = dim == shape[shape.size() - 1 - i] || covered == count;
    covered *= dim;
  }
  if (fits) return {};
  return fmt::format("{} of shape {} has not one value for each element of a row", name,
                     het::to_string(own));
}

std::string refuse_normalise(const Node& node) {
  const TensorDesc& desc = node.input(0)->desc();
  if (desc.type != ElementType::Float32) {
    return fmt::format("{} of {} has no GPU kernel, only that of float32", node.op_type(),
                       to_string(desc.type));
  }
  if (node.outputs().size() > 1) return "mean and deviation are outputs";
  const Result<Normalisation> made = normalisation_of(node, Format::Plain);
  if (!made) return made.error().message();
  if (!is_row_normalisation(node)) return {};
  std::string reason =
      refusal_of_parameters(made->scale, "the scale", desc.shape, made->space.length);
  if (!reason.empty()) return reason;
  return refusal_of_parameters(made->bias, "the bias", desc.shape, made->space.length);
}

Status plan_normalise(PlanBuilder& builder, const Node& node) {
  const Value& x = *node.input(0);
  HET_ASSIGN(const Normalisation made, normalisation_of(node, builder.home(x).format));
  const ElementType type = builder.options().stored_type;
  HET_ASSIGN(const TensorId src, builder.read(x, made.format));
  TensorId scale = kNoTensor;
  TensorId bias = kNoTensor;
  const auto step_of = [](const Value* value) {
    return cl_int{value != nullptr && element_count(value->desc().shape) > 1 ? 1 : 0};
  };
  if (made.scale != nullptr) {
    HET_ASSIGN(scale, builder.read(*made.scale, Format::Plain, type));
  }
  if (made.bias != nullptr) {
    HET_ASSIGN(bias, builder.read(*made.bias, Format::Plain, type));
  }
  const TensorId dst = builder.write(*node.output(), made.format);
  const RowSpace& space = made.space;
  Launch launch;
  launch.text.file = "normalise";
  launch.text.generated = std::string(*kernel_source("rows"));
  launch.text.options = lane_options(builder);
  launch.args = {Read{src},  Read{scale},         Read{bias},
                 Write{dst}, as_int(space.outer), as_int(space.length)};
  if (space.inner > 1) launch.args.emplace_back(as_int(space.inner));
  launch.args.emplace_back(cl_int{made.centred});
  launch.args.emplace_back(static_cast<cl_int>(made.mode));
  launch.args.emplace_back(cl_float{made.epsilon});
  if (space.inner > 1) {
    launch.kernel = "normalise_columns";
    set_column_range(builder, launch, space.inner, space.outer);
  } else {
    launch.args.emplace_back(as_int(made.cycle));
    launch.args.emplace_back(as_int(made.first_step));
    launch.args.emplace_back(as_int(made.share));
    launch.args.emplace_back(step_of(made.scale));
    launch.args.emplace_back(step_of(made.bias));
    launch.kernel = "normalise_rows";
    set_row_range(builder, launch, space.outer);
  }
  return builder.add_step(node, std::move(launch));
}

}  // namespace

HET_REGISTRATION void register_normalise(KernelRegistry& registry) {
  for (const char* type : {"GroupNormalization", "InstanceNormalization", "LayerNormalization",
                           "LpNormalization", "MeanVarianceNormalization", "RMSNormalization"}) {
    registry.add("", type, {refuse_normalise, plan_normalise});
  }
  registry.add("het", "NormalizeL2", {refuse_normalise, plan_normalise});
}

}  // namespace het::gpu
