#pragma once

#include <dnnl.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "devices/cpu/formats/kernel.h"
#include "devices/cpu/formats/packed_constants.h"
#include "devices/cpu/formats/post_op.h"
#include "devices/cpu/formats/tensor_spec.h"
#include "inference/base/status.h"

// Everything else describes primitives with the structs below; onednn_version.h knows how
// oneDNN 2.x and 3.x differ.
namespace het::cpu {

/// Integer arithmetic: dst = round(post-ops(scale[oc] * (sum of (src - src_zero) * (weights -
/// weights_zero) + bias))). Zero points left at 0 and scales left empty are absent.
struct Quantisation {
  std::vector<float> scales;  ///< one, or one per output channel
  int32_t src_zero = 0;
  int32_t weights_zero = 0;  ///< of matrix products only
};

/// A primitive with the memory formats it works on.
struct Primitive {
  dnnl::primitive primitive;
  std::string implementation;  ///< "jit:avx512_core"
  size_t scratch_bytes = 0;
  /// By DNNL_ARG_*.
  std::vector<std::pair<int, dnnl::memory::desc>> descs;
  /// Scales and the like that each execution takes, by DNNL_ARG_*.
  std::vector<std::pair<int, dnnl::memory>> constants;
  bool keeps_non_finite = true;  ///< Kernel::keeps_non_finite()
  const dnnl::memory::desc* desc(int argument) const;
};

/// The CPU as oneDNN sees it; cheap to copy around.
const dnnl::engine& cpu_engine();

dnnl::memory::desc memory_desc(const TensorSpec& spec);
/// The format of a description that oneDNN chose for this activation, or nothing when it is none of
/// ours.
std::optional<Format> format_of(const dnnl::memory::desc& desc, const TensorSpec& spec);

/// Formats that the caller fixes; the others are left to oneDNN.
struct ConvolutionSpec {
  TensorSpec src;  ///< [N,IC,spatial...]
  TensorSpec dst;  ///< [N,OC,spatial...]
  std::optional<Format> src_format;
  std::optional<Format> dst_format;
  ElementType weights_type = ElementType::Float32;
  Shape weights;  ///< [OC,IC/groups,kernel...]; transposed: [IC,OC/groups,kernel...]
  std::optional<ElementType> bias_type;
  int64_t groups = 1;
  bool transposed = false;
  std::vector<int64_t> strides, dilations, pads_begin, pads_end;  ///< dilation 1 = dense
  std::vector<PostOp> post_ops;
  Quantisation quantisation;
};
/// A convolution along one dimension becomes one over pictures of height 1.
void add_height(ConvolutionSpec& spec);
Result<Primitive> make_convolution(const ConvolutionSpec& spec);
/// False for the name of oneDNN's reference.
inline bool is_generated(std::string_view implementation) {
  return implementation.find("ref") == std::string_view::npos;
}
/// The name of what make_convolution() gives, without generating its code.
Result<std::string> convolution_implementation(const ConvolutionSpec& spec);
/// Plain weights as the model has them, described for a reorder into the primitive's.
dnnl::memory::desc plain_weights_desc(const ConvolutionSpec& spec);

struct PoolingSpec {
  TensorSpec src;
  TensorSpec dst;  ///< same format as src
  enum class Kind : uint8_t { Max, AverageIncludePadding, AverageExcludePadding } kind = Kind::Max;
  std::vector<int64_t> kernel, strides, dilations, pads_begin, pads_end;
};
Result<Primitive> make_pooling(const PoolingSpec& spec);

/// dst = src x weights + bias over equal ranks; batch dimensions of one are broadcast.
struct MatMulSpec {
  TensorSpec src, weights, dst;
  bool src_transposed = false;      ///< the last two dimensions lie swapped in memory
  bool weights_transposed = false;  ///< likewise
  bool weights_packed = false;      ///< oneDNN chooses their format (constants)
  std::optional<ElementType> bias_type;
  Shape bias;  ///< same rank, broadcast to dst
  std::vector<PostOp> post_ops;
  Quantisation quantisation;
};
Result<Primitive> make_matmul(const MatMulSpec& spec);
Result<std::string> matmul_implementation(const MatMulSpec& spec);
dnnl::memory::desc plain_weights_desc(const MatMulSpec& spec);
/// The bias of an integer product, given in units of its sums, as this oneDNN takes it.
Result<Tensor> bias_of_sums(const Tensor& sums, const Quantisation& quantisation);

Result<Primitive> make_softmax(const TensorSpec& spec, int64_t axis, bool logarithm);
/// Between formats and types of equal shapes.
Result<Primitive> make_reorder(const TensorSpec& src, const TensorSpec& dst);

/// A constant operand of a primitive in the format it wants; `plain` lies as `plain_desc` says.
Result<dnnl::memory> pack_constant(const Tensor& plain, const dnnl::memory::desc& plain_desc,
                                   const dnnl::memory::desc& wanted);

/// The same for a node's kernel: taken from an imported model, or noted for an exported one.
Result<dnnl::memory> pack_constant(const NodePacking& packing, const Tensor& plain,
                                   const dnnl::memory::desc& plain_desc,
                                   const dnnl::memory::desc& wanted);

/// Where an argument of a primitive comes from.
struct PrimitiveOperand {
  enum class Source : uint8_t { Input, Output, Constant } source = Source::Input;
  int argument = 0;  ///< DNNL_ARG_*
  size_t index = 0;  ///< into the step's inputs or outputs
  dnnl::memory constant;
};

/// Runs a primitive. With `sum_input` that input is first copied to output 0 unless it is the same
/// memory already, for PostOp::Sum.
std::unique_ptr<Kernel> make_primitive_kernel(Primitive primitive,
                                              std::vector<PrimitiveOperand> operands,
                                              std::optional<size_t> sum_input = std::nullopt);

/// Whether what oneDNN shares among threads is shared by the calling thread's team
/// (threads/team.h). False for one that was built without GNU OpenMP.
bool onednn_runs_on_teams();
/// True where oneDNN computes with bfloat16 on this processor.
bool has_bfloat16();
/// True where the processor itself has instructions for it.
bool has_bfloat16_arithmetic();
/// How many times as fast as in float32 oneDNN's convolutions in bfloat16 are here, by the peaks.
double bfloat16_speed();
/// Version and instruction set, for what depends on both: "oneDNN 2.6.3 isa 0x7f".
std::string onednn_description();
/// Channels in a block of the format that oneDNN prefers here.
Format preferred_blocked_format();

}  // namespace het::cpu
