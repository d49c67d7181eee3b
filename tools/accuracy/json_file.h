#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "inference/base/status.h"

namespace het {

/// A JSON file. The error names it.
Result<nlohmann::json> read_json_file(const std::string& path);

/// An element of a list of objects in a JSON file, for reading its keys with errors as
/// "FILE: images[3].width: ...". A view: file and value must outlive it.
class JsonEntry {
 public:
  /// Fails when the value is no object.
  static Result<JsonEntry> at(const nlohmann::json& list, std::string_view file,
                              std::string_view list_name, size_t index);

  bool has(const char* key) const;
  Result<int64_t> integer(const char* key) const;
  Result<double> number(const char* key) const;  ///< finite
  Result<std::string> text(const char* key) const;
  /// Four numbers of at most 1e9, the last two of which are not negative.
  Result<std::vector<double>> box(const char* key) const;
  Failure fail(const char* key, std::string_view what) const;
  const nlohmann::json& operator[](const char* key) const;

 private:
  JsonEntry(const nlohmann::json& value, std::string_view file, std::string place)
      : value_(&value), file_(file), place_(std::move(place)) {}

  const nlohmann::json* value_;
  std::string_view file_;
  std::string place_;
};

/// The list under a key of the file's object.
Result<const nlohmann::json*> json_list(const nlohmann::json& document, std::string_view file,
                                        const char* key);

}  // namespace het
