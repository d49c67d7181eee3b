#include "inference/ops/detection/het_prior_box.h"

#include <algorithm>
#include <cmath>

#include "inference/base/registration.h"
#include "inference/ops/op_checks.h"

namespace het {
namespace {

/// Aspect ratios and sizes closer than this are the same.
constexpr double kSameRatio = 1e-6;
constexpr float kMaxDensity = 64;
constexpr size_t kMaxPriors = 4096;

/// Attributes of PriorBox-8 (and PriorBox-1, which lacks the last one).
struct PriorBoxAttributes {
  std::vector<float> min_size, max_size, fixed_size, fixed_ratio, density;
  std::vector<double> ratios;  ///< without 1, flipped ones behind their own
  bool scale_all_sizes = true;
  bool max_before_ratios = true;  ///< min_max_aspect_ratios_order
};

Result<PriorBoxAttributes> read_attributes(const Attributes& attributes) {
  HET_TRY(check_attributes(attributes, {{"min_size", AttributeType::Floats},
                                        {"max_size", AttributeType::Floats},
                                        {"aspect_ratio", AttributeType::Floats},
                                        {"flip", AttributeType::Int},
                                        {"clip", AttributeType::Int},
                                        {"step", AttributeType::Float},
                                        {"offset", AttributeType::Float, true},
                                        {"variance", AttributeType::Floats},
                                        {"scale_all_sizes", AttributeType::Int},
                                        {"fixed_ratio", AttributeType::Floats},
                                        {"fixed_size", AttributeType::Floats},
                                        {"density", AttributeType::Floats},
                                        {"min_max_aspect_ratios_order", AttributeType::Int},
                                        {"output_type", AttributeType::String}}));
  PriorBoxAttributes prior{
      attributes.get_floats("min_size"),   attributes.get_floats("max_size"),
      attributes.get_floats("fixed_size"), attributes.get_floats("fixed_ratio"),
      attributes.get_floats("density"),    {}};
  prior.scale_all_sizes = attributes.get_int("scale_all_sizes", 1) != 0;
  prior.max_before_ratios = attributes.get_int("min_max_aspect_ratios_order", 1) != 0;
  const bool flip = attributes.get_int("flip", 0) != 0;
  for (const float ratio : attributes.get_floats("aspect_ratio")) {
    const auto value = static_cast<double>(ratio);
    if (!(value > 0) || !std::isfinite(value)) {
      return error(StatusCode::InvalidArgument, "aspect_ratio contains {}, but must be positive",
                   ratio);
    }
    const bool known = std::abs(value - 1) < kSameRatio ||
                       std::any_of(prior.ratios.begin(), prior.ratios.end(), [value](double other) {
                         return std::abs(value - other) < kSameRatio;
                       });
    if (known) continue;
    prior.ratios.push_back(value);
    if (flip) prior.ratios.push_back(1 / value);
  }
  for (const float ratio : prior.fixed_ratio) {
    if (ratio > 0 && std::isfinite(ratio)) continue;
    return error(StatusCode::InvalidArgument, "fixed_ratio contains {}, but must be positive",
                 ratio);
  }
  if (!prior.density.empty() && prior.density.size() < prior.fixed_size.size()) {
    return error(StatusCode::InvalidArgument,
                 "density has {} values, but fixed_size has {}: each size needs one",
                 prior.density.size(), prior.fixed_size.size());
  }
  for (const float density : prior.density) {
    if (density >= 1 && density <= kMaxDensity) continue;
    return error(StatusCode::InvalidArgument, "density contains {}, but must be from 1 to {}",
                 density, kMaxDensity);
  }
  for (const float size : prior.fixed_size) {
    if (size >= 0 && size <= 1e6f) continue;
    return error(StatusCode::InvalidArgument, "fixed_size contains {}, but must be from 0 to 1e6",
                 size);
  }
  return prior;
}

/// density x density boxes of every ratio inside the square of a fixed size. Caffe's arithmetic:
/// the size that centres the pattern and the shift between boxes are whole pixels.
void add_fixed_sizes(const PriorBoxAttributes& prior, std::vector<PriorShape>& shapes) {
  for (size_t s = 0; s < prior.fixed_size.size(); ++s) {
    const auto size = static_cast<double>(prior.fixed_size[s]);
    const double density = prior.density.empty() ? 1 : std::floor(prior.density[s]);
    const double shift = std::floor(size / density);
    const double first = shift / 2 - std::floor(std::floor(size) / 2);
    const auto add_pattern = [&](double half_width, double half_height) {
      for (double row = 0; row < density; ++row) {
        for (double column = 0; column < density; ++column) {
          shapes.push_back(
              {first + column * shift, first + row * shift, half_width, half_height, true});
        }
      }
    };
    const auto add_ratio = [&](double ratio) {
      add_pattern(size / 2 * std::sqrt(ratio), size / 2 / std::sqrt(ratio));
    };
    if (prior.fixed_ratio.empty()) {
      add_pattern(std::floor(size) / 2, std::floor(size) / 2);
      for (const double ratio : prior.ratios) add_ratio(ratio);
    } else {
      for (const float ratio : prior.fixed_ratio) add_ratio(static_cast<double>(ratio));
    }
  }
}

/// A square of every min_size, one between it and its max_size, and the aspect ratios. `scale`
/// multiplies the min_sizes.
void add_min_sizes(const PriorBoxAttributes& prior, double scale, std::vector<PriorShape>& shapes) {
  for (size_t s = 0; s < prior.min_size.size(); ++s) {
    const double size = static_cast<double>(prior.min_size[s]) * scale;
    const auto add_max = [&] {
      if (s >= prior.max_size.size() || !prior.scale_all_sizes) return;
      const double half = std::sqrt(size * static_cast<double>(prior.max_size[s])) / 2;
      shapes.push_back({0, 0, half, half, false});
    };
    shapes.push_back({0, 0, size / 2, size / 2, false});
    if (prior.max_before_ratios) add_max();
    if (prior.scale_all_sizes || s + 1 == prior.min_size.size()) {
      const double base =
          prior.scale_all_sizes ? size : static_cast<double>(prior.min_size[0]) * scale;
      for (const double ratio : prior.ratios) {
        shapes.push_back({0, 0, base / 2 * std::sqrt(ratio), base / 2 / std::sqrt(ratio), false});
      }
    }
    if (!prior.max_before_ratios) add_max();
  }
}

std::vector<PriorShape> shapes_of(const PriorBoxAttributes& prior, double scale) {
  std::vector<PriorShape> shapes;
  add_fixed_sizes(prior, shapes);
  add_min_sizes(prior, scale, shapes);
  return shapes;
}

Status infer_prior_box(InferContext& context) {
  HET_ASSIGN(const PriorBoxAttributes prior, read_attributes(context.attributes()));
  const std::vector<float> density = prior.density;
  size_t most = prior.min_size.size() * (2 + prior.ratios.size());
  for (size_t s = 0; s < prior.fixed_size.size(); ++s) {
    const auto d = static_cast<size_t>(density.empty() ? 1 : density[s]);
    most += d * d * std::max(prior.fixed_ratio.size(), prior.ratios.size() + 1);
  }
  if (most > kMaxPriors) {
    return error(StatusCode::InvalidArgument,
                 "the attributes give up to {} boxes per point, at most {} are supported", most,
                 kMaxPriors);
  }
  return infer_priors(context, static_cast<int64_t>(shapes_of(prior, 1).size()));
}

/// In double, rounded once. Order: row, column, fixed sizes, min sizes. A step of 0 puts the points
/// into the middle of equal cells; without scale_all_sizes (MXNet's way) sizes and step are parts
/// of the image's height and max_size is ignored. An absent variance is 0.1.
/// docs.openvino.ai, operation specifications PriorBox-1 and PriorBox-8; where they are silent
/// (fixed sizes, order, MXNet) Caffe's and MXNet's layers.
Status evaluate_prior_box(EvaluateContext& context) {
  const Attributes& attributes = context.attributes();
  HET_ASSIGN(const PriorBoxAttributes prior, read_attributes(attributes));
  HET_ASSIGN(PriorGrid grid, read_prior_grid(context));
  grid.clip = attributes.get_int("clip", 0) != 0;
  const auto rows = static_cast<double>(std::max<int64_t>(grid.height, 1));
  const auto columns = static_cast<double>(std::max<int64_t>(grid.width, 1));
  auto step = static_cast<double>(attributes.get_float("step", 0));
  if (!prior.scale_all_sizes) {
    step = step == -1 ? grid.image_height / rows : step * grid.image_height;
  }
  if (step == 0) {
    grid.step_x = grid.image_width / columns;
    grid.step_y = grid.image_height / rows;
  } else {
    grid.offset = static_cast<double>(attributes.get_float("offset", 0));
    grid.step_x = grid.step_y = step;
  }
  return write_priors(context, grid,
                      shapes_of(prior, prior.scale_all_sizes ? 1 : grid.image_height));
}

}  // namespace

HET_REGISTRATION void register_het_prior_box(OpRegistry& registry) {
  registry.add({"PriorBox", "het", 8, 2, 2, infer_prior_box, evaluate_prior_box});
}

}  // namespace het
