#include "tools/accuracy/label_mapping.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <set>

namespace het {
namespace {

std::string normalised(const std::string& name) {
  std::string text;
  for (const unsigned char c : name) {
    text += c == '_' || c == '-' ? ' ' : static_cast<char>(std::tolower(c));
  }
  const size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

bool is_background(const std::string& label) {
  return normalised(label) == "background";  // "__background__", too
}

}  // namespace

Result<LabelRule> parse_label_rule(const std::string& text) {
  if (text.empty() || text == "auto") return LabelRule::Automatic;
  if (text == "name") return LabelRule::Name;
  if (text == "index") return LabelRule::Index;
  if (text == "id") return LabelRule::Id;
  return error(StatusCode::InvalidArgument, "--label-map takes auto, name, index or id, not '{}'",
               text);
}

Result<LabelMapping> LabelMapping::make(const std::vector<std::string>& labels,
                                        const std::vector<Category>& categories, LabelRule rule) {
  LabelMapping mapping;
  std::set<std::string> doubled;
  for (size_t c = 0; c < categories.size(); ++c) {
    const std::string name = normalised(categories[c].name);
    if (!mapping.by_name_.emplace(name, static_cast<int>(c)).second) doubled.insert(name);
  }
  const auto is_named = [&mapping](const std::string& label) {
    return mapping.by_name_.contains(normalised(label));
  };
  const size_t first = !labels.empty() && is_background(labels.front()) ? 1 : 0;
  const size_t count = labels.size() - first;
  if (rule == LabelRule::Automatic) {
    if (std::any_of(labels.begin(), labels.end(), is_named)) {
      rule = LabelRule::Name;
    } else if (count == categories.size()) {
      rule = LabelRule::Index;
    } else {
      return error(
          StatusCode::InvalidArgument,
          "no label of the model is a category of the dataset, and there are {} labels and "
          "{} categories ('{}' ...): give --labels-file FILE, or --label-map index or id",
          count, categories.size(), categories.front().name);
    }
  }
  mapping.is_by_name_ = rule == LabelRule::Name;
  if (mapping.is_by_name_) {
    if (!doubled.empty()) {
      return error(
          StatusCode::ParseError,
          "the dataset has two categories '{}', so that names do not tell them apart: give "
          "--label-map index or id",
          *doubled.begin());
    }
    std::set<int> named;
    for (size_t k = 0; k < labels.size(); ++k) {
      const auto found = mapping.by_name_.find(normalised(labels[k]));
      if (found == mapping.by_name_.end()) {
        mapping.unknown_labels_.push_back(labels[k]);
        continue;
      }
      named.insert(found->second);
      mapping.by_label_[static_cast<int>(k)] = found->second;
    }
    for (size_t c = 0; c < categories.size(); ++c) {
      if (!named.contains(static_cast<int>(c))) mapping.unnamed_.push_back(categories[c].name);
    }
    mapping.description_ =
        fmt::format("by name, {} of {} labels, {} of {} categories", mapping.by_label_.size(),
                    labels.size(), named.size(), categories.size());
    return mapping;
  }
  for (size_t c = 0; c < categories.size(); ++c) {
    const bool is_id = rule == LabelRule::Id;
    const int64_t label = is_id ? categories[c].id : static_cast<int64_t>(c + first);
    if (label < 0 || label > std::numeric_limits<int>::max()) continue;
    mapping.by_label_[static_cast<int>(label)] = static_cast<int>(c);
    const auto place = static_cast<size_t>(label);
    if (!labels.empty() && place >= labels.size()) mapping.unnamed_.push_back(categories[c].name);
  }
  for (size_t k = first; k < labels.size(); ++k) {
    if (!mapping.by_label_.contains(static_cast<int>(k))) {
      mapping.unknown_labels_.push_back(labels[k]);
    }
  }
  mapping.description_ =
      fmt::format("by {}{}, {} labels, {} categories", rule == LabelRule::Id ? "id" : "index",
                  first == 1 && rule == LabelRule::Index ? " behind the background" : "",
                  labels.size(), categories.size());
  return mapping;
}

int LabelMapping::category_of(int label_id, const std::string& label) const {
  if (is_by_name_ && !label.empty()) {
    const auto found = by_name_.find(normalised(label));
    return found == by_name_.end() ? kNoCategory : found->second;
  }
  const auto found = by_label_.find(label_id);
  return found == by_label_.end() ? kNoCategory : found->second;
}

}  // namespace het
