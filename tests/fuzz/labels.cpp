#include <cstddef>
#include <cstdint>
#include <string_view>

#include "inference/decoders/labels.h"

/// The text of a labels file.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  (void)het::parse_labels({reinterpret_cast<const char*>(data), size}, "labels.txt");
  return 0;
}
