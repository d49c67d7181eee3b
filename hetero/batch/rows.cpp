#include "hetero/batch/rows.h"

#include <cmath>
#include <cstring>

#include "inference/ops/numeric_cast.h"
#include "inference/ops/type_dispatch.h"

namespace het::hetero {
namespace {

Status check_host(const Tensor& tensor) {
  if (!tensor.empty() && tensor.bytes() != nullptr && tensor.is_dense() && tensor.rank() > 0 &&
      byte_width(tensor.type()) > 0) {
    return {};
  }
  return error(StatusCode::Internal, "rows of a batch are {}, not a table in host memory",
               tensor.empty() ? "nothing" : to_string(tensor.desc()));
}

/// Rows of a table: all but the last dimension where `is_flat`, else dimension 0.
size_t row_count(const Tensor& tensor, bool is_flat) {
  const Shape& shape = tensor.shape();
  int64_t count = 1;
  for (size_t d = 0; d < (is_flat ? shape.size() - 1 : 1); ++d) count *= shape[d];
  return static_cast<size_t>(count);
}

template <class F>
Status dispatch_row_type(ElementType type, F&& f) {
  if (type == ElementType::Int32) return f.template operator()<int32_t>();
  if (type == ElementType::Int64) return f.template operator()<int64_t>();
  return dispatch_float(type, f);
}

Status write_number(Tensor& tensor, size_t element, int64_t value) {
  return dispatch_row_type(tensor.type(), [&]<class T>() -> Status {
    tensor.data<T>()[element] = numeric_cast<T>(static_cast<float>(value));
    return {};
  });
}

Status write_count(const Tensor& all, size_t count, Tensor& part) {
  HET_ASSIGN(part, Tensor::allocate({all.type(), all.shape()}));
  if (part.element_count() != 1) {
    return error(StatusCode::Internal, "the number of rows is {}, not one", to_string(all.desc()));
  }
  return dispatch_row_type(part.type(), [&]<class T>() -> Status {
    *part.data<T>() = numeric_cast<T>(static_cast<double>(count));
    return {};
  });
}

}  // namespace

Status RowItems::read(const Tensor& rows, bool has_end, size_t batch) {
  HET_TRY(check_host(rows));
  items_.clear();
  counts_.assign(batch, 0);
  const size_t count = row_count(rows, true);
  if (rows.element_count() == 0) {
    if (count == 0) return {};
    return error(StatusCode::Internal, "rows of a batch {} have no column", to_string(rows.desc()));
  }
  const auto columns = static_cast<size_t>(rows.shape().back());
  return dispatch_row_type(rows.type(), [&]<class T>() -> Status {
    const T* const numbers = rows.data<T>();
    for (size_t i = 0; i < count; ++i) {
      const auto number = static_cast<double>(numbers[i * columns]);
      if (has_end && number < 0) break;
      if (!(number >= 0 && number < static_cast<double>(batch)) || number != std::floor(number)) {
        return error(StatusCode::Internal, "row {} of {} belongs to item {}, but there are {}", i,
                     to_string(rows.desc()), number, batch);
      }
      items_.push_back(static_cast<size_t>(number));
      ++counts_[items_.back()];
    }
    return {};
  });
}

Status take_rows(const Tensor& all, const OutputCut& cut, const RowItems& rows, size_t item,
                 Tensor& part) {
  HET_TRY(check_host(all));
  const size_t count = rows.count(item);
  if (cut.kind == ItemsKind::RowCount) return write_count(all, count, part);
  const bool is_fixed = cut.kind == ItemsKind::FixedRows;
  const size_t all_count = row_count(all, is_fixed);
  if (all_count < rows.items().size() || (!is_fixed && all_count != rows.items().size())) {
    return error(StatusCode::Internal, "a batch has {} rows in one output, {} in another",
                 rows.items().size(), all_count);
  }
  if (!is_fixed) {
    Shape shape = all.shape();
    shape[0] = static_cast<int64_t>(count);
    HET_ASSIGN(part, Tensor::allocate({all.type(), std::move(shape)}));
  }
  HET_TRY(check_host(part));
  if (part.size_bytes() == 0) return {};
  const size_t room = row_count(part, is_fixed);
  if (count > room) {
    return error(StatusCode::Internal, "item {} of a batch has {} rows, but there is room for {}",
                 item, count, room);
  }
  const size_t row = part.size_bytes() / room;
  if (all.type() != part.type() || all_count == 0 || all.size_bytes() != all_count * row) {
    return error(StatusCode::Internal, "rows of {} do not fit into {}", to_string(all.desc()),
                 to_string(part.desc()));
  }
  if (is_fixed) std::memset(part.bytes(), 0, part.size_bytes());
  const size_t columns = row / byte_width(part.type());
  const bool has_number = cut.kind != ItemsKind::RowValues;
  size_t next = 0;
  for (size_t i = 0; i < rows.items().size(); ++i) {
    if (rows.items()[i] != item) continue;
    std::memcpy(part.bytes() + next * row, all.bytes() + i * row, row);
    if (has_number) HET_TRY(write_number(part, next * columns, 0));
    ++next;
  }
  if (is_fixed && next < room) HET_TRY(write_number(part, next * columns, -1));
  return {};
}

}  // namespace het::hetero
