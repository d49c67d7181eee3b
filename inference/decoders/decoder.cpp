#include "inference/decoders/decoder.h"

#include <algorithm>

#include "inference/decoders/decoder_registry.h"
#include "inference/decoders/name_list.h"

namespace het {

const DecoderDef* DecoderRegistry::find(std::string_view converter) const {
  const auto found = std::find_if(defs_.begin(), defs_.end(), [&](const DecoderDef& def) {
    return def.converter == converter;
  });
  return found == defs_.end() ? nullptr : &*found;
}

const DecoderRegistry& decoder_registry() {
  static const DecoderRegistry registry = [] {
    DecoderRegistry filled;
    register_decoders(filled);
    return filled;
  }();
  return registry;
}

Result<std::unique_ptr<Decoder>> create_decoder(const DecoderConfig& config,
                                                const std::vector<Port>& inputs,
                                                const std::vector<Port>& outputs) {
  const DecoderDef* def = decoder_registry().find(config.converter);
  if (def == nullptr)
    return error(StatusCode::NotFound, "unknown converter '{}'; there are {}", config.converter,
                 name_list(converter_names()));
  return def->create(config, inputs, outputs);
}

std::vector<std::string> converter_names() {
  std::vector<std::string> names;
  for (const DecoderDef& def : decoder_registry().all()) names.emplace_back(def.converter);
  std::sort(names.begin(), names.end());
  return names;
}

bool leaves_tensors(std::string_view converter) {
  constexpr std::string_view kConverters[] = {"raw_data_copy", "embedding", "clip_token",
                                              "custom_to_tensor"};
  return std::ranges::find(kConverters, converter) != std::end(kConverters);
}

}  // namespace het
