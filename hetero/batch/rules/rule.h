#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "hetero/batch/items.h"
#include "inference/base/status.h"
#include "inference/model/model.h"

namespace het::hetero {

/// What a batching rule sees: a node of the batched model, whose shapes are known, and what its
/// inputs hold. At least one of them is not Shared.
class RuleContext {
 public:
  RuleContext(const Node& node, std::vector<Items> inputs, size_t batch, size_t& tables)
      : node_(node),
        inputs_(std::move(inputs)),
        outputs_(node.outputs().size()),
        batch_(batch),
        tables_(tables) {}

  const Node& node() const { return node_; }
  int64_t batch() const { return static_cast<int64_t>(batch_); }
  bool has_input(size_t index) const { return node_.input(index) != nullptr; }
  size_t input_count() const { return node_.inputs().size(); }
  /// Shared for an omitted input.
  const Items& input(size_t index) const;
  const Shape& shape(size_t index) const { return node_.input(index)->desc().shape; }
  size_t rank(size_t index) const { return shape(index).size(); }
  const Shape& output_shape(size_t index = 0) const { return node_.output(index)->desc().shape; }
  /// Content of a constant input; null when it is none.
  const Tensor* constant(size_t index) const;
  int64_t get_int(std::string_view name, int64_t fallback) const {
    return node_.attributes().get_int(name, fallback);
  }
  /// The attribute as a dimension of a value of that rank.
  size_t axis(std::string_view name, int64_t fallback, size_t rank) const;
  /// A number for a table of rows that did not exist before.
  size_t new_table() { return ++tables_; }

  void set(size_t output, Items items) {
    if (output < outputs_.size()) outputs_[output] = items;
  }
  void set_all(Items items) { outputs_.assign(outputs_.size(), items); }
  const std::vector<Items>& outputs() const { return outputs_; }

  /// NotSupported: names the node and says why its items cannot be kept apart.
  Failure refuse(std::string_view why) const;
  /// Refuses unless the input is the same for all items.
  Status need_shared(size_t index) const;
  /// The same for all inputs but these.
  Status need_others_shared(std::initializer_list<size_t> inputs) const;
  /// Refuses unless the input's items lie along some dimension.
  Status need_batched(size_t index) const;
  /// Refuses when the node works along the dimension in which the items of an input lie.
  Status need_apart(size_t index, size_t dim) const;

 private:
  const Node& node_;
  std::vector<Items> inputs_;
  std::vector<Items> outputs_;
  size_t batch_;
  size_t& tables_;
};

/// Says for every output what it holds, or refuses.
using BatchingRule = Status (*)(RuleContext& context);

/// The rule of one operator.
struct RuleRow {
  std::string_view type;
  std::string_view domain;
  BatchingRule rule;
  /// Bit i: input i says sizes and may change with the batch; the shape of the output tells.
  uint32_t size_inputs = 0;
  /// Bit i: input i may be Places.
  uint32_t place_inputs = 0;
};

/// Every input that is not the same for all, and every output, has the items in dimension 0.
Status follow_dimension_0(RuleContext& context);

/// The rows of each family.
std::vector<RuleRow> elementwise_rules();
std::vector<RuleRow> movement_rules();
std::vector<RuleRow> indexing_rules();
std::vector<RuleRow> product_rules();
std::vector<RuleRow> reduction_rules();
std::vector<RuleRow> picture_rules();
std::vector<RuleRow> sequence_rules();
std::vector<RuleRow> detection_rules();
/// For nodes of which an input is of rows.
std::vector<RuleRow> row_rules();

/// The rule of an operator, `of_rows` for a node of which an input is of rows; null when it has
/// none.
const RuleRow* find_rule(std::string_view domain, std::string_view type, bool of_rows);

}  // namespace het::hetero
