#include "tools/preparation_options.h"

#include <CLI/CLI.hpp>

#include "inference/model/port_texts.h"

namespace het {
namespace {

struct TextOption {
  const char* names;
  const char* property;
  const char* doc;
};

constexpr TextOption kTextOptions[] = {
    {"--shape", "INPUT_SHAPES", "\"[1,3,320,320]\", \"name[...]\" or \"N=1,height=320\""},
    {"--layout", "INPUT_LAYOUTS", "\"NCHW\", \"name[NHWC]\"; \"[NHWC->NCHW]\" changes it"},
    {"-b", "BATCH_SIZE", "Batch size (where the layout has N, or the first dimension)"},
    {"--ip", "INPUT_TYPES", "Type of all inputs: u8, f16, f32 ..."},
    {"--op", "OUTPUT_TYPES", "Type of all outputs"},
    {"--mean_values,--imean", "MEAN_VALUES", "\"[123.7,116.3,103.5]\" or \"name[...]\""},
    {"--scale_values,--iscale", "SCALE_VALUES", "Divided by after the mean: \"[255]\""},
    {"--output_names", "MODEL_OUTPUTS", "Outputs by name or NODE:PORT, the rest is removed"},
};
constexpr TextOption kFlags[] = {
    {"--reverse_input_channels", "REVERSE_INPUT_CHANNELS", "Take BGR for RGB and the reverse"},
    {"--fold_preprocess", "FOLD_PREPROCESS", "Fold the normalisation into the first convolution"},
    {"--compress_to_fp16", "COMPRESS_TO_FP16", "Store float32 weights as float16"},
};

}  // namespace

void add_preparation_options(CLI::App& command, PreparationOptions& options) {
  for (const TextOption& option : kTextOptions) {
    command.add_option_function<std::string>(
        option.names,
        [&options, option](const std::string& text) { options.properties[option.property] = text; },
        option.doc);
  }
  command.add_option("--extensions", options.extensions,
                     "Libraries with operators of one's own (custom_operator.h)");
  command.add_option("--iop", options.port_types, "Types by name: \"images:u8,boxes:f32\"");
  for (const TextOption& flag : kFlags) {
    command.add_flag_callback(
        flag.names, [&options, flag] { options.properties[flag.property] = "YES"; }, flag.doc);
  }
}

Status add_as_properties(const PreparationOptions& options, Properties& properties) {
  // Types of single ports need the model; they are told apart as inputs there.
  if (!options.port_types.empty()) {
    return error(StatusCode::InvalidArgument, "-iop is for tensors; with pictures use -ip and -op");
  }
  for (const auto& [name, value] : options.properties) properties[name] = value;
  for (const std::string& library : options.extensions) {
    std::string& libraries = properties["EXTENSIONS"];
    libraries += (libraries.empty() ? "" : ";") + library;
  }
  return {};
}

Status prepare(const PreparationOptions& options, Model& model) {
  Properties properties = options.properties;
  HET_ASSIGN(const PortTexts types, parse_colon_list(options.port_types));
  for (const auto& [name, type] : types) {
    const bool is_input = static_cast<bool>(find_input(model, name));
    if (!is_input) HET_TRY(find_output(model, name));
    std::string& list = properties[is_input ? "INPUT_TYPES" : "OUTPUT_TYPES"];
    list += fmt::format("{}{}:{}", list.empty() ? "" : ";", name, type);
  }
  HET_ASSIGN(const ModelPreparation preparation, take_preparation(properties));
  return apply(preparation, model);
}

}  // namespace het
