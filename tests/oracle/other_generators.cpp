#include <algorithm>

#include "inference/ops/onnx_type.h"
#include "tests/oracle/generator.h"

namespace het::oracle {
namespace {

constexpr std::string_view kEveryType =
    "f32 f16 f64 bf16 i8 i16 i32 i64 u8 u16 u32 u64 bool i4 u4 i2 u2 "
    "f8e4m3 f8e4m3fnuz f8e5m2 f8e5m2fnuz f4e2m1 f8e8m0";

/// Folding makes the whole model a constant; devices that do not fold run the node.
void constant(Draw& d) {
  const std::string form =
      d.word("value value value value_float value_floats value_int value_ints");
  if (form == "value") return d.attribute(form, d.tensor(d.type(), d.shape()));
  if (form == "value_float") d.attributes("value_float:f=0|-1.5");
  if (form == "value_floats") d.attributes("value_floats:fs=0|1,2.5,-3");
  if (form == "value_int") d.attributes("value_int:i=0|-7|9007199254740993");
  if (form == "value_ints") d.attributes("value_ints:is=0|5,-6");
}

/// Values within what the narrower of both types holds, except for the narrow floats' any bits.
void cast(Draw& d) {
  const ElementType to = d.type();
  const bool to_unsigned = to == ElementType::Bool || to_string(to).starts_with('u');
  const double most = bit_width(to) < 8 ? 1 : 100;
  d.input(d.type(), d.shape(), to_unsigned ? 0 : -most, most);
  if (d.generator().type == "CastLike") {
    d.input(to, {d.size()});
  } else {
    d.attribute("to", onnx_type_code(to));
  }
  if (to_string(to).starts_with("float8")) d.attributes("saturate:i=|0");
}

void bit_cast(Draw& d) {
  const ElementType from = d.type();
  constexpr std::pair<size_t, std::string_view> kSameWidth[] = {
      {64, "f64 i64 u64"}, {32, "f32 i32 u32"}, {16, "f16 bf16 i16 u16"},
      {8, "i8 u8 f8e5m2"}, {4, "i4 u4 f4e2m1"}, {2, "i2 u2"}};
  d.input(from, d.shape());
  for (const auto& [width, names] : kSameWidth) {
    if (width == bit_width(from)) d.attribute("to", onnx_type_code(d.type(names)));
  }
}

void dropout(Draw& d) {
  d.input(d.type(), d.shape());
  const int64_t given = d.below(3);
  if (given > 0) d.input(Tensor::scalar(0.5f));
  if (given > 1) d.constant(Tensor::scalar(false));
  d.attributes("seed:i=|7");
  d.call().outputs = static_cast<size_t>(d.between(1, 2));
}

void cross_entropy(Draw& d) {
  const bool softmax = d.generator().type == "SoftmaxCrossEntropyLoss";
  const ElementType type = d.type();
  const int64_t classes = d.size();
  Shape scores{d.size(), classes};
  Shape labels{scores[0]};
  for (int64_t more = d.below(3); more > 0; --more) {
    labels.push_back(d.size());
    scores.push_back(labels.back());
  }
  d.input(type, scores);
  d.input(d.tensor(d.type("i64 i32"), labels, 0, static_cast<double>(classes - 1)));
  if (d.flag()) d.input(type, {classes}, 0.25, 2);
  d.attributes("reduction:s=|none|sum|mean");
  d.attributes("ignore_index:i=|0|-1");
  if (softmax) d.call().outputs = static_cast<size_t>(d.between(1, 2));
}

/// Rate, count of updates, then values, gradients and states of one or two tensors.
void gradient_step(Draw& d) {
  const ElementType type = d.type();
  const bool adam = d.generator().type == "Adam";
  const int64_t count = d.between(1, 2);
  std::vector<Shape> shapes;
  for (int64_t i = 0; i < count; ++i) shapes.push_back(d.shape(0, 2));
  d.input(ElementType::Float32, {}, 0.01, 0.5);
  d.input(Tensor::scalar<int64_t>(d.between(0, 3)));
  const int64_t kinds = adam ? 4 : 3;
  for (int64_t kind = 0; kind < kinds; ++kind) {
    // States are sums of squares, except Momentum's.
    for (const Shape& shape : shapes) d.input(type, shape, kind < 2 ? -2 : 0.25, 2);
  }
  d.attributes(d.generator().attributes);
  d.call().outputs = static_cast<size_t>(count * (kinds - 1));
}

void tf_idf_vectorizer(Draw& d) {
  // Two single items and three pairs.
  d.input(ElementType::Int64, d.flag() ? Shape{d.size()} : Shape{d.size(), d.size()}, 1, 4);
  d.attribute("pool_int64s", Ints{1, 3, 1, 2, 2, 3, 3, 1});
  d.attribute("ngram_counts", Ints{0, 2});
  d.attribute("ngram_indexes", Ints{0, 3, 1, 2, 4});
  d.attributes(
      "mode:s=TF|IDF|TFIDF min_gram_length:i=1|2 max_gram_length:i=2 max_skip_count:i=0|1|3 "
      "weights:fs=|1,0.5,2,4,0.25");
}

/// The generators of random numbers start from the seed, or from the node's name: every device
/// must draw the same.
void random(Draw& d) {
  d.attribute("shape", d.shape(0, 3));
  d.attributes(d.generator().attributes);
  d.attributes("seed:f=|1.5 dtype:i=|10|11");
}

void random_like(Draw& d) {
  d.input(d.type(), d.shape());
  d.attributes(d.generator().attributes);
  d.attributes("seed:f=|1.5 dtype:i=|10|11");
}

void bernoulli(Draw& d) {
  d.input(d.type(), d.shape(), 0, 1);
  d.attributes("seed:f=|1.5 dtype:i=|7|9|1");
}

void multinomial(Draw& d) {
  d.input(d.type(), {d.dim(), d.size()}, -2, 2);
  d.attributes("sample_size:i=|5 seed:f=|1.5 dtype:i=|7|6");
}

void state(Draw& d) {
  d.call().inputs.push_back({d.tensor(d.type(), d.shape()), false});
  d.attribute("variable_id", std::string("v"));
}

/// Any inputs; the outputs are what the attributes say.
void stub(Draw& d) {
  const int64_t inputs = d.between(1, 3);
  for (int64_t i = 0; i < inputs; ++i) d.input(d.type(), d.shape());
  d.call().outputs = static_cast<size_t>(d.between(1, 2));
  std::vector<std::string> types;
  Ints ranks;
  Ints dims;
  for (size_t i = 0; i < d.call().outputs; ++i) {
    const Shape shape = d.shape();
    types.emplace_back(to_string(d.type()));
    ranks.push_back(static_cast<int64_t>(shape.size()));
    dims.insert(dims.end(), shape.begin(), shape.end());
  }
  d.attribute("output_types", types);
  d.attribute("output_ranks", ranks);
  d.attribute("output_dims", dims);
}

constexpr Generator kOtherTable[] = {
    {"", "Constant", constant, kEveryType},
    {"", "Cast", cast, kEveryType},
    {"", "CastLike", cast, kEveryType},
    {"", "BitCast", bit_cast, "f32 f16 f64 bf16 i8 i16 i32 i64 u8 u16 u32 u64 i4 u4 i2 f8e5m2"},
    {"", "Dropout", dropout, kFloats},
    {"", "NegativeLogLikelihoodLoss", cross_entropy, kFloats},
    {"", "SoftmaxCrossEntropyLoss", cross_entropy, kFloats},
    {"ai.onnx.preview.training", "Adagrad", gradient_step, "f32 f64", -2, 2,
     "decay_factor:f=|0.25 epsilon:f=|0.5 norm_coefficient:f=|0.125"},
    {"ai.onnx.preview.training", "Adam", gradient_step, "f32 f64", -2, 2,
     "alpha:f=|0.5 beta:f=|0.75 norm_coefficient:f=|0.125 norm_coefficient_post:f=|0.25"},
    {"ai.onnx.preview.training", "Momentum", gradient_step, "f32 f64", -2, 2,
     "alpha:f=0.5 beta:f=0.75 norm_coefficient:f=0.125 mode:s=standard|nesterov"},
    {"", "TfIdfVectorizer", tf_idf_vectorizer},
    {"", "RandomNormal", random, "f32", -2, 2, "mean:f=|2 scale:f=|0.5"},
    {"", "RandomUniform", random, "f32", -2, 2, "low:f=|-1 high:f=|3"},
    {"", "RandomNormalLike", random_like, kFloats, -2, 2, "mean:f=|2 scale:f=|0.5"},
    {"", "RandomUniformLike", random_like, kFloats, -2, 2, "low:f=|-1 high:f=|3"},
    {"", "Bernoulli", bernoulli, kFloats},
    {"", "Multinomial", multinomial, kFloats},
    {"het", "Stub", stub, "f32 f16 i64 i32 u8 bool"},
    {"het", "ReadValue", state, kFloats},
    {"het", "Assign", state, kFloats},
};

}  // namespace

std::span<const Generator> other_generators() {
  return kOtherTable;
}

}  // namespace het::oracle
