#include "inference/model/model_equal.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>
#include <string>
#include <type_traits>

#include "inference/model/source_path.h"

namespace het {
namespace {

/// Dimension names count where the dimension is unknown: a bound one needs none.
std::string dim_name(const ModelInput& input, size_t axis) {
  return axis < input.dim_names.size() && input.value->desc().shape[axis] == kUnknownDim
             ? input.dim_names[axis]
             : std::string();
}

std::string compare_tensors(const Tensor& a, const Tensor& b) {
  if (a.desc().type != b.desc().type || a.shape() != b.shape()) {
    return fmt::format("is {} and {}", to_string(a.desc()), to_string(b.desc()));
  }
  if (a.bytes() == b.bytes() && a.strides_bytes() == b.strides_bytes()) return {};
  const auto dense_a = a.is_dense() ? Result<Tensor>(a) : a.clone();
  const auto dense_b = b.is_dense() ? Result<Tensor>(b) : b.clone();
  if (!dense_a || !dense_b) return "cannot be read";
  const std::byte* const begin = dense_a->bytes();
  const std::byte* const end = begin + dense_a->size_bytes();
  const std::byte* const other = std::mismatch(begin, end, dense_b->bytes()).first;
  return other == end ? "" : fmt::format("has different content at byte {}", other - begin);
}

std::string compare_attributes(const Attribute& a, const Attribute& b) {
  if (a.index() != b.index()) return "is of different kinds";
  return std::visit(
      [&](const auto& x) -> std::string {
        using T = std::decay_t<decltype(x)>;
        const T& y = std::get<T>(b);
        if constexpr (std::is_same_v<T, Tensor>) {
          return compare_tensors(x, y);
        } else if constexpr (std::is_same_v<T, std::shared_ptr<Model>>) {
          const std::string difference = model_difference(*x, *y);
          return difference.empty() ? "" : ": " + difference;
        } else if constexpr (std::is_same_v<T, float>) {
          return std::memcmp(&x, &y, sizeof x) == 0 ? "" : fmt::format("is {} and {}", x, y);
        } else if constexpr (std::is_same_v<T, std::vector<float>>) {
          const bool same =
              x.size() == y.size() &&
              (x.empty() || std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0);
          return same ? "" : "has different numbers";
        } else if constexpr (std::is_same_v<T, int64_t> || std::is_same_v<T, std::string>) {
          return x == y ? "" : fmt::format("is '{}' and '{}'", x, y);
        } else {
          return x == y ? "" : "has different items";
        }
      },
      a);
}

std::string compare_values(const Value* a, const Value* b) {
  if ((a == nullptr) != (b == nullptr)) return "is omitted in one of them";
  if (a == nullptr) return {};
  if (a->name() != b->name()) return fmt::format("is '{}' and '{}'", a->name(), b->name());
  if (a->is_constant() != b->is_constant()) return "is constant in one of them";
  const std::string difference =
      a->is_constant() ? compare_tensors(a->constant(), b->constant()) : "";
  return difference.empty() ? "" : fmt::format("'{}' {}", a->name(), difference);
}

size_t present_inputs(const Node& node) {
  size_t count = node.inputs().size();
  while (count > 0 && node.inputs()[count - 1] == nullptr) --count;
  return count;
}

std::string compare_nodes(const Node& a, const Node& b) {
  if (a.name() != b.name()) return fmt::format("is '{}' and '{}'", a.name(), b.name());
  if (a.qualified_type() != b.qualified_type()) {
    return fmt::format("is a {} and a {}", a.qualified_type(), b.qualified_type());
  }
  if (a.unsupported_reason() != b.unsupported_reason()) {
    return fmt::format("is unsupported for '{}' and '{}'", a.unsupported_reason(),
                       b.unsupported_reason());
  }
  if (a.affinity() != b.affinity()) {
    return fmt::format("has affinity '{}' and '{}'", a.affinity(), b.affinity());
  }
  if (a.rt_info() != b.rt_info()) return "has different rt_info";
  if (a.original_names() != b.original_names()) return "has different original names";
  if (present_inputs(a) != present_inputs(b) || a.outputs().size() != b.outputs().size()) {
    return fmt::format("has {} and {} inputs, {} and {} outputs", present_inputs(a),
                       present_inputs(b), a.outputs().size(), b.outputs().size());
  }
  for (size_t i = 0; i < present_inputs(a); ++i) {
    const std::string difference = compare_values(a.inputs()[i], b.inputs()[i]);
    if (!difference.empty()) return fmt::format("input {} {}", i, difference);
  }
  for (size_t i = 0; i < a.outputs().size(); ++i) {
    const std::string difference = compare_values(a.outputs()[i], b.outputs()[i]);
    if (!difference.empty()) return fmt::format("output {} {}", i, difference);
  }
  if (a.attributes().size() != b.attributes().size()) {
    return fmt::format("has {} and {} attributes", a.attributes().size(), b.attributes().size());
  }
  for (const auto& [name, attribute] : a.attributes()) {
    const Attribute* other = b.attributes().find(name);
    if (other == nullptr) return fmt::format("has attribute '{}' in one of them", name);
    const std::string difference = compare_attributes(attribute, *other);
    if (!difference.empty()) return fmt::format("attribute '{}' {}", name, difference);
  }
  return {};
}

std::string compare_inputs(const ModelInput& a, const ModelInput& b) {
  if (a.value->name() != b.value->name()) return "has another name";
  if (a.value->desc() != b.value->desc()) {
    return fmt::format("is {} {} and {} {}", to_string(a.value->desc()),
                       to_string(a.value->desc().layout), to_string(b.value->desc()),
                       to_string(b.value->desc().layout));
  }
  if (a.preprocess != b.preprocess) return "is preprocessed differently";
  for (size_t axis = 0; axis < a.value->desc().shape.size(); ++axis) {
    if (dim_name(a, axis) != dim_name(b, axis)) {
      return fmt::format("dimension {} is named '{}' and '{}'", axis, dim_name(a, axis),
                         dim_name(b, axis));
    }
  }
  return {};
}

/// What is of the file, not where that is.
std::map<std::string, std::string> file_metadata(const Model& model) {
  std::map<std::string, std::string> metadata = model.metadata();
  metadata.erase(std::string(kSourcePathKey));
  return metadata;
}

}  // namespace

std::string model_difference(const Model& a, const Model& b) {
  if (a.name() != b.name()) return fmt::format("name '{}' and '{}'", a.name(), b.name());
  if (file_metadata(a) != file_metadata(b)) return "metadata";
  if (a.inputs().size() != b.inputs().size() || a.outputs().size() != b.outputs().size() ||
      a.nodes().size() != b.nodes().size()) {
    return fmt::format("{} and {} inputs, {} and {} outputs, {} and {} nodes", a.inputs().size(),
                       b.inputs().size(), a.outputs().size(), b.outputs().size(), a.nodes().size(),
                       b.nodes().size());
  }
  for (size_t i = 0; i < a.inputs().size(); ++i) {
    const std::string difference = compare_inputs(a.inputs()[i], b.inputs()[i]);
    if (!difference.empty())
      return fmt::format("input '{}' {}", a.inputs()[i].value->name(), difference);
  }
  for (size_t i = 0; i < a.nodes().size(); ++i) {
    const std::string difference = compare_nodes(*a.nodes()[i], *b.nodes()[i]);
    if (!difference.empty()) return fmt::format("node '{}' {}", a.nodes()[i]->name(), difference);
  }
  for (size_t i = 0; i < a.outputs().size(); ++i) {
    if (a.outputs()[i].name != b.outputs()[i].name) {
      return fmt::format("output {} '{}' and '{}'", i, a.outputs()[i].name, b.outputs()[i].name);
    }
    const std::string difference = compare_values(a.outputs()[i].value, b.outputs()[i].value);
    if (!difference.empty()) return fmt::format("output '{}' {}", a.outputs()[i].name, difference);
  }
  return {};
}

}  // namespace het
