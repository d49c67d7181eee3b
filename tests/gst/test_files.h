#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace het::gst_test {

/// Paths of files that tests use. The demo's model comes with the sources; the shared pictures,
/// videos and models may be absent.
std::string source_file(const std::string& relative);
std::optional<std::string> shared_file(const std::string& relative);

std::string detector_model();
std::string detector_proc();
std::string classifier_model();
std::string classifier_proc();
/// For tests that read results with the API that every GStreamer has.
inline constexpr char kRegionsOfInterest[] = " metadata-form=roi ";
/// "model=... model-proc=..." of the demo's detector, as gst-launch-1.0 takes it, with results as
/// regions of interest.
std::string detector_properties();

/// A folder for the files of one test; removed with the object.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

std::string read_text(const std::string& path);
void write_text(const std::string& path, const std::string& text);

}  // namespace het::gst_test
