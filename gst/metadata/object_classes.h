#pragma once

#include <gst/gst.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace het::gst {

/// How many objects there were, by their labels: of the first kMostLabels labels each, of all
/// others together. Thread-safe; a label that is known costs no allocation.
class ObjectClasses {
 public:
  static constexpr size_t kMostLabels = 100;
  /// What stands for the labels after these.
  static constexpr const char* kOtherLabels = "_other";

  void count(std::string_view label);
  /// An array of structures "class" with label (string) and count (uint64), sorted by label.
  void add_to(GstStructure* stats, const char* field) const;

 private:
  mutable std::mutex mutex_;  ///< protects everything below; taken alone
  std::map<std::string, uint64_t, std::less<>> counts_;
  uint64_t others_ = 0;
};

}  // namespace het::gst
