#include <cmath>
#include <numbers>

#include "tests/decoders/decode_case.h"

namespace het::test {
namespace {

using Matrix = std::array<std::array<double, 3>, 3>;

Matrix times(const Matrix& a, const Matrix& b) {
  Matrix product{};
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = 0; j < 3; ++j) {
      for (size_t k = 0; k < 3; ++k) product[i][j] += a[i][k] * b[k][j];
    }
  }
  return product;
}

/// Rz(roll) Ry(yaw) Rx(pitch), the angles in degrees.
Matrix rotation(double yaw, double pitch, double roll) {
  const double to_radians = std::numbers::pi / 180.0;
  const double y = yaw * to_radians;
  const double p = pitch * to_radians;
  const double r = roll * to_radians;
  const Matrix about_x{{{1, 0, 0}, {0, std::cos(p), -std::sin(p)}, {0, std::sin(p), std::cos(p)}}};
  const Matrix about_y{{{std::cos(y), 0, std::sin(y)}, {0, 1, 0}, {-std::sin(y), 0, std::cos(y)}}};
  const Matrix about_z{{{std::cos(r), -std::sin(r), 0}, {std::sin(r), std::cos(r), 0}, {0, 0, 1}}};
  return times(about_z, times(about_y, about_x));
}

void put(const Matrix& matrix, std::span<float> values) {
  for (size_t i = 0; i < 9; ++i) values[i] = static_cast<float>(matrix[i / 3][i % 3]);
}

std::vector<std::string> texts_of(const Results& results) {
  std::vector<std::string> texts;
  for (const Classification& found : results.classifications) {
    texts.push_back(found.attribute + " " + found.label);
    EXPECT_EQ(found.label_id, kNoLabelId);
  }
  return texts;
}

using Texts = std::vector<std::string>;

TEST(HeadPose, AnglesOfARotation) {
  DecodeCase c(224, 224);
  c.inputs[0].desc.shape[0] = 2;
  const auto values = c.add("rotation", {2, 3, 3}, kNan);
  put(rotation(25.5, -10.25, 40.0), values.subspan(9));
  EXPECT_TRUE(c.decode(converter("head_pose")).classifications.empty());
  c.context.batch_index = 1;
  EXPECT_EQ(texts_of(c.decode(converter("head_pose"))),
            (Texts{"yaw 25.50", "pitch -10.25", "roll 40.00"}));
  put(rotation(90.0, 30.0, 0.0), values.subspan(9));
  DecoderConfig config = converter("head_pose");
  config.attribute_name = "head";
  config.text_precision = 0;
  EXPECT_EQ(texts_of(c.decode(config)), (Texts{"head_yaw 90", "head_pitch 30", "head_roll 0"}));
}

/// Logits of a softmax with `share` at one class and the rest at the next.
void put_classes(std::span<float> logits, size_t index, double share) {
  std::fill(logits.begin(), logits.end(), -100.0f);
  logits[index] = static_cast<float>(std::log(share));
  logits[index + 1] = static_cast<float>(std::log(1.0 - share));
}

TEST(HeadPose, ClassesOfHopenet) {
  DecodeCase c(224, 224);
  for (const char* name : {"yaw", "pitch", "roll"}) c.add(name, {2, 66});
  c.add("angles", {2, 3});  // left out
  c.inputs[0].desc.shape[0] = 2;
  c.context.batch_index = 1;
  put_classes(c.tensors[0].values<float>().subspan(66), 33, 0.75);  // (33.25) * 3 - 99
  put_classes(c.tensors[1].values<float>().subspan(66), 0, 0.5);
  put_classes(c.tensors[2].values<float>().subspan(66), 64, 0.25);
  EXPECT_EQ(texts_of(c.decode(converter("head_pose"))),
            (Texts{"yaw 0.75", "pitch -97.50", "roll 95.25"}));
  c.tensors[1].values<float>()[70] = kNan;
  EXPECT_EQ(texts_of(c.decode(converter("head_pose"))), (Texts{"yaw 0.75", "roll 95.25"}));
}

TEST(HeadPose, ClassesOfGaze) {
  DecodeCase c(448, 448);
  put_classes(c.add("a", {1, 90}), 45, 0.5);
  put_classes(c.add("b", {1, 90}), 10, 0.75);
  EXPECT_EQ(texts_of(c.decode(converter("head_pose"))), (Texts{"yaw 2.00", "pitch -139.00"}));
  DecoderConfig turned = converter("head_pose");
  turned.layer_names = {"b", "a"};
  EXPECT_EQ(texts_of(c.decode(turned)), (Texts{"yaw -139.00", "pitch 2.00"}));
  DecodeCase narrow(448, 448);
  put_classes(narrow.add("a", {1, 28}), 14, 0.5);
  put_classes(narrow.add("b", {1, 28}), 0, 0.5);
  EXPECT_EQ(texts_of(narrow.decode(converter("head_pose"))), (Texts{"yaw 1.50", "pitch -40.50"}));
}

TEST(HeadPose, OtherShapesAreErrors) {
  for (const Shape& shape : {Shape{1, 3, 4}, Shape{1, 66}, Shape{1, 9}}) {
    DecodeCase c(224, 224);
    c.add("out", shape);
    EXPECT_NE(c.create_error(converter("head_pose")).find("a rotation [batch,3,3]"),
              std::string::npos)
        << to_string(shape);
  }
}

}  // namespace
}  // namespace het::test
