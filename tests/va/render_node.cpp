// Preloaded into gst-launch-1.0, so that GStreamer's va plugin finds a render node, which is the
// test driver: its elements register and run on machines without /dev/dri. Answers exactly the
// calls by which the plugin looks for devices.
#include <dlfcn.h>
#include <glib-object.h>
#include <sys/types.h>

#include <cstdarg>
#include <cstdlib>
#include <cstring>

#include "tests/va/driver_display.h"

namespace {

constexpr char kNode[] = "/dev/dri/renderD128";

/// As libdrm's drmVersion.
struct DrmVersion {
  int major, minor, patch;
  int name_length;
  char* name;
  int date_length;
  char* date;
  int description_length;
  char* description;
};

template <class Open>
int open_node(const char* symbol, const char* path, int flags, mode_t mode) {
  const auto real = reinterpret_cast<Open>(dlsym(RTLD_NEXT, symbol));
  return real(std::strcmp(path, kNode) == 0 ? "/dev/null" : path, flags, mode);
}

}  // namespace

#define HET_TEST_EXPORT extern "C" __attribute__((visibility("default")))

HET_TEST_EXPORT GList* g_udev_client_query_by_subsystem(void*, const char*) {
  return g_list_append(nullptr, g_object_new(G_TYPE_OBJECT, nullptr));
}
HET_TEST_EXPORT const char* g_udev_device_get_device_file(void*) {
  return kNode;
}
HET_TEST_EXPORT const char* g_udev_device_get_name(void*) {
  return "renderD128";
}
HET_TEST_EXPORT const char* g_udev_device_get_sysfs_path(void*) {
  return kNode;
}
HET_TEST_EXPORT const char* g_udev_device_get_property(void*, const char*) {
  return nullptr;
}
HET_TEST_EXPORT void* g_udev_device_get_parent(void*) {
  return nullptr;
}

HET_TEST_EXPORT int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const auto mode = static_cast<mode_t>(va_arg(rest, int));
  va_end(rest);
  return open_node<int (*)(const char*, int, ...)>("open", path, flags, mode);
}
HET_TEST_EXPORT int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const auto mode = static_cast<mode_t>(va_arg(rest, int));
  va_end(rest);
  return open_node<int (*)(const char*, int, ...)>("open64", path, flags, mode);
}

HET_TEST_EXPORT DrmVersion* drmGetVersion(int) {
  auto* version = static_cast<DrmVersion*>(std::calloc(1, sizeof(DrmVersion)));
  version->name = strdup("het_test");
  version->name_length = static_cast<int>(std::strlen(version->name));
  return version;
}

HET_TEST_EXPORT VADisplay vaGetDisplayDRM(int) {
  return het::va_test::new_display();
}
