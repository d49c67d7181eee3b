#pragma once

#include <memory>
#include <string>

#include "inference/base/shared_library.h"
#include "inference/base/status.h"
#include "inference/custom_decoder.h"

namespace het {

/// A user's decoder library, open as long as the object lives. Thread-safe.
class CustomLibrary {
 public:
  /// Opens it and checks its table. The error says what is missing: the file, the symbol, a version
  /// that fits, the function decode.
  static Result<std::shared_ptr<const CustomLibrary>> open(const std::string& path);

  const HetCustomDecoder& decoder() const { return *decoder_; }
  /// "decoder 'name' of 'path'", for messages.
  const std::string& title() const { return title_; }

 private:
  CustomLibrary() = default;

  std::unique_ptr<SharedLibrary> library_;
  const HetCustomDecoder* decoder_ = nullptr;
  std::string title_;
};

}  // namespace het
