#include "inference/ops/double_values.h"

#include "inference/ops/numeric_cast.h"
#include "inference/ops/type_dispatch.h"

namespace het {

Result<std::vector<double>> to_double_vector(const Tensor& tensor) {
  return dispatch_numeric_or_bool(tensor.type(), [&]<class T>() -> Result<std::vector<double>> {
    std::vector<double> values;
    values.reserve(static_cast<size_t>(tensor.element_count()));
    for (const T value : tensor.values<T>()) values.push_back(static_cast<double>(value));
    return values;
  });
}

Status store_doubles(std::span<const double> values, Tensor& dst) {
  return dispatch_numeric_or_bool(dst.type(), [&]<class T>() -> Status {
    T* to = dst.data<T>();
    for (size_t i = 0; i < values.size(); ++i) to[i] = numeric_cast<T>(values[i]);
    return {};
  });
}

}  // namespace het
