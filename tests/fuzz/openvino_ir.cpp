#include <cstddef>
#include <cstdint>
#include <span>

#include "inference/passes/expose_state.h"
#include "inference/passes/prepare_model.h"
#include "inference/readers/openvino_ir_reader.h"

/// Four bytes, little-endian: how long the XML is; the XML; the rest is the .bin.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kHead = 4;
  if (size < kHead) return 0;
  size_t xml_size = 0;
  for (size_t i = 0; i < kHead; ++i) xml_size |= static_cast<size_t>(data[i]) << (8 * i);
  const auto content = std::as_bytes(std::span(data, size)).subspan(kHead);
  if (xml_size > content.size()) xml_size = content.size();
  auto model =
      het::read_openvino_ir_bytes(content.first(xml_size), content.subspan(xml_size), "fuzz.xml");
  if (!model) return 0;
  if (het::has_state(**model)) (void)het::expose_state(*(*model)->clone());
  (void)het::prepare_model_for_query(**model);
  return 0;
}
