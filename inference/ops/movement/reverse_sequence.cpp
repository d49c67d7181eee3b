#include <cstring>

#include "inference/base/registration.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/strided_copy.h"

namespace het {
namespace {

struct SequenceAxes {
  int64_t batch;
  int64_t time;
};

Result<SequenceAxes> sequence_axes(const Attributes& attributes, int64_t rank) {
  HET_TRY(check_attributes(
      attributes, {{"batch_axis", AttributeType::Int}, {"time_axis", AttributeType::Int}}));
  SequenceAxes axes{};
  HET_ASSIGN(axes.batch, normalize_axis(attributes.get_int("batch_axis", 1), rank, "batch_axis"));
  HET_ASSIGN(axes.time, normalize_axis(attributes.get_int("time_axis", 0), rank, "time_axis"));
  if (axes.batch > 1 || axes.time > 1 || axes.batch == axes.time) {
    return error(StatusCode::InvalidArgument,
                 "batch_axis {} and time_axis {} must be 0 and 1 or 1 and 0", axes.batch,
                 axes.time);
  }
  return axes;
}

Status infer_reverse_sequence(InferContext& context) {
  HET_TRY(check_input(context, 0, "input", kWholeByteTypes));
  HET_TRY(check_input(context, 1, "sequence_lens", kIndexTypes));
  HET_TRY(check_rank(context, 0, "input", 2, kAnyRank));
  HET_ASSIGN(const SequenceAxes axes, sequence_axes(context.attributes(), context.rank(0)));
  const int64_t batch = context.shape(0)[static_cast<size_t>(axes.batch)];
  if (context.shape(1) != Shape{batch}) {
    return error(StatusCode::ShapeMismatch, "sequence_lens has shape {}, but the batch is {}",
                 to_string(context.shape(1)), batch);
  }
  context.set_output(0, context.type(0), context.shape(0));
  return {};
}

Status evaluate_reverse_sequence(EvaluateContext& context) {
  const Tensor& x = context.input(0);
  Tensor& y = context.output(0);
  HET_ASSIGN(const std::vector<int64_t> lengths, to_int64_vector(context.input(1)));
  HET_ASSIGN(const SequenceAxes axes, sequence_axes(context.attributes(), x.rank()));
  const int64_t batch = x.shape()[static_cast<size_t>(axes.batch)];
  const int64_t time = x.shape()[static_cast<size_t>(axes.time)];
  for (const int64_t length : lengths) {
    if (length < 0 || length > time) {
      return error(StatusCode::InvalidArgument, "sequence length {} is outside [0, {}]", length,
                   time);
    }
  }
  if (y.element_count() == 0) return {};
  copy_elements(x, y);
  const size_t slice = x.size_bytes() / static_cast<size_t>(batch * time);
  const auto offset = [&](int64_t b, int64_t t) {
    return static_cast<size_t>(axes.batch == 0 ? b * time + t : t * batch + b) * slice;
  };
  for (int64_t b = 0; b < batch; ++b) {
    const int64_t length = lengths[static_cast<size_t>(b)];
    for (int64_t t = 0; t < length; ++t) {
      std::memcpy(y.bytes() + offset(b, t), x.bytes() + offset(b, length - 1 - t), slice);
    }
  }
  return {};
}

}  // namespace

HET_REGISTRATION void register_reverse_sequence(OpRegistry& registry) {
  registry.add(
      {"ReverseSequence", "", 28, 2, 2, infer_reverse_sequence, evaluate_reverse_sequence});
}

}  // namespace het
