#include "devices/gpu/launches.h"
#include "devices/gpu/plan_builder.h"
#include "inference/registration.h"

namespace het::gpu {
namespace {

std::string refuse_decoder(const Node& node) {
  for (const Value* value : node.inputs()) {
    if (value->desc().type != ElementType::Float32) {
      return fmt::format("CTCGreedyDecoder of {} has no GPU kernel, only that of float32",
                         to_string(value->desc().type));
    }
  }
  return {};
}

Status plan_decoder(PlanBuilder& builder, const Node& node) {
  const Shape& shape = node.input(0)->desc().shape;
  const ElementType type = builder.options().stored_type;
  const int64_t rows = shape[0] * shape[1];
  HET_ASSIGN(const TensorId scores, builder.read(*node.input(0), Format::Plain, type));
  HET_ASSIGN(const TensorId mask, builder.read(*node.input(1), Format::Plain, type));
  const TensorId best = builder.temporary({ElementType::Int32, {rows}, Format::Plain});
  // Classes above 2048 are no numbers of float16.
  const TensorId labels = builder.write(
      *node.output(), {ElementType::Float32, node.output()->desc().shape, Format::Plain});
  Launch first;
  first.text = {"ctc_greedy_decoder", storage_option(type), ""};
  first.kernel = "best_classes";
  first.args = {Read{scores}, Write{best}, as_int(rows), as_int(shape[2])};
  first.global = {static_cast<size_t>(rows), 1, 1};
  first.local = builder.row_local();
  Launch second;
  second.text = first.text;
  second.kernel = "decode_classes";
  second.args = {Read{best},
                 Read{mask},
                 Write{labels},
                 as_int(shape[0]),
                 as_int(shape[1]),
                 as_int(shape[2]),
                 cl_int{node.attributes().get_int("ctc_merge_repeated", 1) != 0}};
  second.global = {static_cast<size_t>(shape[1]), 1, 1};
  second.local = builder.row_local();
  HET_TRY(builder.add_step(node, std::move(first)));
  return builder.add_step(node, std::move(second));
}

}  // namespace

HET_REGISTRATION void register_ctc_greedy_decoder(KernelRegistry& registry) {
  registry.add("het", "CTCGreedyDecoder", {refuse_decoder, plan_decoder});
}

}  // namespace het::gpu
