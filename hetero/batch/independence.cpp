#include "hetero/batch/independence.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "inference/base/log.h"
#include "inference/requests/infer_request.h"

namespace het::hetero {
namespace {

/// How far outputs may be apart, as distance() has it. The first is for runs of one model, which
/// may take several devices (AUTO); the second for two models, whose algorithms and types may
/// differ.
constexpr double kLeastChange = 0.02;
constexpr double kLeastDistance = 0.25;

template <class T, class Distribution>
void fill(Tensor& tensor, std::mt19937& generator, Distribution distribution) {
  for (T& value : tensor.values<T>()) value = static_cast<T>(distribution(generator));
}

/// Random values of one item: floats around 0, bytes as in pictures, other integers small, since
/// they may be indices. Nothing for other types.
std::optional<Tensor> random_item(const TensorDesc& desc, std::mt19937& generator) {
  auto item = Tensor::allocate({desc.type, desc.shape});
  if (!item) return std::nullopt;
  const std::uniform_int_distribution<int> small(0, 3);
  switch (desc.type) {
    case ElementType::Float32:
      fill<float>(*item, generator, std::normal_distribution<float>());
      break;
    case ElementType::Float64:
      fill<double>(*item, generator, std::normal_distribution<double>());
      break;
    case ElementType::UInt8:
      fill<uint8_t>(*item, generator, std::uniform_int_distribution<int>(0, 255));
      break;
    case ElementType::Int8:
      fill<int8_t>(*item, generator, std::uniform_int_distribution<int>(-128, 127));
      break;
    case ElementType::Int32:
      fill<int32_t>(*item, generator, small);
      break;
    case ElementType::Int64:
      fill<int64_t>(*item, generator, small);
      break;
    default:
      return std::nullopt;
  }
  return std::move(*item);
}

/// One item's inputs, or one item's outputs as numbers.
using ItemTensors = std::vector<Tensor>;
using Numbers = std::vector<std::vector<float>>;

std::optional<ItemTensors> random_items(const CompiledModel& single, std::mt19937& generator) {
  ItemTensors item;
  for (const Port& port : single.inputs()) {
    auto tensor = random_item(port.desc, generator);
    if (!tensor) return std::nullopt;
    item.push_back(std::move(*tensor));
  }
  return item;
}

/// The outputs of each item.
Result<std::vector<Numbers>> run(InferRequest& request,
                                 const std::vector<const ItemTensors*>& items,
                                 const std::vector<OutputCut>& cuts) {
  const CompiledModel& model = request.compiled_model();
  for (size_t i = 0; i < model.inputs().size(); ++i) {
    HET_ASSIGN(Tensor whole,
               Tensor::allocate({model.inputs()[i].desc.type, model.inputs()[i].desc.shape}));
    size_t offset = 0;
    for (const ItemTensors* item : items) {
      std::memcpy(whole.bytes() + offset, (*item)[i].bytes(), (*item)[i].size_bytes());
      offset += (*item)[i].size_bytes();
    }
    HET_TRY(request.set_input(i, whole));
  }
  HET_TRY(request.infer());
  std::vector<Numbers> results(items.size());
  for (size_t o = 0; o < model.outputs().size(); ++o) {
    if (cuts[o].is_by_rows()) {
      for (Numbers& numbers : results) numbers.emplace_back();
      continue;
    }
    HET_ASSIGN(const std::vector<float> all, to_float_vector(request.output(o)));
    const auto part = static_cast<std::ptrdiff_t>(all.size() / items.size());
    for (size_t k = 0; k < items.size(); ++k) {
      const auto begin = all.begin() + static_cast<std::ptrdiff_t>(k) * part;
      results[k].emplace_back(begin, begin + part);
    }
  }
  return results;
}

/// Sum of the differences, as a part of the sum of the magnitudes, so that a few numbers among
/// zeros count; NaN is near NaN only.
double distance(const std::vector<float>& a, const std::vector<float>& b) {
  double differences = 0.0;
  double magnitudes = 0.0;
  for (size_t i = 0; i < a.size(); ++i) {
    const auto x = static_cast<double>(a[i]);
    const auto y = static_cast<double>(b[i]);
    if (std::isfinite(x)) magnitudes += std::abs(x);
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    if (!std::isfinite(x) || !std::isfinite(y)) return 1.0;
    differences += std::abs(x - y);
  }
  return differences == 0.0 ? 0.0 : differences / std::max(magnitudes, 1e-30);
}

/// The first output that is further apart than `limit`.
std::optional<size_t> differing_output(const Numbers& a, const Numbers& b, double limit) {
  for (size_t o = 0; o < a.size(); ++o) {
    if (distance(a[o], b[o]) > limit) return o;
  }
  return std::nullopt;
}

Status mixed(const CompiledModel& model, size_t output, std::string_view why) {
  return error(StatusCode::NotSupported, "output '{}' of model '{}' mixes the items of a batch: {}",
               model.outputs()[output].name, model.name(), why);
}

Result<bool> check(CompiledModel& single, CompiledModel& batched, size_t batch,
                   const std::vector<OutputCut>& cuts) {
  std::mt19937 generator(1);
  // As many as neighbours need to differ, whatever the batch; the second half replaces the first.
  constexpr size_t kItems = 3;
  std::vector<ItemTensors> items;
  for (size_t i = 0; i < 2 * kItems; ++i) {
    auto item = random_items(single, generator);
    if (!item) return false;
    items.push_back(std::move(*item));
  }
  HET_ASSIGN(const std::unique_ptr<InferRequest> one, single.create_infer_request());
  HET_ASSIGN(const std::unique_ptr<InferRequest> many, batched.create_infer_request());
  const auto run_batch = [&](auto is_other) {
    std::vector<const ItemTensors*> chosen;
    for (size_t p = 0; p < batch; ++p) chosen.push_back(&items[p % kItems + kItems * is_other(p)]);
    return run(*many, chosen, cuts);
  };
  auto alone = run(*one, {&items[0]}, cuts);
  if (!alone) return false;
  auto last_alone = run(*one, {&items[(batch - 1) % kItems]}, cuts);
  auto together = run_batch([](size_t) { return false; });
  auto others_changed = run_batch([](size_t p) { return p != 0; });
  auto first_changed = run_batch([](size_t p) { return p == 0; });
  if (!last_alone || !together || !others_changed || !first_changed) return false;
  constexpr std::string_view kChanges = "it changes for one item when another one does";
  if (const auto o = differing_output((*together)[0], (*others_changed)[0], kLeastChange)) {
    HET_TRY(mixed(batched, *o, kChanges));
  }
  for (size_t p = 1; p < batch; ++p) {
    if (const auto o = differing_output((*together)[p], (*first_changed)[p], kLeastChange)) {
      HET_TRY(mixed(batched, *o, kChanges));
    }
  }
  constexpr std::string_view kDiffers = "an item gives something else than it does alone";
  for (const auto& [wanted, place] :
       {std::pair(&(*alone)[0], size_t{0}), {&(*last_alone)[0], batch - 1}}) {
    if (const auto o = differing_output(*wanted, (*together)[place], kLeastDistance)) {
      HET_TRY(mixed(batched, *o, kDiffers));
    }
  }
  return true;
}

}  // namespace

Status check_independence(CompiledModel& single, CompiledModel& batched, size_t batch,
                          const std::vector<OutputCut>& outputs) {
  if (batch < 2) return {};
  HET_ASSIGN(const bool is_checked, check(single, batched, batch, outputs));
  if (!is_checked) {
    log(LogLevel::Info,
        "model '{}': whether the items of a batch are independent was not tried with random ones",
        single.name());
  }
  return {};
}

}  // namespace het::hetero
