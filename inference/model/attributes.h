#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "inference/base/visibility.h"
#include "inference/tensors/tensor.h"

namespace het {

class Model;

/// One attribute of a node, in ONNX's types. A graph attribute is the body of a control-flow node.
using Attribute =
    std::variant<int64_t, float, std::string, std::vector<int64_t>, std::vector<float>,
                 std::vector<std::string>, Tensor, std::shared_ptr<Model>>;

/// The attributes of a node by name. get_* return the fallback when the attribute is absent or has
/// another type; validation of types happens once, in the operator's infer function.
class HET_API Attributes {
 public:
  bool has(std::string_view name) const { return find(name) != nullptr; }
  const Attribute* find(std::string_view name) const;
  void set(std::string name, Attribute value) { values_[std::move(name)] = std::move(value); }
  void erase(std::string_view name);

  int64_t get_int(std::string_view name, int64_t fallback) const;
  float get_float(std::string_view name, float fallback) const;
  std::string get_string(std::string_view name, std::string_view fallback) const;
  std::vector<int64_t> get_ints(std::string_view name, std::vector<int64_t> fallback = {}) const;
  std::vector<float> get_floats(std::string_view name, std::vector<float> fallback = {}) const;
  std::vector<std::string> get_strings(std::string_view name) const;

  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }
  size_t size() const { return values_.size(); }

 private:
  std::map<std::string, Attribute, std::less<>> values_;
};

}  // namespace het
