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

}  // namespace

Result<std::string> probe(Context& context, Feature feature) {
  const bool is_half = feature == Feature::Half;
  const char* const extension = is_half ? "cl_khr_fp16" : "cl_khr_integer_dot_product";
  if (!context.hardware().has_extension(extension)) {
    return error(StatusCode::NotSupported, "{} is not named", extension);
  }
  Status first;
  for (const char* options : {"", "-cl-std=CL3.0"}) {
    Status status = is_half ? run(context, "probe_half", options, half_products())
                            : run(context, "probe_dot_product", options, dot_products());
    if (status.ok()) return std::string(options);
    if (first.ok()) first = std::move(status);
    if (context.hardware().opencl_major < 3) break;
  }
  return Failure(std::move(first).with_context(extension));
}

}  // namespace het::gpu
