#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "inference/base/log.h"
#include "inference/decoders/descriptors/metadata_values.h"
#include "inference/decoders/descriptors/model_metadata.h"
#include "inference/decoders/descriptors/modelinfo_sections.h"
#include "inference/decoders/exchange/tensor_ids.h"

namespace het {
namespace {

constexpr size_t kColors = 3;
/// Of the version of the format that is read here.
constexpr int kModelinfoMajor = 1;
constexpr int kModelinfoMinor = 0;

/// "1.0"; nothing where the text is no such version.
std::optional<std::pair<int, int>> version_of(std::string_view text) {
  std::pair<int, int> version;
  const char* const end = text.data() + text.size();
  const auto major = std::from_chars(text.data(), end, version.first);
  if (major.ec != std::errc() || major.ptr == end || *major.ptr != '.') return std::nullopt;
  const auto minor = std::from_chars(major.ptr + 1, end, version.second);
  if (minor.ec != std::errc() || minor.ptr != end) return std::nullopt;
  return version;
}

Status expect_version(const std::vector<KeyFileSection>& sections, const std::string& origin) {
  const auto own = std::ranges::find(sections, "modelinfo", &KeyFileSection::name);
  const std::string text = own == sections.end() ? "" : own->value_of("version");
  const auto version = version_of(text);
  if (!version)
    return error(
        StatusCode::NotSupported,
        "it has {}, a section [modelinfo] with \"version=1.0\" was expected",
        own == sections.end() ? "no section [modelinfo]" : "version '" + text.substr(0, 80) + "'");
  if (version->first != kModelinfoMajor)
    return error(StatusCode::NotSupported, "its version is {}, versions {}.x are read here", text,
                 kModelinfoMajor);
  if (version->second > kModelinfoMinor)
    log(LogLevel::Warning, "{}: its version is {}; what came after {}.{} is not read", origin, text,
        kModelinfoMajor, kModelinfoMinor);
  return {};
}

/// Empty, with a warning, where the generator of such files left a place for somebody to fill.
std::string filled_value(const KeyFileSection& section, const std::string& key,
                         const std::string& origin) {
  std::string value = section.value_of(key);
  if (!value.starts_with("PLACEHOLDER")) return value;
  log(LogLevel::Warning, "{}: {} of '{}' is '{}', which nobody has filled in; the key is left out",
      origin, key, section.name, value.substr(0, 80));
  return "";
}

/// Channels of a picture of this shape: 1 or 3; 0 where it is none.
size_t picture_channels(const Shape& shape) {
  if (shape.size() != 3 && shape.size() != 4) return 0;
  for (const int64_t dim : {shape[shape.size() - 3], shape.back()})
    if (dim == 1 || dim == 3) return static_cast<size_t>(dim);
  return 0;
}

/// "low,high" for each channel, with ';' between them, or one for all: what 0 and 255 become.
std::optional<PreprocessDesc> preparation_of(std::string_view ranges, size_t channels) {
  std::vector<std::pair<float, float>> pairs;
  for (bool more = true; more && pairs.size() <= kColors;) {
    const size_t end = ranges.find(';');
    const std::vector<float> numbers = metadata_numbers(ranges.substr(0, end));
    if (numbers.size() != 2 || !(numbers[0] < numbers[1])) return std::nullopt;
    pairs.emplace_back(numbers[0], numbers[1]);
    more = end != std::string_view::npos;
    if (more) ranges.remove_prefix(end + 1);
  }
  if (pairs.size() != 1 && pairs.size() != channels) return std::nullopt;
  PreprocessDesc desc;
  desc.color_order = ColorOrder::RGB;
  for (size_t c = 0; c < kColors; ++c) {
    const auto& [low, high] = pairs[pairs.size() == 1 ? 0 : c];
    desc.std[c] = 255.0f / (high - low);
    desc.mean[c] = -low * desc.std[c];
  }
  return desc;
}

/// Keys of ours, which GStreamer passes over: what else a model's pictures need.
void read_own_keys(const KeyFileSection& section, const std::string& origin,
                   ModelMetadata& metadata) {
  for (const char* key : {"resize_type", "pad_value", "reverse_input_channels"}) {
    const std::string value = section.value_of(key);
    const bool is_order = std::string_view(key) == "reverse_input_channels";
    if (value.empty() || (is_order && !metadata.input->color_given)) continue;
    const Status status = override_preparation({{key, value}}, *metadata.input);
    if (!status.ok())
      log(LogLevel::Warning, "{}: '{}': {}; the key is left out", origin, section.name,
          status.message());
    else if (std::string_view(key) == "resize_type")
      metadata.is_resize_open = false;
  }
}

void read_picture(const KeyFileSection& section, const DescribedTensor& input,
                  const std::string& origin, ModelMetadata& metadata) {
  const std::string ranges = filled_value(section, "ranges", origin);
  if (ranges.empty()) return;
  const size_t channels = picture_channels(input.desc.shape);
  const auto desc = channels == 0 ? std::nullopt : preparation_of(ranges, channels);
  if (!desc) {
    log(LogLevel::Warning,
        "{}: ranges of '{}' {} are '{}', \"low,high\" for all channels of a picture, or \";\" "
        "between those of each, was expected; the key is left out",
        origin, section.name, to_string(input.desc), ranges.substr(0, 80));
    return;
  }
  metadata.input.emplace();
  metadata.input->layer_name = input.name;
  metadata.input->color_given = channels == kColors;
  metadata.input->preprocess = *desc;
  metadata.is_resize_open = true;
  read_own_keys(section, origin, metadata);
}

std::vector<DescribedTensor> inputs_of(const Model& model) {
  std::vector<DescribedTensor> tensors;
  for (const ModelInput& input : model.inputs())
    tensors.push_back({input.value->name(), input.value->desc()});
  return tensors;
}

std::vector<DescribedTensor> outputs_of(const Model& model) {
  std::vector<DescribedTensor> tensors;
  for (const ModelOutput& output : model.outputs()) {
    const bool is_declared = output.declared.type != ElementType::Undefined;
    tensors.push_back({output.name, is_declared ? output.declared : output.value->desc()});
  }
  return tensors;
}

}  // namespace

Result<ModelMetadata> read_modelinfo(const std::string& text, const std::string& origin,
                                     const Model& model) {
  HET_ASSIGN(const std::vector<KeyFileSection> sections, parse_key_file(text));
  HET_TRY(expect_version(sections, origin));
  ModelMetadata metadata;
  metadata.source = origin;
  const auto own = std::ranges::find(sections, "modelinfo", &KeyFileSection::name);
  metadata.group_id = filled_value(*own, "group-id", origin);
  const std::vector<DescribedTensor> inputs = inputs_of(model);
  const auto of_inputs = match_sections(sections, "input", inputs, origin);
  for (size_t i = 0; i < inputs.size() && !metadata.input; ++i)
    if (of_inputs[i] != nullptr) read_picture(*of_inputs[i], inputs[i], origin, metadata);
  const std::vector<DescribedTensor> outputs = outputs_of(model);
  const auto of_outputs = match_sections(sections, "output", outputs, origin);
  std::vector<std::pair<std::string, std::string>> ids;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const KeyFileSection* const section = of_outputs[i];
    const std::string id = section == nullptr ? "" : filled_value(*section, "id", origin);
    ids.emplace_back(outputs[i].name, id);
    if (!id.empty())
      metadata.tensor_ids[outputs[i].name] = {id, section->value_of("dims-order") == "col-major"};
    if (id.ends_with("-normalized"))
      log(LogLevel::Warning,
          "{}: the id of '{}' is '{}'; boxes of YOLO in 0..1 are read by no converter, those in "
          "pixels are",
          origin, section->name, id);
  }
  metadata.output = reader_of_tensors(metadata.group_id, ids);
  metadata.is_reader_by_ids = !metadata.output.converter.empty();
  return metadata;
}

}  // namespace het
