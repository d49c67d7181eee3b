#include "devices/vpu/daemon/profile.h"

#include <array>

namespace het::vpu {
namespace {

constexpr uint64_t kMegabyte = uint64_t{1} << 20;

/// What such sticks and cards ran: layers of networks, hardly any arithmetic on integers.
constexpr std::array kOperators = {"Abs",
                                   "Add",
                                   "ArgMax",
                                   "AveragePool",
                                   "BatchNormalization",
                                   "Cast",
                                   "Clip",
                                   "Concat",
                                   "Conv",
                                   "ConvTranspose",
                                   "DepthToSpace",
                                   "Div",
                                   "Elu",
                                   "Erf",
                                   "Exp",
                                   "Expand",
                                   "Flatten",
                                   "Gather",
                                   "Gelu",
                                   "Gemm",
                                   "GlobalAveragePool",
                                   "GlobalMaxPool",
                                   "HardSigmoid",
                                   "HardSwish",
                                   "Identity",
                                   "InstanceNormalization",
                                   "LRN",
                                   "LayerNormalization",
                                   "LeakyRelu",
                                   "Log",
                                   "LogSoftmax",
                                   "MatMul",
                                   "Max",
                                   "MaxPool",
                                   "Min",
                                   "Mish",
                                   "Mul",
                                   "Neg",
                                   "PRelu",
                                   "Pad",
                                   "Pow",
                                   "Reciprocal",
                                   "ReduceMax",
                                   "ReduceMean",
                                   "ReduceMin",
                                   "ReduceSum",
                                   "Relu",
                                   "Reshape",
                                   "Resize",
                                   "Sigmoid",
                                   "Slice",
                                   "Softmax",
                                   "Softplus",
                                   "SpaceToDepth",
                                   "Split",
                                   "Sqrt",
                                   "Squeeze",
                                   "Sub",
                                   "Sum",
                                   "Swish",
                                   "Tanh",
                                   "Tile",
                                   "Transpose",
                                   "Unsqueeze",
                                   "het.NormalizeL2"};

std::vector<std::string> operators() {
  return {kOperators.begin(), kOperators.end()};
}

std::vector<ElementType> types() {
  return {ElementType::Float32, ElementType::Float16, ElementType::UInt8, ElementType::Int32,
          ElementType::Int64};
}

}  // namespace

Result<Profile> find_profile(std::string_view name) {
  if (name == "myriad") return Profile{"myriad", 4, 1, 512 * kMegabyte, types(), operators()};
  if (name == "hddl") return Profile{"hddl", 32, 8, 8 * 512 * kMegabyte, types(), operators()};
  if (name == "fpga") return Profile{"fpga", 5, 1, 2048 * kMegabyte, types(), operators()};
  return error(StatusCode::NotFound, "there is no profile '{}'; there are myriad, hddl and fpga",
               name);
}

}  // namespace het::vpu
