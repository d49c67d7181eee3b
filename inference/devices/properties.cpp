#include "inference/devices/properties.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "inference/base/edit_distance.h"
#include "inference/devices/device_properties.h"
#include "inference/devices/older_names.h"
#include "inference/devices/own_properties.h"

namespace het {
namespace {

bool contains(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const size_t comma = list.find(',');
    if (list.substr(0, comma) == word) return true;
    if (comma == std::string_view::npos) break;
    list.remove_prefix(comma + 1);
  }
  return false;
}

/// "AUTO" and "AUTO:-GPU" stand for whatever devices there are.
bool is_open_list(std::string_view device) {
  if (device.substr(0, device.find(':')) != "AUTO") return false;
  return device.size() <= 5 || device.find('-') != std::string_view::npos;
}

/// True for a row that devices know which compute.
bool is_of_single_devices(const PropertyDef& def) {
  constexpr std::string_view kComposite = "AUTO,BATCH,HETERO,MULTI";
  for (std::string_view devices = def.devices; !devices.empty();) {
    const size_t comma = devices.find(',');
    if (!contains(kComposite, devices.substr(0, comma))) return true;
    devices.remove_prefix(comma == std::string_view::npos ? devices.size() : comma + 1);
  }
  return false;
}

/// The table and what users' libraries add to it.
std::vector<const PropertyDef*> all_rows() {
  std::vector<const PropertyDef*> rows;
  for (const PropertyDef& def : property_table()) rows.push_back(&def);
  const std::vector<const PropertyDef*> own = own_property_rows();
  rows.insert(rows.end(), own.begin(), own.end());
  return rows;
}

/// `device` as users write it; one of its parts suffices: "BATCH:GPU.0(8)" is BATCH and GPU.
bool understands(const PropertyDef& def, std::string_view device) {
  if (def.devices == "*") return true;
  if (is_open_list(device) && is_of_single_devices(def)) return true;
  while (!device.empty()) {
    const size_t end = device.find_first_of(":,;");
    const std::string_view part = device.substr(0, end);
    if (contains(def.devices, part.substr(0, part.find_first_of(".(")))) return true;
    if (end == std::string_view::npos) break;
    device.remove_prefix(end + 1);
  }
  return false;
}

bool is_one_of(std::string_view value, std::string_view choices) {
  while (!choices.empty()) {
    const size_t bar = choices.find('|');
    if (choices.substr(0, bar) == value) return true;
    if (bar == std::string_view::npos) break;
    choices.remove_prefix(bar + 1);
  }
  return false;
}

std::string describe_choices(std::string_view choices) {
  std::string text(choices);
  std::replace(text.begin(), text.end(), '|', ' ');
  return text;
}

Result<int64_t> parse_integer(std::string_view text) {
  int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size()) {
    return error(StatusCode::InvalidArgument, "'{}' is not an integer", text);
  }
  return value;
}

/// YES and NO for the other words that mean them; anything else as it is.
std::string plain_boolean(const std::string& value) {
  if (value == "true" || value == "TRUE" || value == "1") return "YES";
  if (value == "false" || value == "FALSE" || value == "0") return "NO";
  return value;
}

/// The value in its normal form, or why it is not one.
Result<std::string> check_value(const PropertyDef& def, const std::string& value) {
  switch (def.type) {
    case PropertyType::Text:
      return value;
    case PropertyType::Boolean: {
      const std::string text = plain_boolean(value);
      if (text == "YES" || text == "NO") return text;
      return error(StatusCode::InvalidArgument, "property {} takes YES or NO, not '{}'", def.name,
                   value);
    }
    case PropertyType::Choice:
      if (is_one_of(value, def.choices)) return value;
      if (is_one_of(plain_boolean(value), def.choices)) return plain_boolean(value);
      return error(StatusCode::InvalidArgument, "property {} takes one of {}, not '{}'", def.name,
                   describe_choices(def.choices), value);
    case PropertyType::Integer: {
      if (!def.choices.empty() && is_one_of(value, def.choices)) return value;
      const auto number = parse_integer(value);
      if (!number || *number < def.minimum || *number > def.maximum) {
        return error(StatusCode::InvalidArgument,
                     "property {} takes an integer from {} to {}{}{}, not '{}'", def.name,
                     def.minimum, def.maximum, def.choices.empty() ? "" : " or ",
                     describe_choices(def.choices), value);
      }
      return value;
    }
    case PropertyType::Float: {
      char* end = nullptr;
      const double number = std::strtod(value.c_str(), &end);
      if (value.empty() || *end != '\0' || !std::isfinite(number)) {
        return error(StatusCode::InvalidArgument, "property {} takes a number, not '{}'", def.name,
                     value);
      }
      return value;
    }
  }
  return value;
}

