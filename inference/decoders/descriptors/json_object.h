#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "inference/base/status.h"

namespace het {

/// Checked access to one object of a JSON document. Errors say "file: key path: what is wrong and
/// what is allowed". A view: the document must outlive it.
class JsonObject {
 public:
  /// `path` is where the object stands, "" for the root. Fails when the value is no object.
  static Result<JsonObject> at(const nlohmann::json& value, std::string_view origin,
                               std::string path);

  bool has(std::string_view key) const;
  const nlohmann::json& operator[](std::string_view key) const;
  /// "output_postproc[0].labels"
  std::string path_of(std::string_view key) const;

  /// Fails on the first key that is not in the list.
  Status allow_keys(const std::vector<std::string_view>& keys) const;

  /// Values of optional keys; each fails when the value has another type.
  Result<std::string> text(std::string_view key, std::string_view fallback) const;
  Result<std::string> choice(std::string_view key, std::string_view fallback,
                             std::initializer_list<std::string_view> allowed) const;
  Result<bool> boolean(std::string_view key, bool fallback) const;
  Result<float> number(std::string_view key, float fallback, float lowest, float highest) const;
  Result<int> integer(std::string_view key, int fallback, int lowest, int highest) const;
  Result<std::vector<float>> numbers(std::string_view key, size_t limit = 16) const;
  /// At most `limit` arrays of at most as many numbers each.
  Result<std::vector<std::vector<float>>> number_lists(std::string_view key,
                                                       size_t limit = 16) const;
  Result<std::vector<int>> integers(std::string_view key, int lowest, int highest,
                                    size_t limit = 16) const;
  /// At most `limit` strings.
  Result<std::vector<std::string>> texts(std::string_view key, size_t limit) const;
  /// The object under the key; an absent key is an empty object.
  Result<JsonObject> object(std::string_view key) const;
  /// The objects of the array under the key.
  Result<std::vector<JsonObject>> objects(std::string_view key, size_t limit) const;

  /// A failure about this key.
  Failure fail(std::string_view key, std::string_view what) const;

 private:
  JsonObject(const nlohmann::json& value, std::string_view origin, std::string path)
      : value_(&value), origin_(origin), path_(std::move(path)) {}

  const nlohmann::json* value_;
  std::string_view origin_;
  std::string path_;
};

}  // namespace het
