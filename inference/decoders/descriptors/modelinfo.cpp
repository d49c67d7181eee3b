#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "inference/base/log.h"
#include "inference/decoders/descriptors/metadata_values.h"
#include "inference/decoders/descriptors/model_metadata.h"

namespace het {
namespace {

constexpr size_t kChannels = 3;

using Section = std::map<std::string, std::string>;

std::string_view without_blanks(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

/// Sections of an ini file in their order; lines that are none of it are left out.
std::vector<std::pair<std::string, Section>> parse_sections(std::string_view text) {
  std::vector<std::pair<std::string, Section>> sections;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = without_blanks(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.front() == '#' || line.front() == ';') continue;
    if (line.front() == '[' && line.back() == ']') {
      sections.emplace_back(line.substr(1, line.size() - 2), Section{});
    } else if (const size_t equals = line.find('=');
               equals != std::string_view::npos && !sections.empty()) {
      sections.back().second.emplace(without_blanks(line.substr(0, equals)),
                                     without_blanks(line.substr(equals + 1)));
    }
  }
  return sections;
}

std::string key_of(const Section& section, const std::string& key) {
  const auto found = section.find(key);
  return found == section.end() ? "" : found->second;
}

/// "low,high" for each channel, or one for all: what 0 and 255 become.
std::optional<PreprocessDesc> preparation_of(std::string_view ranges) {
  const std::vector<float> numbers = metadata_numbers(ranges);
  if (numbers.size() != 2 && numbers.size() != 2 * kChannels) return std::nullopt;
  PreprocessDesc desc;
  desc.color_order = ColorOrder::RGB;
  for (size_t c = 0; c < kChannels; ++c) {
    const size_t place = numbers.size() == 2 ? 0 : 2 * c;
    const float low = numbers[place];
    const float high = numbers[place + 1];
    if (!(low < high)) return std::nullopt;
    desc.std[c] = 255.0f / (high - low);
    desc.mean[c] = -low * desc.std[c];
  }
  return desc;
}

/// Readers by the tensor ids that GStreamer registers.
std::string converter_of(std::string_view id) {
  constexpr std::pair<std::string_view, std::string_view> kReaders[] = {
      {"yolo-v8-segmentation-out", "yolo_v8_seg"},
      {"yolo-v8-out", "yolo_v8"},
      {"classification-generic-", "label"},
  };
  for (const auto& [begin, converter] : kReaders) {
    if (id.starts_with(begin)) return std::string(converter);
  }
  return "";
}

}  // namespace

ModelMetadata read_modelinfo(const std::string& text, const std::string& origin) {
  ModelMetadata metadata;
  for (const auto& [name, section] : parse_sections(text)) {
    if (name == "modelinfo") {
      metadata.source = origin;
      metadata.group_id = key_of(section, "group-id");
      continue;
    }
    const std::string direction = key_of(section, "dir");
    const std::string ranges = key_of(section, "ranges");
    if (direction == "input" && !ranges.empty() && !metadata.input) {
      const auto desc = preparation_of(ranges);
      if (!desc) {
        log(LogLevel::Warning,
            "{}: ranges of '{}' are '{}', \"low,high\" or one such pair for each of 3 channels was "
            "expected; the key is left out",
            origin, name, ranges.substr(0, 80));
        continue;
      }
      metadata.input.emplace();
      metadata.input->layer_name = name;
      metadata.input->color_given = true;
      metadata.input->preprocess = *desc;
    }
    const std::string id = key_of(section, "id");
    if (direction == "output" && metadata.output.converter.empty())
      metadata.output.converter = converter_of(id);
    if (direction != "input" && !id.empty())
      metadata.tensor_ids[name] = {id, key_of(section, "dims-order") == "col-major"};
  }
  const bool softmaxed = text.find("-softmaxed-out") != std::string::npos;
  if (metadata.output.converter == "label" && !softmaxed) metadata.output.method = "softmax";
  if (metadata.source.empty()) return {};
  return metadata;
}

}  // namespace het
