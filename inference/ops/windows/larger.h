#pragma once

namespace het {

/// Whether `value` takes the place of the largest so far: what is larger does, and the first NaN,
/// which stays.
template <class T>
bool is_larger(T value, T largest) {
  return value > largest || (value != value && largest == largest);
}

}  // namespace het
