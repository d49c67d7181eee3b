#include "hetero/placement/cut_types.h"

#include <algorithm>
#include <set>

#include "inference/passes/convert_ports.h"
#include "inference/passes/infer_shapes.h"

namespace het::hetero {
namespace {

bool is_model_output(const Split& split, const SubgraphPort& port) {
  return std::ranges::any_of(split.outputs, [&](const TensorSource& source) {
    return source.kind == TensorSource::Kind::SubgraphOutput &&
           SubgraphPort{source.subgraph, source.index} == port;
  });
}

bool crosses_as_half(const Split& split, const CutValue& cut, const CrossingRules& rules) {
  // What the application gets has the model's type.
  if (cut.desc.type != ElementType::Float32 || !cut.desc.is_static() ||
      is_model_output(split, cut.producer)) {
    return false;
  }
  const std::string& from = split.subgraphs[cut.producer.subgraph].device;
  std::set<std::string> readers;
  for (const SubgraphPort& reader : cut.readers) {
    // Several subgraphs of a device would each convert.
    if (!readers.insert(split.subgraphs[reader.subgraph].device).second) return false;
  }
  const bool is_from_half = rules.is_half(from);
  const bool are_readers_half = std::ranges::all_of(readers, rules.is_half);
  if (!is_from_half && !are_readers_half) return false;
  return std::ranges::all_of(readers, [&](const std::string& to) {
    return rules.half_is_cheaper(from, to, cut.desc).value_or(is_from_half && rules.is_half(to));
  });
}

}  // namespace

Result<CutTypes> choose_cut_types(const Split& split, const CrossingRules& rules) {
  CutTypes types;
  types.models.resize(split.subgraphs.size());
  const auto model_of = [&](size_t subgraph) -> Model& {
    if (types.models[subgraph] == nullptr) {
      types.models[subgraph] = split.subgraphs[subgraph].model->clone();
    }
    return *types.models[subgraph];
  };
  for (const CutValue& cut : split.cuts) {
    TensorDesc& desc = types.descs.emplace_back(cut.desc);
    if (!crosses_as_half(split, cut, rules)) continue;
    desc.type = ElementType::Float16;
    HET_TRY(set_output_type(model_of(cut.producer.subgraph), cut.producer.index, desc.type));
    for (const SubgraphPort& reader : cut.readers) {
      HET_TRY(set_input_type(model_of(reader.subgraph), reader.index, desc.type));
    }
  }
  for (const auto& model : types.models) {
    if (model == nullptr) continue;
    HET_TRY(model->sort());
    HET_TRY(infer_shapes(*model));
  }
  return types;
}

}  // namespace het::hetero
