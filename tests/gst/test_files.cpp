#include "test_files.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace het::gst_test {
namespace {

std::filesystem::path folder(const char* variable) {
  const char* value = std::getenv(variable);
  return value ? value : "";
}

}  // namespace

std::string source_file(const std::string& relative) {
  return (folder("HET_SOURCE_ROOT") / relative).string();
}

std::optional<std::string> shared_file(const std::string& relative) {
  const std::filesystem::path path = folder("HET_SHARED_DATA") / relative;
  if (!std::filesystem::exists(path)) return std::nullopt;
  return std::filesystem::canonical(path).string();
}

std::string detector_model() {
  return source_file("pipelines/demo/models/scene_detector.onnx");
}
std::string detector_proc() {
  return source_file("pipelines/demo/models/scene_detector.json");
}
std::string classifier_model() {
  return source_file("pipelines/demo/models/scene_attributes.onnx");
}
std::string classifier_proc() {
  return source_file("pipelines/demo/models/scene_attributes.json");
}
std::string detector_properties() {
  return "model=" + detector_model() + " model-proc=" + detector_proc() + kRegionsOfInterest;
}

ScratchFolder::ScratchFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "hetero-gst-XXXXXX").string();
  if (!mkdtemp(name.data())) throw std::runtime_error("cannot make a temporary folder");
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

}  // namespace het::gst_test
