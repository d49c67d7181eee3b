#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "inference/base/registration.h"
#include "inference/ops/double_values.h"
#include "inference/ops/op_checks.h"

namespace het {
namespace {

/// Attributes that say what is counted.
struct NGrams {
  int64_t shortest = 1;
  int64_t longest = 1;
  int64_t max_skips = 0;
  int64_t columns = 0;                          ///< of the output
  std::map<std::vector<int64_t>, size_t> pool;  ///< n-gram -> its number
  std::vector<int64_t> indexes;                 ///< its number -> column
  std::vector<float> weights;                   ///< its number -> weight
  bool truncates = false;                       ///< counts become 0 or 1
  bool weighs = false;
};

Status read_pool(const Attributes& attributes, NGrams& grams) {
  const std::vector<int64_t> items = attributes.get_ints("pool_int64s");
  const std::vector<int64_t> starts = attributes.get_ints("ngram_counts");
  for (size_t length = 1; length <= starts.size(); ++length) {
    const int64_t begin = starts[length - 1];
    const int64_t end =
        length < starts.size() ? starts[length] : static_cast<int64_t>(items.size());
    if (begin < 0 || end < begin || end > static_cast<int64_t>(items.size()) ||
        (end - begin) % static_cast<int64_t>(length) != 0) {
      return error(StatusCode::InvalidArgument,
                   "the {}-grams lie at [{}, {}) of a pool of {} items, which does not fit", length,
                   begin, end, items.size());
    }
    for (int64_t i = begin; i < end; i += static_cast<int64_t>(length)) {
      const std::vector<int64_t> gram(items.begin() + i,
                                      items.begin() + i + static_cast<int64_t>(length));
      const size_t number = grams.pool.size();
      if (!grams.pool.emplace(gram, number).second) {
        return error(StatusCode::InvalidArgument, "the n-gram {} is in the pool twice",
                     to_string(gram));
      }
    }
  }
  return {};
}

Result<NGrams> n_grams(const Attributes& attributes) {
  HET_TRY(check_attributes(attributes, {{"max_gram_length", AttributeType::Int, true},
                                        {"max_skip_count", AttributeType::Int, true},
                                        {"min_gram_length", AttributeType::Int, true},
                                        {"mode", AttributeType::String, true},
                                        {"ngram_counts", AttributeType::Ints, true},
                                        {"ngram_indexes", AttributeType::Ints, true},
                                        {"pool_int64s", AttributeType::Ints},
                                        {"weights", AttributeType::Floats}}));
  if (!attributes.has("pool_int64s")) {
    return error(StatusCode::NotSupported, "a pool of strings is not supported");
  }
  NGrams grams;
  grams.shortest = attributes.get_int("min_gram_length", 1);
  grams.longest = attributes.get_int("max_gram_length", 1);
  grams.max_skips = attributes.get_int("max_skip_count", 0);
  const std::string mode = attributes.get_string("mode", "");
  if ((mode != "TF" && mode != "IDF" && mode != "TFIDF") || grams.shortest < 1 ||
      grams.longest < grams.shortest || grams.max_skips < 0) {
    return error(StatusCode::InvalidArgument,
                 "mode '{}', n-grams of {} to {} items and {} skips: the mode must be TF, IDF or "
                 "TFIDF, the lengths positive and in order",
                 mode, grams.shortest, grams.longest, grams.max_skips);
  }
  grams.truncates = mode == "IDF";
  grams.weighs = mode != "TF";
  HET_TRY(read_pool(attributes, grams));
  // The pool has no longer ones.
  grams.longest = std::min<int64_t>(
      grams.longest, static_cast<int64_t>(attributes.get_ints("ngram_counts").size()));
  grams.indexes = attributes.get_ints("ngram_indexes");
  grams.weights = attributes.get_floats("weights");
  if (grams.weights.empty()) grams.weights.assign(grams.pool.size(), 1.0f);
  if (grams.indexes.size() != grams.pool.size() || grams.weights.size() != grams.pool.size()) {
    return error(StatusCode::InvalidArgument,
                 "ngram_indexes has {} values and weights {}, but the pool has {} n-grams",
                 grams.indexes.size(), grams.weights.size(), grams.pool.size());
  }
  for (const int64_t index : grams.indexes) {
    if (index < 0 || index > INT32_MAX) {
      return error(StatusCode::InvalidArgument, "ngram_indexes holds {}", index);
    }
    grams.columns = std::max(grams.columns, index + 1);
  }
  return grams;
}

Status infer_tf_idf_vectorizer(InferContext& context) {
  HET_TRY(check_input(context, 0, "X", kIndexTypes));
  HET_TRY(check_rank(context, 0, "X", 1, 2));
  HET_ASSIGN(const NGrams grams, n_grams(context.attributes()));
  Shape shape{grams.columns};
  if (context.rank(0) == 2) shape.insert(shape.begin(), context.shape(0)[0]);
  HET_TRY(checked_element_count(shape));
  context.set_output(0, ElementType::Float32, std::move(shape));
  return {};
}

/// Adds every n-gram of a row whose items lie `distance` apart.
void count_grams(const NGrams& grams, const std::vector<int64_t>& row, int64_t distance,
                 std::vector<double>& counts) {
  const auto length = static_cast<int64_t>(row.size());
  // Items of a single one are no distance apart: they count once, with the smallest.
  const int64_t shortest = distance > 1 ? std::max<int64_t>(grams.shortest, 2) : grams.shortest;
  for (int64_t start = 0; start < length; ++start) {
    std::vector<int64_t> gram;
    for (int64_t i = start; i < length; i += distance) {
      gram.push_back(row[static_cast<size_t>(i)]);
      const auto items = static_cast<int64_t>(gram.size());
      if (items > grams.longest) break;
      if (items < shortest) continue;
      if (const auto found = grams.pool.find(gram); found != grams.pool.end()) {
        counts[found->second] += 1;
      }
    }
  }
}

Status evaluate_tf_idf_vectorizer(EvaluateContext& context) {
  HET_ASSIGN(const NGrams grams, n_grams(context.attributes()));
  HET_ASSIGN(const std::vector<int64_t> x, to_int64_vector(context.input(0)));
  const Shape& shape = context.input(0).shape();
  const int64_t length = shape.back();
  Tensor& y = context.output(0);
  std::vector<double> dst(static_cast<size_t>(y.element_count()));
  for (int64_t r = 0; r < (shape.size() == 2 ? shape[0] : 1); ++r) {
    const std::vector<int64_t> row(x.begin() + r * length, x.begin() + (r + 1) * length);
    std::vector<double> counts(grams.pool.size());
    for (int64_t distance = 1; distance - 1 <= grams.max_skips && distance <= length; ++distance) {
      count_grams(grams, row, distance, counts);
    }
    for (size_t g = 0; g < counts.size(); ++g) {
      const double count = grams.truncates ? std::min(counts[g], 1.0) : counts[g];
      dst[static_cast<size_t>(r * grams.columns + grams.indexes[g])] +=
          grams.weighs ? count * static_cast<double>(grams.weights[g]) : count;
    }
  }
  return store_doubles(dst, y);
}

}  // namespace

HET_REGISTRATION void register_tf_idf_vectorizer(OpRegistry& registry) {
  registry.add(
      {"TfIdfVectorizer", "", 9, 1, 1, infer_tf_idf_vectorizer, evaluate_tf_idf_vectorizer});
}

}  // namespace het
