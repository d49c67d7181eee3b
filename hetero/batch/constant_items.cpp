#include "hetero/batch/constant_items.h"

#include <cstring>

namespace het::hetero {
namespace {

bool is_equal(const Tensor& a, const Tensor& b) {
  if (a.desc() != b.desc()) return false;
  return a.bytes() == b.bytes() || std::memcmp(a.bytes(), b.bytes(), a.size_bytes()) == 0;
}

/// Whether the batched constant is the single one, repeated part by part along a dimension.
bool repeats(const Tensor& batched, const Tensor& single, size_t dim, size_t batch) {
  Shape wanted = single.shape();
  wanted[dim] *= static_cast<int64_t>(batch);
  if (batched.type() != single.type() || batched.shape() != wanted) return false;
  size_t parts = 1;
  for (size_t d = 0; d < dim; ++d) parts *= static_cast<size_t>(wanted[d]);
  if (parts == 0 || single.size_bytes() % parts != 0 ||
      batched.size_bytes() != single.size_bytes() * batch) {
    return false;
  }
  const size_t part = single.size_bytes() / parts;
  for (size_t i = 0; i < parts * batch; ++i) {
    const std::byte* const one = single.bytes() + i / batch * part;
    if (std::memcmp(batched.bytes() + i * part, one, part) != 0) return false;
  }
  return true;
}

}  // namespace

Items constant_items(const Tensor& batched, const Tensor* single, size_t batch) {
  if (single == nullptr || single->rank() != batched.rank()) return {ItemsKind::Sizes};
  if (is_equal(batched, *single)) return {};
  for (size_t dim = 0; dim < single->shape().size(); ++dim) {
    if (single->shape()[dim] > 0 && repeats(batched, *single, dim, batch)) {
      return Items::batched({dim, 1, single->shape()[dim]});
    }
  }
  return {ItemsKind::Sizes};
}

}  // namespace het::hetero
