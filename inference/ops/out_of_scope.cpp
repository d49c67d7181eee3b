#include "inference/ops/out_of_scope.h"

namespace het {
namespace {

struct OutOfScope {
  std::string_view domain;
  std::string_view type;  ///< empty: every operator of the domain
  std::string_view reason;
};

constexpr std::string_view kSequence =
    "it works on a sequence of tensors, and only dense tensors are supported";
constexpr std::string_view kOptional =
    "it works on an optional value, and only dense tensors are supported";
constexpr std::string_view kString =
    "it works on strings, and only tensors of numbers are supported";
constexpr std::string_view kTraining = "it is for training, and models are only run here";
constexpr std::string_view kClassical =
    "it belongs to classical machine learning (ai.onnx.ml), and only neural networks are run here";

constexpr OutOfScope kTable[] = {
    {"", "ConcatFromSequence", kSequence},
    {"", "SequenceAt", kSequence},
    {"", "SequenceConstruct", kSequence},
    {"", "SequenceEmpty", kSequence},
    {"", "SequenceErase", kSequence},
    {"", "SequenceInsert", kSequence},
    {"", "SequenceLength", kSequence},
    {"", "SequenceMap", kSequence},
    {"", "SplitToSequence", kSequence},
    {"", "Optional", kOptional},
    {"", "OptionalGetElement", kOptional},
    {"", "OptionalHasElement", kOptional},
    {"", "RegexFullMatch", kString},
    {"", "StringConcat", kString},
    {"", "StringNormalizer", kString},
    {"", "StringSplit", kString},
    {"", "ImageDecoder",
     "it decodes a picture file inside the model; decode it before and give the picture"},
    {"ai.onnx.preview.training", "", kTraining},
    {"ai.onnx.training", "", kTraining},
    {"ai.onnx.ml", "", kClassical},
};

}  // namespace

std::string_view out_of_scope_reason(std::string_view domain, std::string_view type) {
  for (const OutOfScope& row : kTable) {
    if (row.domain == domain && (row.type.empty() || row.type == type)) return row.reason;
  }
  return {};
}

}  // namespace het
