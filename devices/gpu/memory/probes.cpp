#include "devices/gpu/memory/probes.h"

#include <array>
#include <cstdint>
#include <vector>

#include "devices/gpu/memory/context.h"

namespace het::gpu {
namespace {

constexpr size_t kPairs = 512;

/// What a probe's kernel reads and, as the host computes it, writes: two results a pair.
template <class From, class To>
struct Trial {
  std::vector<From> a;
  std::vector<From> b;
  std::vector<To> wanted;
};

template <class Byte>
int32_t byte_of(uint32_t packed, int i) {
  return static_cast<Byte>(packed >> (8 * i));
}

Trial<uint32_t, int32_t> dot_products() {
  // All extremes against each other, then bits of a linear congruential generator.
  constexpr std::array<uint32_t, 4> kExtremes = {0x00000000, 0xffffffff, 0x80808080, 0x7f80ff01};
  Trial<uint32_t, int32_t> trial;
  uint32_t state = 1;
  const auto next = [&] { return state = state * 1664525 + 1013904223; };
  for (size_t i = 0; i < kPairs; ++i) {
    const bool extreme = i < kExtremes.size() * kExtremes.size();
    trial.a.push_back(extreme ? kExtremes[i % kExtremes.size()] : next());
    trial.b.push_back(extreme ? kExtremes[i / kExtremes.size()] : next());
    int32_t from_unsigned = 0;
    int32_t from_signed = 0;
    for (int k = 0; k < 4; ++k) {
      const int32_t factor = byte_of<int8_t>(trial.b.back(), k);
      from_unsigned += byte_of<uint8_t>(trial.a.back(), k) * factor;
      from_signed += byte_of<int8_t>(trial.a.back(), k) * factor;
    }
    trial.wanted.insert(trial.wanted.end(), {from_unsigned, from_signed});
  }
  return trial;
}

Trial<float, float> pairs() {
  Trial<float, float> trial;
  for (size_t i = 0; i < kPairs; ++i) {
    trial.a.push_back(static_cast<float>(i * 37 % kPairs));
    trial.b.push_back(static_cast<float>(i));
    trial.wanted.insert(trial.wanted.end(), {trial.a.back(), trial.b.back()});
  }
  return trial;
}

Trial<float, float> half_products() {
  // Quarters whose products and sums half holds exactly, with and without fused operations.
  Trial<float, float> trial;
  for (size_t i = 0; i < kPairs; ++i) {
    const float a = 0.25f * static_cast<float>(static_cast<int>(i % 32) - 16);
    const float b = 0.25f * static_cast<float>(static_cast<int>(i / 32) - 8);
    trial.a.push_back(a);
    trial.b.push_back(b);
    trial.wanted.insert(trial.wanted.end(), {a * b + a, a * b + b * b});
  }
  return trial;
}

template <class From, class To>
Status run(Context& context, const char* file, const std::string& options,
           const Trial<From, To>& trial) {
  ProgramText text;
  text.file = file;
  text.options = options;
  HET_ASSIGN(const ProgramPtr program, context.programs().get(text, {}));
  cl_int code = CL_SUCCESS;
  const KernelHandle kernel(clCreateKernel(program->handle.get(), "probe", &code));
  HET_TRY(cl_status(code, "create the kernel"));
  HET_ASSIGN(const Memory a, context.upload(trial.a.data(), trial.a.size() * sizeof(From)));
  HET_ASSIGN(const Memory b, context.upload(trial.b.data(), trial.b.size() * sizeof(From)));
  std::vector<To> results(trial.wanted.size());
  const size_t bytes = results.size() * sizeof(To);
  HET_ASSIGN(const Memory dst, context.allocate(bytes));
  cl_uint index = 0;
  for (const Memory& memory : {a, b, dst}) {
    const cl_mem object = memory->get();
    HET_TRY(cl_status(clSetKernelArg(kernel.get(), index++, sizeof object, &object), "set it"));
  }
  const auto count = static_cast<cl_int>(trial.a.size());
  HET_TRY(cl_status(clSetKernelArg(kernel.get(), index, sizeof count, &count), "set its count"));
  HET_ASSIGN(const QueueHandle queue, context.create_queue(false));
  const size_t items = trial.a.size();
  HET_TRY(cl_status(clEnqueueNDRangeKernel(queue.get(), kernel.get(), 1, nullptr, &items, nullptr,
                                           0, nullptr, nullptr),
                    "run it"));
  HET_TRY(cl_status(clEnqueueReadBuffer(queue.get(), dst->get(), CL_TRUE, 0, bytes, results.data(),
                                        0, nullptr, nullptr),
                    "read its results"));
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i] == trial.wanted[i]) continue;
    return error(StatusCode::Internal, "result {} is {} instead of {}", i, results[i],
                 trial.wanted[i]);
  }
  return {};
}

/// Built-in functions of sub-groups are those of OpenCL C 2.0 or 3.0, or of Intel's extension to
/// 1.2.
std::vector<std::string> options_to_try(const Hardware& hardware, Feature feature) {
  if (feature == Feature::SubGroups && hardware.has_extension("cl_khr_subgroups"))
    return {fmt::format("-cl-std=CL{}.0", hardware.opencl_major >= 3 ? 3 : 2), ""};
  if (hardware.opencl_major < 3) return {""};
  return {"", "-cl-std=CL3.0"};
}

const char* extension_of(const Hardware& hardware, Feature feature) {
  switch (feature) {
    case Feature::Half:
      return "cl_khr_fp16";
    case Feature::IntegerDotProduct:
      return "cl_khr_integer_dot_product";
    case Feature::SubGroups:
      break;
  }
  const bool is_old =
      hardware.has_extension("cl_intel_subgroups") && !hardware.has_extension("cl_khr_subgroups");
  return is_old ? "cl_intel_subgroups" : "cl_khr_subgroups";
}

Status run(Context& context, Feature feature, const std::string& options) {
  switch (feature) {
    case Feature::Half:
      return run(context, "probe_half", options, half_products());
    case Feature::IntegerDotProduct:
      return run(context, "probe_dot_product", options, dot_products());
    case Feature::SubGroups:
      break;
  }
  return run(context, "probe_subgroups", options, pairs());
}

}  // namespace

Result<std::string> probe(Context& context, Feature feature) {
  const char* const extension = extension_of(context.hardware(), feature);
  if (!context.hardware().has_extension(extension)) {
    return error(StatusCode::NotSupported, "{} is not named", extension);
  }
  Status first;
  for (const std::string& options : options_to_try(context.hardware(), feature)) {
    Status status = run(context, feature, options);
    if (status.ok()) return options;
    if (first.ok()) first = std::move(status);
  }
  return Failure(std::move(first).with_context(extension));
}

}  // namespace het::gpu
