#include "inference/model_preparation.h"

#include "inference/model/port_texts.h"
#include "inference/passes/compress_weights.h"
#include "inference/passes/convert_ports.h"
#include "inference/passes/fold_preprocess.h"

namespace het {
namespace {

std::vector<std::string> listed(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    const size_t end = text.find_first_of(",;");
    if (end != 0) names.emplace_back(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return names;
}

Status apply_layouts(std::string_view layouts, Model& model) {
  PortTexts entries{{"", std::string(layouts)}};
  if (layouts.find('[') != std::string_view::npos) {
    HET_ASSIGN(entries, parse_bracketed(layouts));
  }
  for (const auto& [name, layout] : entries) {
    HET_ASSIGN(const std::vector<size_t> inputs, named_inputs(model, name));
    for (const size_t index : inputs) {
      const size_t rank = model.inputs()[index].value->desc().shape.size();
      // One layout for all inputs means those that have as many dimensions.
      const size_t letters = std::string_view(layout).substr(0, layout.find("->")).size();
      if (name.empty() && inputs.size() > 1 && letters != rank) continue;
      HET_TRY(set_input_layout(model, index, layout));
    }
  }
  return {};
}

/// Mean and scale by input; an entry without a name is for the only input or the only picture.
Status apply_normalisation(const ModelPreparation& preparation, Model& model) {
  std::vector<std::vector<float>> means(model.inputs().size());
  std::vector<std::vector<float>> scales(model.inputs().size());
  const auto collect = [&](std::string_view text,
                           std::vector<std::vector<float>>& numbers) -> Status {
    PortTexts entries{{"", std::string(text)}};
    if (text.find('[') != std::string_view::npos) {
      HET_ASSIGN(entries, parse_bracketed(text));
    }
    for (const auto& [name, list] : entries) {
      HET_ASSIGN(const std::vector<float> parsed, parse_numbers(list));
      HET_ASSIGN(const std::vector<size_t> inputs, named_inputs(model, name));
      for (const size_t index : inputs) {
        const bool is_picture = model.inputs()[index].value->desc().shape.size() == 4;
        if (!name.empty() || inputs.size() == 1 || is_picture) numbers[index] = parsed;
      }
    }
    return {};
  };
  if (!preparation.mean.empty()) HET_TRY(collect(preparation.mean, means));
  if (!preparation.scale.empty()) HET_TRY(collect(preparation.scale, scales));
  for (size_t i = 0; i < means.size(); ++i) {
    HET_TRY(add_normalisation(model, i, means[i], scales[i]));
  }
  return {};
}

Status apply_input_types(std::string_view types, Model& model) {
  HET_ASSIGN(const PortTexts entries, parse_colon_list(types));
  for (const auto& [name, type_name] : entries) {
    HET_ASSIGN(const ElementType type, parse_element_type(type_name));
    HET_ASSIGN(const std::vector<size_t> inputs, named_inputs(model, name));
    for (const size_t index : inputs) HET_TRY(set_input_type(model, index, type));
  }
  return {};
}

Status apply_output_types(std::string_view types, Model& model) {
  HET_ASSIGN(const PortTexts entries, parse_colon_list(types));
  for (const auto& [name, type_name] : entries) {
    HET_ASSIGN(const ElementType type, parse_element_type(type_name));
    HET_ASSIGN(const std::vector<size_t> outputs, named_outputs(model, name));
    for (const size_t index : outputs) HET_TRY(set_output_type(model, index, type));
  }
  return {};
}

Status reverse_pictures(Model& model) {
  for (size_t i = 0; i < model.inputs().size(); ++i) {
    const bool is_picture = model.inputs()[i].value->desc().shape.size() == 4;
    if (is_picture || model.inputs().size() == 1) HET_TRY(reverse_channels(model, i));
  }
  return {};
}

}  // namespace

bool ModelPreparation::is_empty() const {
  return outputs.empty() && shapes.empty() && layouts.empty() && batch == 0 && mean.empty() &&
         scale.empty() && !reverse_channels && input_types.empty() && output_types.empty() &&
         !fold_preprocess && !compress_weights;
}

Result<ModelPreparation> take_preparation(Properties& properties) {
  Properties own;
  for (auto it = properties.begin(); it != properties.end();) {
    if (is_preparation_property(it->first)) {
      own.insert(*it);
      it = properties.erase(it);
    } else {
      ++it;
    }
  }
  HET_ASSIGN(own, validate_properties(own, "*"));
  ModelPreparation preparation;
  preparation.outputs = property_text(own, "MODEL_OUTPUTS");
  preparation.shapes = property_text(own, "INPUT_SHAPES");
  preparation.layouts = property_text(own, "INPUT_LAYOUTS");
  preparation.batch = property_integer(own, "BATCH_SIZE");
  preparation.mean = property_text(own, "MEAN_VALUES");
  preparation.scale = property_text(own, "SCALE_VALUES");
  preparation.reverse_channels = property_boolean(own, "REVERSE_INPUT_CHANNELS");
  preparation.input_types = property_text(own, "INPUT_TYPES");
  preparation.output_types = property_text(own, "OUTPUT_TYPES");
  preparation.fold_preprocess = property_boolean(own, "FOLD_PREPROCESS");
  preparation.compress_weights = property_boolean(own, "COMPRESS_TO_FP16");
  return preparation;
}

Status apply(const ModelPreparation& preparation, Model& model) {
  const bool normalises = !preparation.mean.empty() || !preparation.scale.empty();
  if (!preparation.outputs.empty()) HET_TRY(select_outputs(model, listed(preparation.outputs)));
  if (!preparation.shapes.empty()) HET_TRY(reshape(model, preparation.shapes));
  if (!preparation.layouts.empty()) HET_TRY(apply_layouts(preparation.layouts, model));
  if (preparation.batch > 0) HET_TRY(set_batch(model, preparation.batch, preparation.layouts));
  if (normalises) HET_TRY(apply_normalisation(preparation, model));
  if (preparation.reverse_channels) HET_TRY(reverse_pictures(model));
  if (!preparation.input_types.empty()) HET_TRY(apply_input_types(preparation.input_types, model));
  if (!preparation.output_types.empty()) {
    HET_TRY(apply_output_types(preparation.output_types, model));
  }
  if (normalises || preparation.reverse_channels || preparation.fold_preprocess) {
    fold_preprocess(model);
  }
  if (preparation.compress_weights) HET_TRY(compress_weights(model));
  return model.sort();
}

Result<std::unique_ptr<Model>> prepared_copy(const Model& model, Properties& properties) {
  HET_ASSIGN(const ModelPreparation preparation, take_preparation(properties));
  std::unique_ptr<Model> copy;
  if (preparation.is_empty()) return copy;
  copy = model.clone();
  HET_TRY(apply(preparation, *copy).with_context(fmt::format("model '{}'", model.name())));
  return copy;
}

}  // namespace het
