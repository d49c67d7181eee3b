#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "inference/decoders/decoder.h"

namespace het {

/// A converter: plain data and one function, made once by its register function.
struct DecoderDef {
  std::string_view converter;
  /// Keys of an output_postproc entry that it reads besides converter, layer_name(s) and
  /// attribute_name; any other key is an error.
  std::vector<std::string_view> parameters;
  Result<std::unique_ptr<Decoder>> (*create)(const DecoderConfig& config,
                                             const std::vector<Port>& inputs,
                                             const std::vector<Port>& outputs) = nullptr;
};

/// Collects DecoderDefs; filled by plain calls generated from the meson list.
class DecoderRegistry {
 public:
  void add(DecoderDef def) { defs_.push_back(std::move(def)); }
  /// Null when there is no such converter.
  const DecoderDef* find(std::string_view converter) const;
  const std::vector<DecoderDef>& all() const { return defs_; }

 private:
  std::vector<DecoderDef> defs_;
};

/// Every converter of this build; made at first use, never changed afterwards. Thread-safe.
const DecoderRegistry& decoder_registry();

/// Adds every converter of the meson list, by plain calls.
void register_decoders(DecoderRegistry& registry);

}  // namespace het
