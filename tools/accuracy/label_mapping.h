#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "inference/base/status.h"
#include "tools/accuracy/dataset.h"

namespace het {

/// How a model's labels become the dataset's categories.
enum class LabelRule : uint8_t {
  Automatic,  ///< by name where one is the same, else by index where there are as many
  Name,
  Index,  ///< label k is the k-th category
  Id,     ///< label k is the category with id k
};

Result<LabelRule> parse_label_rule(const std::string& text);

/// Which category each label of a model is.
class LabelMapping {
 public:
  /// Names are the same in either case, and with '_', '-' or ' '; of ImageNet's "n01440764 tench,
  /// Tinca tinca" the synset and each synonym is one. By index, a first label that
  /// says background is passed over. Fails where no rule fits, and says what to give.
  static Result<LabelMapping> make(const std::vector<std::string>& labels,
                                   const std::vector<Category>& categories, LabelRule rule);

  /// kNoCategory where the dataset lacks it.
  int category_of(int label_id, const std::string& label) const;

  /// One line: which rule, of how many labels.
  const std::string& description() const { return description_; }
  /// What the other lacks.
  const std::vector<std::string>& labels_without_category() const { return unknown_labels_; }
  const std::vector<std::string>& categories_without_label() const { return unnamed_; }

 private:
  LabelMapping() = default;
  int find(const std::string& label) const;
  void map_by_name(const std::vector<std::string>& labels, const std::vector<Category>& categories);
  void map_by_number(const std::vector<std::string>& labels,
                     const std::vector<Category>& categories, LabelRule rule, size_t first);

  bool is_by_name_ = false;
  std::map<std::string, int> by_name_;  ///< normalised names of categories
  std::map<std::string, int> by_text_;  ///< labels as they are
  std::map<int, int> by_label_;
  std::string description_;
  std::vector<std::string> unknown_labels_;
  std::vector<std::string> unnamed_;
};

}  // namespace het
