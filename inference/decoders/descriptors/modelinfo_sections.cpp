#include "inference/decoders/descriptors/modelinfo_sections.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "inference/base/log.h"

namespace het {
namespace {

/// "1,3,-1", negative ones are unknown; nothing where the text is no such list.
std::optional<Shape> dims_of(std::string_view text) {
  Shape shape;
  while (!text.empty()) {
    const size_t end = std::min(text.find(','), text.size());
    std::string_view number = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    while (!number.empty() && number.front() == ' ') number.remove_prefix(1);
    while (!number.empty() && number.back() == ' ') number.remove_suffix(1);
    int64_t dim = 0;
    const auto [rest, failure] = std::from_chars(number.data(), number.data() + number.size(), dim);
    if (failure != std::errc() || rest != number.data() + number.size()) return std::nullopt;
    shape.push_back(dim < 0 ? kUnknownDim : dim);
  }
  return shape;
}

bool may_be_equal(const Shape& a, const Shape& b) {
  return std::ranges::equal(
      a, b, [](int64_t x, int64_t y) { return x == y || x == kUnknownDim || y == kUnknownDim; });
}

/// Whether the section's dims leave room for the tensor's; true where it has none.
bool dims_allow(const KeyFileSection& section, const Shape& shape) {
  if (!section.values.contains("dims")) return true;
  const std::optional<Shape> dims = dims_of(section.value_of("dims"));
  return dims && may_be_equal(*dims, shape);
}

bool has_direction(const KeyFileSection& section, std::string_view direction) {
  return !section.values.contains("dir") || section.value_of("dir") == direction;
}

}  // namespace

std::vector<const KeyFileSection*> match_sections(const std::vector<KeyFileSection>& sections,
                                                  std::string_view direction,
                                                  const std::vector<DescribedTensor>& tensors,
                                                  std::string_view origin) {
  std::vector<const KeyFileSection*> matched(tensors.size(), nullptr);
  std::vector<const KeyFileSection*> left;
  for (const KeyFileSection& section : sections) {
    if (section.name == "modelinfo" || !has_direction(section, direction)) continue;
    const auto same = std::ranges::find(tensors, section.name, &DescribedTensor::name);
    if (same == tensors.end()) {
      // A section without a direction may be one of the others'.
      if (section.values.contains("dir")) left.push_back(&section);
    } else if (dims_allow(section, same->desc.shape)) {
      matched[static_cast<size_t>(same - tensors.begin())] = &section;
    } else {
      log(LogLevel::Warning, "{}: dims of '{}' are '{}', but the model's {} is {}; it is left out",
          origin, section.name, section.value_of("dims").substr(0, 80), direction,
          to_string(same->desc));
    }
  }
  for (size_t i = 0; i < tensors.size(); ++i) {
    const TensorDesc& desc = tensors[i].desc;
    const auto looks_so = [&](const KeyFileSection* section) {
      return section->values.contains("dims") && dims_allow(*section, desc.shape) &&
             section->value_of("type") == to_string(desc.type);
    };
    const auto alike = matched[i] == nullptr ? std::ranges::find_if(left, looks_so) : left.end();
    if (alike == left.end()) continue;
    matched[i] = *alike;
    left.erase(alike);
  }
  for (const KeyFileSection* section : left)
    log(LogLevel::Warning,
        "{}: the model has no {} '{}', and none of its type and dims that is not described yet; "
        "the section is left out",
        origin, direction, section->name);
  return matched;
}

}  // namespace het
