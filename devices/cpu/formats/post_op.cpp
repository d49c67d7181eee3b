#include "devices/cpu/formats/post_op.h"

#include <algorithm>

namespace het::cpu {

std::vector<PostOp> post_ops_of(const ElementwiseInstruction& instruction) {
  const float alpha = instruction.alpha;
  const float beta = instruction.beta;
  switch (instruction.kind) {
    case ElementwiseKind::Relu:
      return {{PostOp::Kind::Relu, alpha, 0.0f}};
    case ElementwiseKind::Clip:
      return {{PostOp::Kind::Clip, alpha, beta}};
    case ElementwiseKind::Linear:
      return {{PostOp::Kind::Linear, alpha, beta}};
    case ElementwiseKind::Sigmoid:
      return {{PostOp::Kind::Sigmoid}};
    case ElementwiseKind::Tanh:
      return {{PostOp::Kind::Tanh}};
    case ElementwiseKind::Swish:
      return {{PostOp::Kind::Swish, alpha, 0.0f}};
    case ElementwiseKind::HardSigmoid:
      return {{PostOp::Kind::Linear, alpha, beta}, {PostOp::Kind::Clip, 0.0f, 1.0f}};
    case ElementwiseKind::HardSwish:
      return {{PostOp::Kind::HardSwish}};
    case ElementwiseKind::Elu:
      return {{PostOp::Kind::Elu, alpha, 0.0f}};
    case ElementwiseKind::GeluErf:
      return {{PostOp::Kind::GeluErf}};
    case ElementwiseKind::GeluTanh:
      return {{PostOp::Kind::GeluTanh}};
    case ElementwiseKind::Exp:
      return {{PostOp::Kind::Exp}};
    case ElementwiseKind::Abs:
      return {{PostOp::Kind::Abs}};
    case ElementwiseKind::Sqrt:
      return {{PostOp::Kind::Sqrt}};
    case ElementwiseKind::Square:
      return {{PostOp::Kind::Square}};
    case ElementwiseKind::SoftPlus:
      return {{PostOp::Kind::SoftPlus}};
    case ElementwiseKind::Mish:
      return {{PostOp::Kind::Mish}};
    case ElementwiseKind::Round:
      return {{PostOp::Kind::Round}};
    default:
      return {};
  }
}

std::vector<PostOp> post_ops_of(const FusedTail& tail) {
  std::vector<PostOp> ops;
  for (const TailStep& step : tail) {
    if (step.sum) {
      ops.push_back({PostOp::Kind::Sum, 1.0f, 0.0f});
      continue;
    }
    for (const PostOp& op : post_ops_of(step.expression)) ops.push_back(op);
  }
  return ops;
}

bool keep_non_finite(const std::vector<PostOp>& ops) {
  return std::ranges::all_of(ops, [](const PostOp& op) {
    switch (op.kind) {
      case PostOp::Kind::Sum:
      case PostOp::Kind::Linear:
      case PostOp::Kind::Abs:
      case PostOp::Kind::Square:
      case PostOp::Kind::Sqrt:
        return true;
      case PostOp::Kind::Relu:
        return op.alpha != 0.0f;
      default:
        return false;
    }
  });
}

}  // namespace het::cpu
