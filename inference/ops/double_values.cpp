#include "inference/ops/double_values.h"

#include "inference/ops/type_dispatch.h"

namespace het {

Result<std::vector<double>> to_double_vector(const Tensor& tensor) {
  return dispatch_numeric(tensor.type(), [&]<class T>() -> Result<std::vector<double>> {
    std::vector<double> values;
    values.reserve(static_cast<size_t>(tensor.element_count()));
    for (const T value : tensor.values<T>()) values.push_back(static_cast<double>(value));
    return values;
  });
}

}  // namespace het
