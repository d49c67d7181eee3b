#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inference/decoders/output_ports.h"
#include "inference/decoders/readings/graph_readings.h"

namespace het {

/// What the recognisers look at.
struct GraphView {
  const DecoderConfig& entry;
  const Model& model;
  const std::vector<Port>& inputs;
  const std::vector<Port>& outputs;
  const std::vector<size_t>& selected;
  std::vector<Reading>& readings;

  const Port& port(size_t i) const { return outputs[selected[i]]; }
  Reading& add(std::string converter, std::string reason) const {
    Reading& reading = readings.emplace_back(Reading{entry, std::move(reason)});
    reading.config.converter = std::move(converter);
    return reading;
  }
};

/// The node that makes an output, seen through operators that only change its shape or type.
const Node* maker_of(const Model& model, const std::string& output);

bool is_made_by(const Model& model, const Port& port, std::string_view op_type);

bool has_op(const Model& model, std::string_view op_type);

/// True when the converter can be made for the outputs: for those whose shapes no other model has.
bool fits(const GraphView& graph, const std::string& converter);

/// Number of values of a vector [values], or with the batch of the picture input in front and any
/// dimensions of 1: [batch, values], [batch, values, 1, 1] ..., or nothing.
std::optional<int64_t> vector_length(const Port& port, const std::vector<Port>& inputs);

}  // namespace het
