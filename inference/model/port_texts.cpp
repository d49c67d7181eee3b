#include "inference/model/port_texts.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <numeric>

namespace het {
namespace {

std::string_view trimmed_text(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

/// The parts between ',' or ';'.
std::vector<std::string_view> split_list(std::string_view text) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t end = text.find_first_of(",;");
    parts.push_back(trimmed_text(text.substr(0, end)));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return parts;
}

/// The names of all unknown dimensions, for errors.
std::string dimension_names(const Model& model) {
  std::string text;
  for (const ModelInput& input : model.inputs()) {
    for (const std::string& name : input.dim_names) {
      if (!name.empty()) text += fmt::format("{}'{}'", text.empty() ? "" : ", ", name);
    }
  }
  return text.empty() ? "none" : text;
}

Status reshape_by_names(Model& model, std::string_view text) {
  std::map<std::string, Shape> shapes;
  for (const std::string_view part : split_list(text)) {
    const size_t equals = part.find('=');
    const std::string_view digits = part.substr(std::min(part.size(), equals + 1));
    int64_t size = 0;
    const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), size);
    if (code != std::errc() || end != digits.data() + digits.size() || size < 1) {
      return error(StatusCode::InvalidArgument,
                   "'{}' in '{}' is not of the form NAME=SIZE with a size of at least 1", part,
                   text);
    }
    bool found = false;
    for (const ModelInput& input : model.inputs()) {
      for (size_t axis = 0; axis < input.dim_names.size(); ++axis) {
        if (input.dim_names[axis] != trimmed_text(part.substr(0, equals))) continue;
        const auto shape = shapes.try_emplace(input.value->name(), input.value->desc().shape).first;
        shape->second[axis] = size;
        found = true;
      }
    }
    if (!found) {
      return error(StatusCode::NotFound,
                   "no input of model '{}' has a dimension named '{}'; the named ones are {}",
                   model.name(), part.substr(0, equals), dimension_names(model));
    }
  }
  return model.reshape(shapes);
}

template <class Find>
Result<std::vector<size_t>> named_ports(std::string_view name, size_t count, const Find& find) {
  std::vector<size_t> indices(count);
  std::iota(indices.begin(), indices.end(), size_t{0});
  if (name.empty()) return indices;
  HET_ASSIGN(const size_t index, find());
  return std::vector<size_t>{index};
}

}  // namespace

Result<PortTexts> parse_bracketed(std::string_view text) {
  PortTexts entries;
  const std::string_view original = text;
  text = trimmed_text(text);
  while (!text.empty()) {
    const size_t open = text.find('[');
    const size_t close = text.find(']', open == std::string_view::npos ? 0 : open);
    if (open == std::string_view::npos || close == std::string_view::npos) {
      return error(StatusCode::InvalidArgument,
                   "'{}' is not of the form [...] or name[...],name[...]", original);
    }
    entries.emplace_back(trimmed_text(text.substr(0, open)),
                         text.substr(open + 1, close - open - 1));
    text = trimmed_text(text.substr(close + 1));
    if (!text.empty() && (text.front() == ',' || text.front() == ';')) {
      text = trimmed_text(text.substr(1));
    }
  }
  return entries;
}

Result<PortTexts> parse_colon_list(std::string_view text) {
  PortTexts entries;
  for (const std::string_view part : split_list(text)) {
    // Names of values may hold colons themselves ("output:0:f16").
    const size_t colon = part.rfind(':');
    const bool is_named = colon != std::string_view::npos;
    const std::string_view value = is_named ? part.substr(colon + 1) : part;
    if (value.empty() || (is_named && colon == 0)) {
      return error(StatusCode::InvalidArgument,
                   "'{}' in '{}' is not of the form VALUE or NAME:VALUE", part, text);
    }
    entries.emplace_back(is_named ? part.substr(0, colon) : "", value);
  }
  return entries;
}

Result<std::vector<float>> parse_numbers(std::string_view text) {
  std::vector<float> numbers;
  for (const std::string_view part : split_list(text)) {
    const std::string word(part);
    char* end = nullptr;
    const float number = std::strtof(word.c_str(), &end);
    if (word.empty() || *end != '\0' || !std::isfinite(number)) {
      return error(StatusCode::InvalidArgument, "'{}' in '{}' is not a number", part, text);
    }
    numbers.push_back(number);
  }
  return numbers;
}

Result<std::vector<size_t>> named_inputs(const Model& model, std::string_view name) {
  return named_ports(name, model.inputs().size(), [&] { return find_input(model, name); });
}

Result<std::vector<size_t>> named_outputs(const Model& model, std::string_view name) {
  return named_ports(name, model.outputs().size(), [&] { return find_output(model, name); });
}

Status reshape(Model& model, std::string_view text) {
  if (text.find('[') == std::string_view::npos && text.find('=') != std::string_view::npos) {
    return reshape_by_names(model, text);
  }
  // "1,3,224,224" is a shape as well.
  PortTexts entries{{"", std::string(text)}};
  if (text.find('[') != std::string_view::npos) {
    HET_ASSIGN(entries, parse_bracketed(text));
  }
  std::map<std::string, Shape> shapes;
  for (const auto& [name, dims] : entries) {
    HET_ASSIGN(Shape shape, parse_shape(dims));
    if (name.empty() && model.inputs().size() != 1) {
      return error(StatusCode::InvalidArgument,
                   "model '{}' has {} inputs: say which one gets shape {}, as name[...]",
                   model.name(), model.inputs().size(), to_string(shape));
    }
    HET_ASSIGN(const std::vector<size_t> inputs, named_inputs(model, name));
    shapes[model.inputs()[inputs[0]].value->name()] = std::move(shape);
  }
  return model.reshape(shapes);
}

Status set_batch(Model& model, int64_t batch, std::string_view layouts) {
  PortTexts entries{{"", std::string(layouts.empty() ? "N..." : layouts)}};
  if (layouts.find('[') != std::string_view::npos) {
    HET_ASSIGN(entries, parse_bracketed(layouts));
  }
  std::map<std::string, Shape> shapes;
  for (const auto& [name, layout] : entries) {
    const size_t arrow = layout.find("->");
    const std::string current = arrow == std::string::npos ? layout : layout.substr(arrow + 2);
    const size_t axis = current.find('N');
    if (axis == std::string::npos) continue;
    HET_ASSIGN(const std::vector<size_t> inputs, named_inputs(model, name));
    for (const size_t index : inputs) {
      const Value& value = *model.inputs()[index].value;
      Shape shape = value.desc().shape;
      if (axis >= shape.size()) continue;
      shape[axis] = batch;
      shapes[value.name()] = std::move(shape);
    }
  }
  if (shapes.empty()) {
    return error(StatusCode::InvalidArgument,
                 "layout '{}' has no N for batch {}, or no input of model '{}' has that dimension",
                 layouts, batch, model.name());
  }
  return model.reshape(shapes);
}

}  // namespace het