/// The next comma outside brackets: values such as "[1,3,320,320],size[1,2]" keep theirs.
size_t find_comma(std::string_view text) {
  size_t depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[' || text[i] == '{') ++depth;
    if ((text[i] == ']' || text[i] == '}') && depth > 0) --depth;
    if (text[i] == ',' && depth == 0) return i;
  }
  return std::string_view::npos;
}

/// "GPU" and "GPU.1" are members of "HETERO:GPU.1,CPU".
bool is_member(std::string_view member, std::string_view device) {
  const size_t colon = device.find(':');
  if (is_open_list(device)) return true;
  if (colon == std::string_view::npos) return false;
  device.remove_prefix(colon + 1);
  while (!device.empty()) {
    const size_t end = device.find_first_of(":,;");
    std::string_view part = device.substr(0, end);
    part = part.substr(0, part.find('('));
    if (part == member || part.substr(0, part.find('.')) == member) return true;
    if (end == std::string_view::npos) break;
    device.remove_prefix(end + 1);
  }
  return false;
}

/// What a list "OLD=NEW|OLD=NEW" has for a word; the word where it has nothing.
std::string current_value(std::string_view list, const std::string& value) {
  for (const std::string& word :
       {value, std::string(without_key_prefix(value)), plain_boolean(value)}) {
    for (std::string_view rest = list; !rest.empty();) {
      const std::string_view entry = rest.substr(0, rest.find('|'));
      if (entry.substr(0, entry.find('=')) == word) {
        return std::string(entry.substr(word.size() + 1));
      }
      rest.remove_prefix(std::min(entry.size() + 1, rest.size()));
    }
  }
  return value;
}

Failure gone(const OlderName& older, std::string_view given) {
  return error(StatusCode::InvalidArgument,
               "property '{}' of OpenVINO's older guides does not exist here. It was {}{}{}", given,
               older.doc, older.values.empty() ? "" : "; taken is only ",
               describe_choices(older.values));
}

/// BATCH gives all its properties to the device behind it; a single one knows none of members.
bool is_batch_of_one(std::string_view device) {
  return device.starts_with("BATCH:") && std::ranges::count(device, ':') == 1;
}

/// The name with which a property of `older.device` is given to `device`.
Result<std::string> scoped_name(const OlderName& older, std::string_view given,
                                std::string_view device) {
  const std::string_view kind = device.substr(0, device.find_first_of(":."));
  if (older.device.empty() || device == "*" || kind == older.device) return std::string(older.name);
  if (!is_member(older.device, device)) {
    return error(StatusCode::InvalidArgument,
                 "property '{}' of OpenVINO's older guides is {} of device {}, which is not in {}",
                 given, older.name, older.device, device);
  }
  if (is_batch_of_one(device)) return std::string(older.name);
  return fmt::format("{}.{}", older.device, older.name);
}

/// The normal form of one property of one device in a composite one.
Result<std::pair<std::string, std::string>> validate_member(const MemberProperty& property,
                                                            const std::string& value,
                                                            std::string_view device) {
  if (!is_member(property.device, device)) {
    return error(StatusCode::InvalidArgument,
                 "property {}.{} is for a device '{}', which is not in {}", property.device,
                 property.name, property.device, device);
  }
  const std::string_view kind =
      std::string_view(property.device).substr(0, property.device.find('.'));
  HET_ASSIGN(const Properties single, validate_properties({{property.name, value}}, kind));
  return *single.begin();
}

const PropertyDef* table_row(std::string_view name) {
  const std::vector<const PropertyDef*> rows = all_rows();
  const auto it = std::ranges::find(rows, name, &PropertyDef::name);
  return it == rows.end() ? nullptr : *it;
}

/// The properties with the names and the words for values that the table has instead of older ones.
/// Names and values that are not known stay.
Result<Properties> with_current_names(const Properties& properties, std::string_view device) {
  Properties current;
  std::map<std::string, std::string> sources;
  for (const auto& [given, value] : properties) {
    const auto member = split_member_property(given);
    const std::string prefix = member ? member->device + "." : std::string();
    const std::string_view plain = without_key_prefix(member ? member->name : given);
    const OlderName* older = find_older_name(plain);
    std::string name = prefix + std::string(plain);
    if (older && older->name.empty()) {
      const bool is_so_here =
          is_one_of(value, older->values) || is_one_of(plain_boolean(value), older->values);
      if (!is_so_here) return gone(*older, given);
      continue;
    }
    if (older) {
      HET_ASSIGN(const std::string scoped,
                 scoped_name(*older, given, member ? std::string_view(member->device) : device));
      name = prefix + scoped;
    }
    const std::string text = current_value(older ? older->values : std::string_view(), value);
    const auto [it, is_new] = current.emplace(name, text);
    if (!is_new && it->second != text) {
      return error(StatusCode::InvalidArgument,
                   "property {} is given twice: {}={} and {}={}; leave one of them out", name,
                   sources.at(name), it->second, given, value);
    }
    sources.emplace(name, given);
  }
  return current;
}

}  // namespace

