#pragma once

#include <concepts>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>

#include "inference/base/status.h"

namespace het::serving {

/// Reads the members of a JSON object one by one, strictly: the first failure is kept, what is
/// missing or has another type fails, and so does what nobody has asked for. Thread-compatible.
class JsonObject {
 public:
  /// `place` names the object in messages. `value` outlives this.
  JsonObject(const nlohmann::json& value, std::string place);

  /// Leaves the value alone after a failure.
  void read(const char* key, std::string& value);
  void read(const char* key, bool& value);
  void read(const char* key, double& value);
  template <std::unsigned_integral T>
  requires(!std::same_as<T, bool>) void read(const char* key, T& value) {
    if (const nlohmann::json* found =
            member(key, "a number that is no less than 0", &nlohmann::json::is_number_unsigned)) {
      value = found->get<T>();
    }
  }
  /// The member for whoever reads it; null after a failure.
  const nlohmann::json* array(const char* key);
  const nlohmann::json* object(const char* key);
  const nlohmann::json* any(const char* key);

  /// For readers of members: what they have found wrong.
  void fail(std::string message);
  const std::string& place() const { return place_; }
  /// ParseError with the first thing that is wrong.
  Status finish();

 private:
  using IsType = bool (nlohmann::json::*)() const noexcept;
  const nlohmann::json* member(const char* key, std::string_view wanted, IsType is_type);

  const nlohmann::json& value_;
  std::string place_;
  std::set<std::string, std::less<>> asked_;
  std::string problem_;
};

/// Fails with ParseError for what is no JSON or no object.
Result<nlohmann::json> parse_json_object(std::string_view text, std::string_view what);

}  // namespace het::serving
