#pragma once

#include <cstddef>
#include <vector>

namespace het::tracking {

/// A feature vector of length 1; empty where all its values are 0 or one is not finite.
std::vector<float> normalised(std::vector<float> feature);

/// What an object has looked like: its last feature vectors, each of length 1.
class FeatureGallery {
 public:
  /// Keeps `budget` vectors; 0: all.
  explicit FeatureGallery(size_t budget) : budget_(budget) {}

  /// Takes a normalised() vector; an empty one is left out.
  void add(const std::vector<float>& feature);
  bool empty() const { return features_.empty(); }
  /// The least cosine distance (0: same direction, 2: opposite) of a normalised() vector from those
  /// kept; infinity where none has its size.
  float distance(const std::vector<float>& feature) const;

 private:
  size_t budget_;
  size_t oldest_ = 0;
  std::vector<std::vector<float>> features_;
};

}  // namespace het::tracking
