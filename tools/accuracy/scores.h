#pragma once

#include <optional>
#include <string>
#include <vector>

namespace het {

/// One number of an evaluation. No value: there was nothing to measure it on, as no large object.
struct Score {
  std::string name;
  std::optional<double> value;
};

/// What a metric says of a model on a dataset.
struct Scores {
  std::vector<Score> overall;     ///< the first is the one that is usually told alone
  std::vector<Score> categories;  ///< one per category of the dataset
};

/// The mean of the values that are there; none where there is none.
std::optional<double> mean_of(const std::vector<std::optional<double>>& values);

}  // namespace het
