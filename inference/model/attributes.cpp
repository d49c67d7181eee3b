#include "inference/model/attributes.h"

namespace het {
namespace {

template <class T>
const T* value_of(const Attributes& attributes, std::string_view name) {
  const Attribute* attribute = attributes.find(name);
  return attribute ? std::get_if<T>(attribute) : nullptr;
}

}  // namespace

const Attribute* Attributes::find(std::string_view name) const {
  const auto it = values_.find(name);
  return it == values_.end() ? nullptr : &it->second;
}

void Attributes::erase(std::string_view name) {
  const auto it = values_.find(name);
  if (it != values_.end()) values_.erase(it);
}

int64_t Attributes::get_int(std::string_view name, int64_t fallback) const {
  const auto* value = value_of<int64_t>(*this, name);
  return value ? *value : fallback;
}

float Attributes::get_float(std::string_view name, float fallback) const {
  const auto* value = value_of<float>(*this, name);
  return value ? *value : fallback;
}

std::string Attributes::get_string(std::string_view name, std::string_view fallback) const {
  const auto* value = value_of<std::string>(*this, name);
  return value ? *value : std::string(fallback);
}

std::vector<int64_t> Attributes::get_ints(std::string_view name,
                                          std::vector<int64_t> fallback) const {
  const auto* value = value_of<std::vector<int64_t>>(*this, name);
  return value ? *value : std::move(fallback);
}

std::vector<float> Attributes::get_floats(std::string_view name,
                                          std::vector<float> fallback) const {
  const auto* value = value_of<std::vector<float>>(*this, name);
  return value ? *value : std::move(fallback);
}

std::vector<std::string> Attributes::get_strings(std::string_view name) const {
  const auto* value = value_of<std::vector<std::string>>(*this, name);
  return value ? *value : std::vector<std::string>();
}

}  // namespace het
