#include "tools/picture_file.h"

#include <gdk-pixbuf/gdk-pixbuf.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string_view>

#include "tools/colour_profile.h"

namespace het {
namespace {

using Pixbuf = std::unique_ptr<GdkPixbuf, decltype(&g_object_unref)>;

/// What can be read here, sorted as gdk-pixbuf has it.
std::string format_names() {
  std::string names;
  GSList* const formats = gdk_pixbuf_get_formats();
  for (const GSList* at = formats; at != nullptr; at = at->next) {
    gchar* const name = gdk_pixbuf_format_get_name(static_cast<GdkPixbufFormat*>(at->data));
    names += (names.empty() ? "" : ", ") + std::string(name);
    g_free(name);
  }
  g_slist_free(formats);
  return names;
}

/// How many bytes a BMP or WebP file says that it has; 0 where it does not. Their loaders leave
/// what is missing black.
uint32_t stated_size(const std::string& path) {
  std::array<char, 12> header{};
  std::ifstream(path, std::ios::binary).read(header.data(), header.size());
  const auto number = [&](size_t at) {
    uint32_t value = 0;
    for (size_t i = 4; i-- > 0;) value = value << 8 | static_cast<uint8_t>(header[at + i]);
    return value;
  };
  const std::string_view text(header.data(), header.size());
  if (text.starts_with("BM")) return number(2);
  if (text.starts_with("RIFF") && text.ends_with("WEBP")) return number(4) + 8;
  return 0;
}

/// What the header says, before a loader allocates memory for it; false where there is no header
/// that a loader knows.
Result<bool> check_header(const std::string& path) {
  int width = 0;
  int height = 0;
  if (gdk_pixbuf_get_file_info(path.c_str(), &width, &height) == nullptr) return false;
  if (int64_t{width} * height > kMaxPicturePixels) {
    return error(StatusCode::NotSupported,
                 "picture '{}' says that it has {} x {} pixels; up to {} in all are read", path,
                 width, height, kMaxPicturePixels);
  }
  std::error_code code;
  const auto size = std::filesystem::file_size(path, code);
  if (const uint32_t stated = stated_size(path); !code && size < stated) {
    return error(StatusCode::ParseError, "cannot read picture '{}': it ends after {} of {} bytes",
                 path, size, stated);
  }
  return true;
}

/// A file of its own for some bytes, gone with it.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& bytes)
      : path_((std::filesystem::temp_directory_path() / "hetero-picture-XXXXXX").string()) {
    const int file = mkstemp(path_.data());
    if (file < 0) return;
    close(file);
    std::ofstream stream(path_, std::ios::binary);
    is_written_ = static_cast<bool>(stream.write(bytes.data(), std::ssize(bytes)).flush());
  }
  ~TemporaryFile() { unlink(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& path() const { return path_; }
  bool is_written() const { return is_written_; }

 private:
  std::string path_;
  bool is_written_ = false;
};

Pixbuf load_file(const std::string& path, GError*& failure) {
  return {gdk_pixbuf_new_from_file(path.c_str(), &failure), g_object_unref};
}

Result<Pixbuf> load(const std::string& path) {
  HET_ASSIGN(const bool is_known, check_header(path));
  std::string bytes;
  if (is_known) {
    std::ifstream stream(path, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(stream), {});
  }
  GError* failure = nullptr;
  Pixbuf pixbuf(nullptr, g_object_unref);
  if (remove_colour_profile(bytes)) {
    // Not from memory: gdk-pixbuf decodes a JPEG that comes in pieces less exactly.
    const TemporaryFile file(bytes);
    if (!file.is_written()) {
      return error(StatusCode::NotFound,
                   "cannot read picture '{}': it has a colour profile, and a copy without it could "
                   "not be written as '{}'; TMPDIR names another folder",
                   path, file.path());
    }
    pixbuf = load_file(file.path(), failure);
  } else {
    pixbuf = load_file(path, failure);
  }
  if (pixbuf) return pixbuf;
  const std::string reason = failure ? failure->message : "no reason given";
  g_clear_error(&failure);
  if (is_known) return error(StatusCode::ParseError, "cannot read picture '{}': {}", path, reason);
  return error(StatusCode::ParseError,
               "'{}' is not a picture in a format that is read here: {}. Read are {} (each is a "
               "loader of gdk-pixbuf; that of WebP is Debian's package webp-pixbuf-loader)",
               path, reason, format_names());
}

}  // namespace

Result<Image> read_picture(const std::string& path) {
  std::error_code code;
  if (!std::filesystem::exists(path, code)) {
    return error(StatusCode::NotFound, "there is no picture '{}'", path);
  }
  HET_ASSIGN(Pixbuf pixbuf, load(path));
  pixbuf.reset(gdk_pixbuf_apply_embedded_orientation(pixbuf.get()));
  if (!pixbuf) {
    return error(StatusCode::OutOfMemory, "no memory to turn picture '{}' as it says", path);
  }
  const int width = gdk_pixbuf_get_width(pixbuf.get());
  const int height = gdk_pixbuf_get_height(pixbuf.get());
  const int channels = gdk_pixbuf_get_n_channels(pixbuf.get());
  HET_ASSIGN(Image image, make_host_image(PixelFormat::BGR, width, height));
  auto* to = reinterpret_cast<guchar*>(image.planes[0].buffer->host());
  const guchar* const pixels = gdk_pixbuf_read_pixels(pixbuf.get());
  for (int y = 0; y < height; ++y) {
    const guchar* from = pixels + static_cast<size_t>(y) *
                                      static_cast<size_t>(gdk_pixbuf_get_rowstride(pixbuf.get()));
    for (int x = 0; x < width; ++x, from += channels, to += 3) {
      to[0] = from[2];
      to[1] = from[1];
      to[2] = from[0];
    }
  }
  return image;
}

}  // namespace het
