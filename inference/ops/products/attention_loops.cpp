#include "inference/ops/products/attention_loops.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace het {
namespace {

/// Replaces scores by probabilities; all zeros when `masked`.
void softmax_row(std::vector<double>& row, bool masked) {
  if (masked) {
    std::fill(row.begin(), row.end(), 0.0);
    return;
  }
  const double peak = *std::max_element(row.begin(), row.end());
  double sum = 0;
  for (double& value : row) {
    value = std::exp(value - peak);
    sum += value;
  }
  for (double& value : row) value /= sum;
}

}  // namespace

void attend(const AttentionTask& task, HeadRows& y) {
  const int64_t group = task.kv_heads > 0 ? task.q_heads / task.kv_heads : 1;
  std::vector<double> row(static_cast<size_t>(task.kv_length));
  size_t at = 0;
  for (int64_t b = 0; b < task.batch; ++b) {
    for (int64_t h = 0; h < task.q_heads; ++h) {
      for (int64_t i = 0; i < task.q_length; ++i) {
        const double* q = task.q.row(b, h, i);
        bool masked = true;
        const auto expose = [&](ScoreStage stage, size_t j) {
          if (task.scores != nullptr && task.stage == stage) (*task.scores)[at + j] = row[j];
        };
        for (int64_t j = 0; j < task.kv_length; ++j) {
          const double* k = task.k.row(b, h / group, j);
          const auto n = static_cast<size_t>(j);
          double score = 0;
          for (int64_t d = 0; d < task.head_size; ++d) score += q[d] * k[d];
          row[n] = score * task.scale;
          expose(ScoreStage::Raw, n);
          if (task.softcap > 0) row[n] = task.softcap * std::tanh(row[n] / task.softcap);
          expose(ScoreStage::Capped, n);
          row[n] += task.bias(b, h, i, j);
          masked = masked && row[n] == -std::numeric_limits<double>::infinity();
          expose(ScoreStage::Biased, n);
        }
        softmax_row(row, masked);
        double* dst = y.row(b, h, i);
        std::fill(dst, dst + task.v_head_size, 0.0);
        for (int64_t j = 0; j < task.kv_length; ++j) {
          const auto n = static_cast<size_t>(j);
          expose(ScoreStage::Probability, n);
          const double* v = task.v.row(b, h / group, j);
          for (int64_t d = 0; d < task.v_head_size; ++d) dst[d] += row[n] * v[d];
        }
        at += row.size();
      }
    }
  }
}

}  // namespace het
