#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace het {

/// A dense array of doubles seen as rows: row (b, h, s) of a batch, a head and a sequence position
/// starts at b * batch_step + h * head_step + s * row_step.
struct HeadRows {
  std::vector<double> values = {};
  int64_t batch_step = 0;
  int64_t head_step = 0;
  int64_t row_step = 0;

  const double* row(int64_t b, int64_t h, int64_t s) const {
    return values.data() + b * batch_step + h * head_step + s * row_step;
  }
  double* row(int64_t b, int64_t h, int64_t s) {
    return values.data() + b * batch_step + h * head_step + s * row_step;
  }
  /// Rows of [batch, heads, length, size].
  static HeadRows split(std::vector<double> values, int64_t heads, int64_t length, int64_t size) {
    return {std::move(values), heads * length * size, length * size, size};
  }
  /// Rows of [batch, length, heads * size].
  static HeadRows packed(std::vector<double> values, int64_t heads, int64_t length, int64_t size) {
    return {std::move(values), length * heads * size, size, heads * size};
  }
};

/// Which scores the caller gets to see.
enum class ScoreStage { Raw, Capped, Biased, Probability };

/// Scaled dot product attention; head h of the query uses head h / (q_heads / kv_heads) of key and
/// value.
struct AttentionTask {
  int64_t batch = 1;
  int64_t q_heads = 1;
  int64_t kv_heads = 1;
  int64_t q_length = 0;
  int64_t kv_length = 0;
  int64_t head_size = 0;
  int64_t v_head_size = 0;
  HeadRows q = {};
  HeadRows k = {};
  HeadRows v = {};
  double scale = 1;
  double softcap = 0;  ///< 0: none
  /// What is added to the score of (batch, query head, query, key); -infinity forbids the pair.
  std::function<double(int64_t, int64_t, int64_t, int64_t)> bias = {};
  ScoreStage stage = ScoreStage::Raw;
  std::vector<double>* scores = nullptr;  ///< gets [batch, q_heads, q_length, kv_length]
};

/// score = softcap * tanh(scale * q . k / softcap) + bias; y = softmax(score) v, all in double. A
/// query whose every score is -infinity gives zeros, as in PyTorch. `y` has room for the query's
/// rows of v_head_size.
void attend(const AttentionTask& task, HeadRows& y);

}  // namespace het
