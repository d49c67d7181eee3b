#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace het {

/// What a device has for an operator, by domain and type: filled while the device is made, read
/// from any thread afterwards.
template <class Entry>
class OperatorTable {
 public:
  void add(std::string_view domain, std::string_view op_type, Entry entry) {
    entries_.insert_or_assign(key(domain, op_type), std::move(entry));
  }
  /// Null when there is none.
  const Entry* find(std::string_view domain, std::string_view op_type) const {
    const auto found = entries_.find(key(domain, op_type));
    return found == entries_.end() ? nullptr : &found->second;
  }

 private:
  static std::string key(std::string_view domain, std::string_view op_type) {
    return std::string(domain) + ":" + std::string(op_type);
  }

  std::unordered_map<std::string, Entry> entries_;
};

}  // namespace het
