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

bool is_synset(const std::string& word) {
  return word.size() == 9 && word[0] == 'n' &&
         word.find_first_not_of("0123456789", 1) == std::string::npos;
}

/// What a label may be known by: itself, and as ImageNet's lists write theirs ("n01440764 tench,
/// Tinca tinca") the synset, the rest and its synonyms.
std::vector<std::string> names_of_label(const std::string& label) {
  std::vector<std::string> names = {normalised(label)};
  std::string rest = names.front();
  const std::string word = rest.substr(0, rest.find(' '));
  if (is_synset(word) && word.size() < rest.size()) {
    rest = normalised(rest.substr(word.size()));
    names.insert(names.end(), {word, rest});
  }
  if (rest.find(',') == std::string::npos) return names;
  for (size_t begin = 0; begin <= rest.size();) {
    const size_t end = std::min(rest.find(',', begin), rest.size());
    names.push_back(normalised(rest.substr(begin, end - begin)));
    begin = end + 1;
  }
  return names;
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

int LabelMapping::find(const std::string& label) const {
  for (const std::string& name : names_of_label(label)) {
    const auto found = by_name_.find(name);
    if (found != by_name_.end()) return found->second;
  }
  return kNoCategory;
}

Result<LabelMapping> LabelMapping::make(const std::vector<std::string>& labels,
                                        const std::vector<Category>& categories, LabelRule rule) {
  LabelMapping mapping;
  std::string doubled;
  for (size_t c = 0; c < categories.size(); ++c) {
    const std::string name = normalised(categories[c].name);
    if (!mapping.by_name_.emplace(name, static_cast<int>(c)).second) doubled = name;
  }
  const size_t first = !labels.empty() && is_background(labels.front()) ? 1 : 0;
  const size_t count = labels.size() - first;
  if (rule == LabelRule::Automatic) {
    const bool is_any_named = std::any_of(labels.begin(), labels.end(), [&](const auto& label) {
      return mapping.find(label) != kNoCategory;
    });
    if (!is_any_named && count != categories.size()) {
      return error(
          StatusCode::InvalidArgument,
          "no label of the model is a category of the dataset, and there are {} labels and "
          "{} categories ('{}' ...): give --model-proc or --labels-file, or --label-map index or "
          "id",
          count, categories.size(), categories.front().name);
    }
    rule = is_any_named ? LabelRule::Name : LabelRule::Index;
  }
  if (rule == LabelRule::Name && !doubled.empty()) {
    return error(StatusCode::ParseError,
                 "the dataset has two categories '{}', so that names do not tell them apart: give "
                 "--label-map index or id",
                 doubled);
  }
  if (rule == LabelRule::Name) {
    mapping.map_by_name(labels, categories);
  } else {
    mapping.map_by_number(labels, categories, rule, first);
  }
  return mapping;
}

void LabelMapping::map_by_name(const std::vector<std::string>& labels,
                               const std::vector<Category>& categories) {
  is_by_name_ = true;
  std::set<int> named;
  for (size_t k = 0; k < labels.size(); ++k) {
    const int category = find(labels[k]);
    if (category == kNoCategory) {
      unknown_labels_.push_back(labels[k]);
      continue;
    }
    named.insert(category);
    by_label_[static_cast<int>(k)] = category;
    by_text_[labels[k]] = category;
  }
  for (size_t c = 0; c < categories.size(); ++c) {
    if (!named.contains(static_cast<int>(c))) unnamed_.push_back(categories[c].name);
  }
  description_ = fmt::format("by name, {} of {} labels, {} of {} categories", by_label_.size(),
                             labels.size(), named.size(), categories.size());
}

void LabelMapping::map_by_number(const std::vector<std::string>& labels,
                                 const std::vector<Category>& categories, LabelRule rule,
                                 size_t first) {
  for (size_t c = 0; c < categories.size(); ++c) {
    const int64_t label =
        rule == LabelRule::Id ? categories[c].id : static_cast<int64_t>(c + first);
    if (label < 0 || label > std::numeric_limits<int>::max()) continue;
    by_label_[static_cast<int>(label)] = static_cast<int>(c);
    const auto place = static_cast<size_t>(label);
    if (!labels.empty() && place >= labels.size()) unnamed_.push_back(categories[c].name);
  }
  for (size_t k = first; k < labels.size(); ++k) {
    if (!by_label_.contains(static_cast<int>(k))) unknown_labels_.push_back(labels[k]);
  }
  description_ =
      fmt::format("by {}{}, {} labels, {} categories", rule == LabelRule::Id ? "id" : "index",
                  first == 1 && rule == LabelRule::Index ? " behind the background" : "",
                  labels.size(), categories.size());
}

int LabelMapping::category_of(int label_id, const std::string& label) const {
  if (is_by_name_ && !label.empty()) {
    const auto found = by_text_.find(label);
    return found == by_text_.end() ? find(label) : found->second;
  }
  const auto found = by_label_.find(label_id);
  return found == by_label_.end() ? kNoCategory : found->second;
}

}  // namespace het
