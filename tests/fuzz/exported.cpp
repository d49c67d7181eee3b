#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>

#include "inference/model/exported_file.h"

/// The file of an exported model: its first line, table and sections, whatever their checksums say.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::istringstream stream(std::string(reinterpret_cast<const char*>(data), size));
  (void)het::ExportedFile::read(stream, "CPU", het::ExportedFile::Checksums::Ignore);
  return 0;
}
