#include "tools/picture_file.h"

#include <filesystem>
#include <memory>
#include <opencv2/imgcodecs.hpp>

namespace het {

Result<Image> read_picture(const std::string& path) {
  std::error_code code;
  if (!std::filesystem::exists(path, code)) {
    return error(StatusCode::NotFound, "there is no picture '{}'", path);
  }
  auto picture = std::make_shared<cv::Mat>();
  try {
    *picture = cv::imread(path, cv::IMREAD_COLOR);
  } catch (const cv::Exception& exception) {
    return error(StatusCode::ParseError, "cannot read picture '{}': {}", path, exception.what());
  }
  if (picture->empty()) {
    return error(StatusCode::ParseError, "'{}' is not a picture in a format that can be read",
                 path);
  }
  const size_t size = picture->step[0] * static_cast<size_t>(picture->rows);
  BufferPtr buffer = wrap_host_memory(picture->data, size, [picture] {});
  return make_host_image(PixelFormat::BGR, picture->cols, picture->rows, std::move(buffer));
}

}  // namespace het
