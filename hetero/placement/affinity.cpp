#include "hetero/placement/affinity.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "inference/base/log.h"
#include "inference/decoders/labels.h"
#include "inference/model/node_names.h"

namespace het::hetero {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxShownBytes = 100;
constexpr std::array<std::string_view, 3> kKinds{"name", "type", "regex"};

std::string shown(std::string_view text) {
  if (text.size() <= kMaxShownBytes) return std::string(text);
  return std::string(text.substr(0, kMaxShownBytes)) + "...";
}

Result<AffinityRule> parse_rule(const Json& json) {
  if (!json.is_object()) {
    return error(StatusCode::ParseError, "an object is expected, found {}", json.type_name());
  }
  AffinityRule rule;
  size_t kinds = 0;
  bool has_device = false;
  for (const auto& [key, value] : json.items()) {
    const auto kind = std::ranges::find(kKinds, key);
    if (kind == kKinds.end() && key != "device") {
      return error(StatusCode::ParseError, "unknown key '{}'; there are name, type, regex, device",
                   shown(key));
    }
    if (!value.is_string()) {
      return error(StatusCode::ParseError, "'{}' has to be a string, found {}", key,
                   value.type_name());
    }
    if (kind == kKinds.end()) {
      has_device = true;
      rule.device = value.get<std::string>();
    } else {
      ++kinds;
      rule.kind = static_cast<AffinityRule::Kind>(kind - kKinds.begin());
      rule.text = value.get<std::string>();
    }
  }
  if (kinds != 1 || !has_device) {
    return error(StatusCode::ParseError, "it needs one of name, type and regex, and a device");
  }
  if (rule.kind == AffinityRule::Kind::Regex) {
    HET_ASSIGN(rule.pattern, NamePattern::parse(rule.text));
  }
  return rule;
}

Result<AffinityRule> parse_pair(const std::string& name, const Json& device) {
  if (!device.is_string()) {
    return error(StatusCode::ParseError, "the device has to be a string, found {}",
                 device.type_name());
  }
  return AffinityRule{AffinityRule::Kind::Name, name, std::nullopt, device.get<std::string>()};
}

bool has_type(const Node& node, std::string_view type) {
  return node.op_type() == type || node.qualified_type() == type;
}

bool matches(const Node& node, const NamePattern& pattern) {
  const auto is_match = [&](const std::string& name) {
    return name.size() <= kMaxMatchedBytes && pattern.matches(name);
  };
  return is_match(node.name()) || std::ranges::any_of(node.original_names(), is_match);
}

Status check_device(std::string_view device, const std::vector<std::string>& devices,
                    std::string_view what) {
  if (device.empty() || std::ranges::find(devices, device) != devices.end()) return {};
  std::string valid;
  for (const std::string& other : devices) valid += (valid.empty() ? "" : ", ") + other;
  return error(StatusCode::InvalidArgument, "{} wants device '{}', but there are only {}", what,
               shown(device), valid.empty() ? "none" : valid);
}

}  // namespace

std::string AffinityRules::describe(size_t rule) const {
  const AffinityRule& described = rules_[rule];
  const std::string what =
      fmt::format("({} '{}')", kKinds[static_cast<size_t>(described.kind)], shown(described.text));
  return is_list_ ? fmt::format("{} rule {} {}", origin_, rule + 1, what)
                  : fmt::format("{} {}", origin_, what);
}

Result<AffinityRules> AffinityRules::parse(std::string_view json, std::string_view origin) {
  const Json document = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (document.is_discarded()) {
    return error(StatusCode::ParseError, "{} is not valid JSON", origin);
  }
  if (!document.is_object()) {
    return error(
        StatusCode::ParseError,
        "{} has to be an object of node names and devices, or one with \"rules\"; found {}", origin,
        document.type_name());
  }
  AffinityRules result;
  result.origin_ = origin;
  const auto list = document.find("rules");
  const bool has_list = list != document.end() && !list->is_string();
  if (has_list && (!list->is_array() || document.size() > 1)) {
    return error(StatusCode::ParseError, "{}: \"rules\" has to be an array and the only key",
                 origin);
  }
  const Json& items = has_list ? *list : document;
  if (items.size() > kMaxRules) {
    return error(StatusCode::OutOfMemory, "{} has {} rules, the limit is {}", origin, items.size(),
                 kMaxRules);
  }
  size_t patterns = 0;
  result.is_list_ = has_list;
  for (const auto& [key, item] : items.items()) {
    auto rule = has_list ? parse_rule(item) : parse_pair(key, item);
    if (!rule) {
      const std::string which = has_list ? fmt::format("rule {}", result.rules_.size() + 1)
                                         : fmt::format("(name '{}')", shown(key));
      return Failure(rule.error().with_context(fmt::format("{} {}", origin, which)));
    }
    patterns += rule->pattern ? 1 : 0;
    result.rules_.push_back(std::move(*rule));
  }
  if (patterns > kMaxRegexRules) {
    return error(StatusCode::OutOfMemory, "{} has {} rules with a regex, the limit is {}", origin,
                 patterns, kMaxRegexRules);
  }
  return result;
}

Result<AffinityRules> AffinityRules::read(const std::string& path) {
  HET_ASSIGN(const std::string text, read_text_file(path, kMaxFileBytes, "affinity file"));
  return parse(text, fmt::format("affinity file '{}'", path));
}

Result<std::vector<AffinityWish>> find_wishes(const Model& model, const AffinityRules& rules,
                                              const std::vector<std::string>& devices) {
  std::vector<AffinityWish> wishes;
  for (const auto& node : model.nodes()) {
    wishes.push_back({node->affinity(), node->affinity().empty() ? "" : "affinity of the model"});
  }
  const NodesByName names(model);
  for (size_t r = 0; r < rules.rules().size(); ++r) {
    const AffinityRule& rule = rules.rules()[r];
    HET_TRY(check_device(rule.device, devices, rules.describe(r)));
    std::vector<size_t> chosen;
    if (rule.kind == AffinityRule::Kind::Name) {
      chosen = names.find(rule.text);
      if (chosen.empty()) {
        return error(StatusCode::NotFound, "{}: model '{}' has no such node{}", rules.describe(r),
                     model.name(), names.nearest(rule.text));
      }
    } else {
      for (size_t i = 0; i < wishes.size(); ++i) {
        const Node& node = *model.nodes()[i];
        if (rule.pattern ? matches(node, *rule.pattern) : has_type(node, rule.text)) {
          chosen.push_back(i);
        }
      }
      if (chosen.empty()) {
        log(LogLevel::Warning, "{} applies to no node of model '{}'", rules.describe(r),
            model.name());
      }
    }
    for (const size_t i : chosen) {
      wishes[i] = {rule.device, rule.device.empty() ? "" : rules.describe(r)};
    }
  }
  for (size_t i = 0; i < wishes.size(); ++i) {
    HET_TRY(check_device(
        wishes[i].device, devices,
        fmt::format("node '{}' of model '{}'", shown(model.nodes()[i]->name()), model.name())));
  }
  return wishes;
}

}  // namespace het::hetero
