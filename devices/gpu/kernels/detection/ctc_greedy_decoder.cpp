#include "devices/gpu/plan/launches.h"
#include "devices/gpu/plan/plan_builder.h"
#include "inference/base/registration.h"

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

std::string refuse_sequences(const Node& node) {
  const ElementType type = node.input(0)->desc().type;
  if (type == ElementType::Float32) return {};
  return fmt::format("CTCGreedyDecoderSeqLen of {} has no GPU kernel, only that of float32",
                     to_string(type));
}

/// The step that finds the best class of every row of scores.
Launch best_classes(const PlanBuilder& builder, TensorId scores, TensorId best, int64_t rows,
                    int64_t classes) {
  Launch launch;
  launch.text = {"ctc_greedy_decoder", storage_option(builder.options().stored_type), ""};
  launch.kernel = "best_classes";
  launch.args = {Read{scores}, Write{best}, as_int(rows), as_int(classes)};
  launch.global = {static_cast<size_t>(rows), 1, 1};
  launch.local = builder.row_local();
  return launch;
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
  Launch first = best_classes(builder, scores, best, rows, shape[2]);
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

Status plan_sequences(PlanBuilder& builder, const Node& node) {
  const Shape& shape = node.input(0)->desc().shape;
  const Value* const blank = node.input(2);
  const Value* const counts = node.output(1);
  HET_ASSIGN(const TensorId scores, builder.read(*node.input(0), Format::Plain));
  HET_ASSIGN(const TensorId lengths, builder.read(*node.input(1), Format::Plain));
  TensorId blank_id = kNoTensor;
  if (blank != nullptr) {
    HET_ASSIGN(blank_id, builder.read(*blank, Format::Plain));
  }
  const int64_t rows = shape[0] * shape[1];
  const TensorId best = builder.temporary({ElementType::Int32, {rows}, Format::Plain});
  Launch first = best_classes(builder, scores, best, rows, shape[2]);
  const auto type_of = [](const Value* value) {
    return value != nullptr ? c_type(value->desc().type) : "int";
  };
  first.text.options +=
      fmt::format(" -DLABEL={} -DLENGTH={} -DBLANK={} -DCOUNT={}", type_of(node.output(0)),
                  type_of(node.input(1)), type_of(blank), type_of(counts));
  Launch second;
  second.text = first.text;
  second.kernel = "decode_sequences";
  second.args = {Read{best},
                 Read{lengths},
                 Read{blank_id},
                 Write{builder.write(*node.output(0), Format::Plain)},
                 Write{counts != nullptr ? builder.write(*counts, Format::Plain) : kNoTensor},
                 as_int(shape[1]),
                 as_int(shape[0]),
                 as_int(shape[2]),
                 cl_int{node.attributes().get_int("merge_repeated", 1) != 0}};
  second.global = {static_cast<size_t>(shape[0]), 1, 1};
  second.local = builder.row_local();
  HET_TRY(builder.add_step(node, std::move(first)));
  return builder.add_step(node, std::move(second));
}

}  // namespace

HET_REGISTRATION void register_ctc_greedy_decoder(KernelRegistry& registry) {
  registry.add("het", "CTCGreedyDecoder", {refuse_decoder, plan_decoder});
  registry.add("het", "CTCGreedyDecoderSeqLen", {refuse_sequences, plan_sequences});
}

}  // namespace het::gpu
