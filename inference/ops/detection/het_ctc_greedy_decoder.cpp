#include <algorithm>

#include "inference/base/registration.h"
#include "inference/ops/double_values.h"
#include "inference/ops/numeric_cast.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/type_dispatch.h"

namespace het {
namespace {

Status infer_decoder(InferContext& context) {
  HET_TRY(check_attributes(context.attributes(), {{"ctc_merge_repeated", AttributeType::Int}}));
  HET_TRY(check_input(context, 0, "data", kFloatTypes));
  HET_TRY(check_input(context, 1, "sequence_mask", kFloatTypes));
  const Shape& x = context.shape(0);
  if (x.size() != 3 || context.shape(1) != Shape{x[0], x[1]} || x[2] < 1) {
    return error(StatusCode::ShapeMismatch,
                 "data has shape {} and sequence_mask {}, but they must have [steps, n, classes] "
                 "with a class or more and [steps, n]",
                 to_string(x), to_string(context.shape(1)));
  }
  context.set_output(0, context.type(0), {x[1], x[0], 1, 1});
  return {};
}

/// Writes the classes of the best path through `steps` rows that lie `stride` values apart: the
/// largest score of each row (the first of equal ones) without blanks and, when merged, without
/// repetitions. Gives their number.
template <class T, class Label>
int64_t decode(const T* scores, int64_t steps, int64_t stride, int64_t classes, int64_t blank,
               bool merge, Label* labels) {
  int64_t count = 0;
  int64_t previous = -1;
  for (int64_t step = 0; step < steps; ++step) {
    const T* row = scores + step * stride;
    const int64_t best = std::max_element(row, row + classes) - row;
    if (best != blank && !(merge && best == previous)) {
      labels[count++] = numeric_cast<Label>(static_cast<double>(best));
    }
    previous = best;
  }
  return count;
}

/// The last class is the blank; the first 0 of a mask ends its sequence; -1 fills the rest.
/// docs.openvino.ai, operation specification CTCGreedyDecoder-1.
Status evaluate_decoder(EvaluateContext& context) {
  const Tensor& x = context.input(0);
  const bool merge = context.attributes().get_int("ctc_merge_repeated", 1) != 0;
  HET_ASSIGN(const std::vector<double> mask, to_double_vector(context.input(1)));
  const int64_t steps = x.shape()[0];
  const int64_t batch = x.shape()[1];
  const int64_t classes = x.shape()[2];
  return dispatch_float(x.type(), [&]<class T>() -> Status {
    const std::span<T> labels = context.output(0).values<T>();
    std::fill(labels.begin(), labels.end(), numeric_cast<T>(-1.0));
    for (int64_t n = 0; n < batch; ++n) {
      int64_t length = 0;
      while (length < steps && mask[static_cast<size_t>(length * batch + n)] != 0) ++length;
      decode(x.data<T>() + n * classes, length, batch * classes, classes, classes - 1, merge,
             labels.data() + n * steps);
    }
    return {};
  });
}

Result<ElementType> index_type(const Attributes& attributes, std::string_view name) {
  HET_ASSIGN(const ElementType type, parse_element_type(attributes.get_string(name, "int32")));
  if (kIndexTypes.contains(type)) return type;
  return error(StatusCode::InvalidArgument, "{} is {}, but must be int32 or int64", name,
               to_string(type));
}

Status infer_decoder_seq_len(InferContext& context) {
  const Attributes& attributes = context.attributes();
  HET_TRY(check_attributes(attributes, {{"merge_repeated", AttributeType::Int},
                                        {"classes_index_type", AttributeType::String},
                                        {"sequence_length_type", AttributeType::String}}));
  HET_TRY(check_input(context, 0, "data", kFloatTypes));
  HET_TRY(check_input(context, 1, "sequence_length", kIndexTypes));
  HET_TRY(check_optional_input(context, 2, "blank_index", kIndexTypes));
  const Shape& x = context.shape(0);
  if (x.size() != 3 || context.shape(1) != Shape{x[0]} || x[2] < 1 ||
      (context.has_input(2) && element_count(context.shape(2)) != 1)) {
    return error(StatusCode::ShapeMismatch,
                 "data has shape {} and sequence_length {}, but they must have [n, steps, classes] "
                 "with a class or more and [n], and blank_index must be one value",
                 to_string(x), to_string(context.shape(1)));
  }
  HET_ASSIGN(const ElementType labels, index_type(attributes, "classes_index_type"));
  HET_ASSIGN(const ElementType lengths, index_type(attributes, "sequence_length_type"));
  context.set_output(0, labels, {x[0], x[1]});
  context.set_output(1, lengths, {x[0]});
  return {};
}

/// The blank is the last class where blank_index is omitted; -1 fills the rest.
/// docs.openvino.ai, operation specification CTCGreedyDecoderSeqLen-6.
Status evaluate_decoder_seq_len(EvaluateContext& context) {
  const Tensor& x = context.input(0);
  const bool merge = context.attributes().get_int("merge_repeated", 1) != 0;
  HET_ASSIGN(const std::vector<int64_t> lengths, to_int64_vector(context.input(1)));
  const int64_t steps = x.shape()[1];
  const int64_t classes = x.shape()[2];
  int64_t blank = classes - 1;
  if (context.has_input(2)) {
    HET_ASSIGN(const std::vector<int64_t> given, to_int64_vector(context.input(2)));
    blank = given[0];
  }
  std::vector<int64_t> counts;
  HET_TRY(dispatch_float(x.type(), [&]<class T>() -> Status {
    return dispatch_index(context.output(0).type(), [&]<class Label>() -> Status {
      const std::span<Label> labels = context.output(0).values<Label>();
      std::fill(labels.begin(), labels.end(), Label(-1));
      for (int64_t n = 0; n < x.shape()[0]; ++n) {
        const int64_t length = lengths[static_cast<size_t>(n)];
        if (length < 0 || length > steps) {
          return error(StatusCode::InvalidArgument,
                       "sequence_length of sequence {} is {}, but must be from 0 to {}", n, length,
                       steps);
        }
        counts.push_back(decode(x.data<T>() + n * steps * classes, length, classes, classes, blank,
                                merge, labels.data() + n * steps));
      }
      return {};
    });
  }));
  if (!context.has_output(1)) return {};
  return dispatch_index(context.output(1).type(), [&]<class Length>() -> Status {
    std::transform(counts.begin(), counts.end(), context.output(1).data<Length>(),
                   [](int64_t count) { return static_cast<Length>(count); });
    return {};
  });
}

}  // namespace

HET_REGISTRATION void register_het_ctc_greedy_decoder(OpRegistry& registry) {
  registry.add({"CTCGreedyDecoder", "het", 1, 2, 2, infer_decoder, evaluate_decoder});
  registry.add(
      {"CTCGreedyDecoderSeqLen", "het", 6, 2, 3, infer_decoder_seq_len, evaluate_decoder_seq_len});
}

}  // namespace het
