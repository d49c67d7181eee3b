#include "inference/decoders/labels.h"

#include <string_view>

#include "inference/decoders/model_proc.h"
#include "tests/fuzz/memory_file.h"

/// A labels file; its text is also the name that a descriptor gives to one.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const het::fuzz::MemoryFile file;
  file.fill(data, size);
  (void)het::read_labels(file.path());
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)het::path_beside(text, "models/detector.json");
  return 0;
}
