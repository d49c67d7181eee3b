#include "tests/oracle/generator.h"

namespace het::oracle {
namespace {

std::vector<std::string> activations(Draw& d, int64_t count) {
  std::vector<std::string> list;
  for (int64_t i = 0; i < count; ++i) {
    list.push_back(d.word("Tanh Sigmoid Relu HardSigmoid Softsign Affine ScaledTanh"));
  }
  return list;
}

void recurrent(Draw& d) {
  const std::string_view kind = d.generator().type;
  const bool lstm = kind == "LSTM";
  const int64_t gates = lstm ? 4 : kind == "GRU" ? 3 : 1;
  const int64_t functions = lstm ? 3 : kind == "GRU" ? 2 : 1;
  const ElementType type = d.type();
  const std::string direction = d.word("forward reverse bidirectional");
  const int64_t directions = direction == "bidirectional" ? 2 : 1;
  const bool batch_first = d.below(4) == 3;
  const int64_t steps = d.between(1, 6);
  const int64_t n = d.dim();
  const int64_t input = d.size();
  const int64_t hidden = d.pick<int64_t>({1, 2, 3, 5, 8, 16});
  const int64_t rows = gates * hidden;
  const Shape state = batch_first ? Shape{n, directions, hidden} : Shape{directions, n, hidden};
  d.input(type, batch_first ? Shape{n, steps, input} : Shape{steps, n, input}, -1, 1);
  d.weights(type, {directions, rows, input}, -1, 1);
  d.weights(type, {directions, rows, hidden}, -1, 1);
  // The optional inputs in order, each only when some later one is given.
  const bool biased = d.flag();
  const bool lengths = d.below(4) == 3;
  const bool starts = d.flag();
  const bool cell = lstm && d.flag();
  const bool peepholes = lstm && d.below(4) == 3;
  const int64_t last = peepholes ? 7 : cell ? 6 : starts ? 5 : lengths ? 4 : biased ? 3 : 2;
  if (last >= 3) biased ? d.weights(type, {directions, 2 * rows}, -1, 1) : d.omit();
  if (last >= 4)
    lengths ? d.input(ElementType::Int32, {n}, 1, static_cast<double>(steps)) : d.omit();
  if (last >= 5) starts ? d.input(type, state, -1, 1) : d.omit();
  if (last >= 6) cell ? d.input(type, state, -1, 1) : d.omit();
  if (last >= 7) d.weights(type, {directions, 3 * hidden}, -1, 1);
  d.attribute("hidden_size", hidden);
  if (direction != "forward") d.attribute("direction", direction);
  if (batch_first) d.attribute("layout", int64_t{1});
  if (d.below(4) == 3) d.attribute("activations", activations(d, functions * directions));
  d.attributes("clip:f=||||0.5");
  if (lstm) d.attributes("input_forget:i=|||1");
  if (kind == "GRU") d.attributes("linear_before_reset:i=|1");
  d.call().outputs = lstm ? 3 : 2;
}

/// Weights of 8 bits with a scale for each direction or for each column; mostly all of them are
/// constants, as a quantiser writes them.
void dynamic_quantize_lstm(Draw& d) {
  const std::string direction = d.word("forward reverse bidirectional");
  const int64_t directions = direction == "bidirectional" ? 2 : 1;
  const int64_t steps = d.between(1, 6);
  const int64_t n = d.dim();
  const int64_t input = d.size();
  const int64_t hidden = d.pick<int64_t>({1, 2, 3, 5, 8, 16});
  const ElementType type = d.flag() ? ElementType::Int8 : ElementType::UInt8;
  const double middle = type == ElementType::Int8 ? 0 : 128;
  d.input(ElementType::Float32, {steps, n, input}, -1, 1);
  const bool constant = d.below(4) != 3;
  const auto weights = [&](ElementType of, const Shape& shape, double low, double high) {
    constant ? d.constant(d.tensor(of, shape, low, high))
             : d.ordinary_weights(of, shape, low, high);
  };
  weights(type, {directions, input, 4 * hidden}, middle - 127, middle + 127);
  weights(type, {directions, hidden, 4 * hidden}, middle - 127, middle + 127);
  d.flag() ? d.weights(ElementType::Float32, {directions, 8 * hidden}, -1, 1) : d.omit();
  d.below(4) == 3 ? d.input(ElementType::Int32, {n}, 1, static_cast<double>(steps)) : d.omit();
  const Shape state{directions, n, hidden};
  d.flag() ? d.input(ElementType::Float32, state, -1, 1) : d.omit();
  d.flag() ? d.input(ElementType::Float32, state, -1, 1) : d.omit();
  d.below(4) == 3 ? d.weights(ElementType::Float32, {directions, 3 * hidden}, -1, 1) : d.omit();
  for (int i = 0; i < 2; ++i) {
    const Shape grid = d.flag() ? Shape{directions} : Shape{directions, 4 * hidden};
    weights(ElementType::Float32, grid, 0.001, 0.01);
    weights(type, grid, middle, middle);
  }
  d.attribute("hidden_size", hidden);
  if (direction != "forward") d.attribute("direction", direction);
  d.attributes("clip:f=||||0.5");
  d.attributes("input_forget:i=|||1");
  d.call().outputs = 3;
}

void attention(Draw& d) {
  const ElementType type = d.type();
  const int64_t n = d.dim();
  const int64_t kv_heads = d.between(1, 3);
  const int64_t heads = kv_heads * d.between(1, 2);
  const int64_t queries = d.size();
  const int64_t keys = d.size();
  const int64_t size = d.size();
  const int64_t v_size = d.flag() ? size : d.size();
  const bool packed = d.flag();
  d.input(type, packed ? Shape{n, queries, heads * size} : Shape{n, heads, queries, size});
  d.input(type, packed ? Shape{n, keys, kv_heads * size} : Shape{n, kv_heads, keys, size});
  d.input(type, packed ? Shape{n, keys, kv_heads * v_size} : Shape{n, kv_heads, keys, v_size});
  if (packed) {
    d.attribute("q_num_heads", heads);
    d.attribute("kv_num_heads", kv_heads);
  }
  const int64_t past = d.below(3) == 2 ? d.between(1, 4) : 0;
  const int64_t total = past + keys;
  const int64_t masked = d.below(3);
  if (masked > 0) {
    d.input(masked == 1 ? ElementType::Bool : type,
            d.pick<Shape>({{queries, total}, {1, 1, queries, total}, {n, 1, queries, total}}));
  } else if (past > 0) {
    d.omit();
  }
  if (past > 0) {
    d.input(type, {n, kv_heads, past, size});
    d.input(type, {n, kv_heads, past, v_size});
  }
  d.attributes("is_causal:i=|1 scale:f=|0.5 softcap:f=||2");
  d.call().outputs = static_cast<size_t>(d.pick<int64_t>({1, 1, 3, 4}));
  if (d.call().outputs == 4) d.attributes("qk_matmul_output_mode:i=|1|2|3");
}

void rotary_embedding(Draw& d) {
  const ElementType type = d.type();
  const int64_t n = d.dim();
  const int64_t length = d.dim();
  const int64_t heads = d.between(1, 3);
  const int64_t half = d.between(1, 4);
  const bool partly = d.below(4) == 3;
  const int64_t size = 2 * half + (partly ? 2 : 0);
  const bool packed = d.flag();
  const bool by_position = d.flag();
  d.input(type, packed ? Shape{n, length, heads * size} : Shape{n, heads, length, size});
  const Shape cache = by_position ? Shape{9, half} : Shape{n, length, half};
  d.weights(type, cache, -1, 1);
  d.weights(type, cache, -1, 1);
  if (by_position) d.input(ElementType::Int64, {n, length}, 0, 8);
  if (packed) d.attribute("num_heads", heads);
  if (partly) d.attribute("rotary_embedding_dim", 2 * half);
  d.attributes("interleaved:i=|1");
}

void linear_attention(Draw& d) {
  const ElementType type = d.type();
  const int64_t n = d.between(1, 2);
  const int64_t length = d.between(1, 5);
  const int64_t kv_heads = d.between(1, 2);
  const int64_t heads = kv_heads * d.between(1, 2);
  const int64_t size = d.between(1, 4);
  const int64_t v_size = d.between(1, 4);
  const std::string rule = d.word("linear gated delta gated_delta");
  d.input(type, {n, length, heads * size}, -0.5, 0.5);
  d.input(type, {n, length, kv_heads * size}, -0.5, 0.5);
  d.input(type, {n, length, kv_heads * v_size});
  const bool stated = d.flag();
  const bool decays = rule.starts_with("gated");
  const bool corrects = rule.ends_with("delta");
  if (stated) {
    d.input(type, {n, kv_heads, size, v_size});
  } else if (decays || corrects) {
    d.omit();
  }
  if (decays) {
    d.input(type, {n, length, d.flag() ? kv_heads * size : kv_heads}, -1, 0);
  } else if (corrects) {
    d.omit();
  }
  if (corrects) d.input(type, {n, length, d.flag() ? int64_t{1} : kv_heads}, 0, 1);
  d.attribute("q_num_heads", heads);
  d.attribute("kv_num_heads", kv_heads);
  d.attribute("update_rule", rule);
  d.attributes("scale:f=|0.5");
  d.call().outputs = 2;
}

void causal_conv(Draw& d) {
  const ElementType type = d.type();
  const int64_t n = d.dim();
  const int64_t c = d.size();
  const int64_t kernel = d.between(1, 4);
  d.input(type, {n, c, d.size()});
  d.weights(type, {c, 1, kernel});
  const int64_t optional = d.below(4);  // bits: bias, state
  if ((optional & 1) != 0) {
    d.weights(type, {c});
  } else if (optional != 0) {
    d.omit();
  }
  if ((optional & 2) != 0) d.input(type, {n, c, kernel - 1});
  d.attributes("activation:s=|none|silu|swish");
  d.call().outputs = 2;
}

void swiglu(Draw& d) {
  const ElementType type = d.type();
  const Shape shape = d.shape();
  d.input(type, shape);
  d.input(type, shape);
  d.attributes("alpha:f=|1.5");
}

/// All inputs are of one type. Tokens are few, so that a sequence ends before its last step.
void gather_tree(Draw& d) {
  const ElementType type = d.type();
  const int64_t steps = d.dim();
  const int64_t n = d.dim();
  const int64_t beams = d.dim();
  const auto whole = [&](const Shape& shape, int64_t most) {
    return converted(d.tensor(ElementType::Int64, shape, 0, static_cast<double>(most)), type);
  };
  d.input(whole({steps, n, beams}, 4));
  d.input(whole({steps, n, beams}, std::max<int64_t>(beams - 1, 0)));
  d.input(whole({n}, steps + 1));
  d.input(whole(d.flag() ? Shape{1} : Shape{}, 4));
}

constexpr Generator kSequenceTable[] = {
    {"", "RNN", recurrent, kFloats},
    {"", "GRU", recurrent, kFloats},
    {"", "LSTM", recurrent, kFloats},
    {"com.microsoft", "DynamicQuantizeLSTM", dynamic_quantize_lstm, "f32"},
    {"", "Attention", attention, kFloats},
    {"", "RotaryEmbedding", rotary_embedding, "f32 f16 bf16"},
    {"", "LinearAttention", linear_attention, "f32 f16 bf16"},
    {"", "CausalConvWithState", causal_conv, "f32 f16 bf16"},
    {"", "SwiGLU", swiglu, kFloats},
    {"het", "GatherTree", gather_tree, "f32 i32 i64 f16"},
};

}  // namespace

std::span<const Generator> sequence_generators() {
  return kSequenceTable;
}

}  // namespace het::oracle
