#include "serving/launch/instance/written_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <glib/gstdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string_view>
#include <system_error>

#include "serving/launch/instance/pipeline_elements.h"

namespace het::serving {
namespace {

constexpr const char* kLocations[] = {"location", "playlist-location"};

bool is_sink(GstElement* element) {
  return GST_OBJECT_FLAG_IS_SET(element, GST_ELEMENT_FLAG_SINK) || has_class(element, {"Sink"}) ||
         std::string_view(factory_name(element)).find("sink") != std::string_view::npos;
}

bool is_uri(const std::string& location) {
  return location.find("://") != std::string::npos;
}

/// The path that a location means; empty where it is no file.
std::string path_of(const std::string& location) {
  if (!is_uri(location)) return location;
  gchar* path = g_filename_from_uri(location.c_str(), nullptr, nullptr);
  std::string text = path ? path : "";
  g_free(path);
  return text;
}

/// What does not exist yet will be a regular file.
bool is_ordinary(const std::string& path) {
  if (path.starts_with("/dev/") || path.starts_with("/proc/")) return false;
  struct stat found = {};
  return stat(path.c_str(), &found) != 0 || S_ISREG(found.st_mode);
}

bool is_publisher(GstElement* element) {
  return has_property(element, "file-path") && !choice_property(element, "method").empty();
}

}  // namespace

std::vector<std::string> written_files(GstElement* element) {
  std::vector<std::string> files;
  const auto add = [&](const std::string& path) {
    if (!path.empty() && is_ordinary(path)) files.push_back(path);
  };
  if (is_publisher(element)) {
    const std::string path = text_property(element, "file-path");
    if (choice_property(element, "method") == "file" && path != "stdout") add(path);
  } else if (is_sink(element)) {
    for (const char* name : kLocations) add(path_of(text_property(element, name)));
  }
  return files;
}

NoOutput::NoOutput() : null_fd_(open("/dev/null", O_WRONLY | O_CLOEXEC)) {
  gchar* folder = g_dir_make_tmp("hetero-launch-XXXXXX", nullptr);
  folder_ = folder ? folder : "";
  g_free(folder);
}

NoOutput::~NoOutput() {
  std::error_code failure;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, failure);
  if (null_fd_ >= 0) close(null_fd_);
}

void NoOutput::redirect(GstElement* element) const {
  const std::string factory = factory_name(element);
  if (is_publisher(element)) {
    gst_util_set_object_arg(G_OBJECT(element), "method", "file");
    g_object_set(element, "file-path", "/dev/null", nullptr);
  } else if (factory == "filesink") {
    g_object_set(element, "location", "/dev/null", nullptr);
  } else if (factory == "fdsink") {
    g_object_set(element, "fd", null_fd_, nullptr);
  } else if (is_sink(element)) {
    for (const char* name : kLocations) {
      const std::string location = text_property(element, name);
      const std::string path = path_of(location);
      if (path.empty()) continue;
      gchar* own_name = gst_element_get_name(element);
      const std::string other = fmt::format("{}/{}-{}", folder_, own_name,
                                            std::filesystem::path(path).filename().string());
      g_free(own_name);
      g_object_set(element, name, is_uri(location) ? ("file://" + other).c_str() : other.c_str(),
                   nullptr);
    }
  }
}

}  // namespace het::serving
