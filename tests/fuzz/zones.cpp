#include <string>

#include "inference/zones/zone_analysis.h"
#include "tests/fuzz/memory_file.h"

/// A configuration of heteroanalytics: as a file, with a camera, and as each property. What can be
/// read is used for a picture with an object that moves.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const het::fuzz::MemoryFile file;
  file.fill(data, size);
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const het::zones::ConfigurationSource& source :
       {het::zones::ConfigurationSource{file.path(), "", "", ""},
        {file.path(), "", "", "door"},
        {"", text, "", ""},
        {"", "", text, ""}}) {
    const auto configuration = het::zones::read_configuration(source);
    if (!configuration) continue;
    het::zones::ZoneAnalysis analysis;
    (void)analysis.configure(*configuration, {}, 64, 48);
    (void)analysis.zones_outside();
    for (int i = 0; i < 8; ++i) {
      het::zones::SeenFrame frame;
      frame.time_ns = i * 40'000'000;
      frame.objects.push_back({1, "person", 8.0 * i, 4.0, 8.0 * i + 4.0, 40.0});
      (void)analysis.update(frame);
    }
  }
  return 0;
}