std::optional<MemberProperty> split_member_property(std::string_view name) {
  const size_t point = name.rfind('.');
  if (point == std::string_view::npos) return std::nullopt;
  return MemberProperty{std::string(name.substr(0, point)), std::string(name.substr(point + 1))};
}

Result<const PropertyDef*> find_property(std::string_view name, std::string_view device) {
  const std::string_view given = name;
  name = without_key_prefix(name);
  if (const OlderName* older = find_older_name(name)) {
    if (older->name.empty()) return gone(*older, given);
    name = older->name;
  }
  std::vector<const PropertyDef*> understood;
  std::ranges::copy_if(all_rows(), std::back_inserter(understood),
                       [&](const PropertyDef* def) { return understands(*def, device); });
  const auto found = std::ranges::find(understood, name, &PropertyDef::name);
  if (found != understood.end()) return *found;
  std::string valid;
  std::string_view nearest;
  size_t nearest_distance = std::numeric_limits<size_t>::max();
  for (const PropertyDef* def : understood) {
    valid += valid.empty() ? "" : ", ";
    valid += def->name;
    const size_t distance = edit_distance(name, def->name);
    if (distance < nearest_distance) {
      nearest_distance = distance;
      nearest = def->name;
    }
  }
  const std::string hint = nearest_distance <= 1 + name.size() / 4
                               ? fmt::format("; did you mean {}?", nearest)
                               : std::string();
  return error(StatusCode::InvalidArgument, "device {} has no property '{}'{} Valid are: {}",
               device, given, hint.empty() ? "." : hint, valid);
}

Result<Properties> validate_properties(const Properties& properties, std::string_view device) {
  HET_ASSIGN(const Properties current, with_current_names(properties, device));
  Properties checked;
  for (const auto& [name, value] : current) {
    if (const auto member = split_member_property(name)) {
      HET_ASSIGN(const auto single, validate_member(*member, value, device));
      // What is said of one property alone counts more than DEVICE_PROPERTIES.
      checked[is_batch_of_one(device) ? single.first
                                      : fmt::format("{}.{}", member->device, single.first)] =
          single.second;
      continue;
    }
    HET_ASSIGN(const PropertyDef* def, find_property(name, device));
    if (def->read_only) {
      return error(StatusCode::InvalidArgument, "property {} can only be read", def->name);
    }
    if (def->name == "DEVICE_PROPERTIES") {
      HET_ASSIGN(const auto listed, parse_device_properties(value));
      for (const auto& [member, its] : listed) {
        HET_ASSIGN(const Properties its_current, with_current_names(its, member));
        for (const auto& [key, its_value] : its_current) {
          HET_ASSIGN(const auto single, validate_member({member, key}, its_value, device));
          checked.try_emplace(fmt::format("{}.{}", member, single.first), single.second);
        }
      }
      continue;
    }
    HET_ASSIGN(const std::string text, check_value(*def, value));
    checked.emplace(def->name, text);
  }
  return checked;
}

bool is_preparation_property(std::string_view name) {
  const PropertyDef* def = table_row(without_key_prefix(name));
  return def != nullptr && def->is_preparation;
}

std::string property_text(const Properties& properties, std::string_view name) {
  const auto it = properties.find(std::string(name));
  if (it != properties.end()) return it->second;
  const PropertyDef* def = table_row(name);
  return def ? std::string(def->default_value) : std::string();
}

int64_t property_integer(const Properties& properties, std::string_view name) {
  const std::string text = property_text(properties, name);
  if (text == "AUTO") return -1;
  const auto value = parse_integer(text);
  return value ? *value : 0;
}

bool property_boolean(const Properties& properties, std::string_view name) {
  return property_text(properties, name) == "YES";
}

std::string supported_properties(std::string_view device) {
  std::string names;
  for (const PropertyDef* def : all_rows()) {
    if (!understands(*def, device)) continue;
    names += names.empty() ? "" : " ";
    names += def->name;
  }
  return names;
}

Result<Properties> parse_properties(std::string_view text) {
  Properties properties;
  const std::string_view original = text;
  while (!text.empty()) {
    const size_t comma = find_comma(text);
    std::string_view item = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    while (!item.empty() && item.front() == ' ') item.remove_prefix(1);
    while (!item.empty() && item.back() == ' ') item.remove_suffix(1);
    if (item.empty()) continue;
    const size_t equals = item.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      return error(StatusCode::InvalidArgument,
                   "'{}' in '{}' is not of the form KEY=VALUE,KEY=VALUE", item, original);
    }
    properties[std::string(item.substr(0, equals))] = std::string(item.substr(equals + 1));
  }
  return properties;
}

}  // namespace het
