#include "inference/machine/multiply_chains.h"

#include <array>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace het {
namespace {

/// Chains that hide four cycles of latency on two units, and leave registers for both factors.
constexpr int kChains = 12;

// One loop for each instruction set: intrinsics need a function that is compiled for it. The
// factors are small enough for sums to stay finite; the empty statements keep every chain in a
// register.
#define HET_CHAINS(name, instructions, vector, zero, factor, multiply, first)                    \
  __attribute__((target(instructions))) double name(int64_t rounds) {                            \
    const auto a = factor;                                                                       \
    vector c0 = zero, c1 = c0, c2 = c0, c3 = c0, c4 = c0, c5 = c0;                               \
    vector c6 = c0, c7 = c0, c8 = c0, c9 = c0, c10 = c0, c11 = c0;                               \
    for (int64_t r = 0; r < rounds; ++r) {                                                       \
      c0 = multiply(c0, a, a), c1 = multiply(c1, a, a), c2 = multiply(c2, a, a);                 \
      c3 = multiply(c3, a, a), c4 = multiply(c4, a, a), c5 = multiply(c5, a, a);                 \
      c6 = multiply(c6, a, a), c7 = multiply(c7, a, a), c8 = multiply(c8, a, a);                 \
      c9 = multiply(c9, a, a), c10 = multiply(c10, a, a), c11 = multiply(c11, a, a);             \
      __asm__ volatile(""                                                                        \
                       : HET_REGISTER(c0), HET_REGISTER(c1), HET_REGISTER(c2), HET_REGISTER(c3), \
                         HET_REGISTER(c4), HET_REGISTER(c5));                                    \
      __asm__ volatile(""                                                                        \
                       : HET_REGISTER(c6), HET_REGISTER(c7), HET_REGISTER(c8), HET_REGISTER(c9), \
                         HET_REGISTER(c10), HET_REGISTER(c11));                                  \
    }                                                                                            \
    double total = 0.0;                                                                          \
    for (const vector& c : {c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11}) {                 \
      total += static_cast<double>(first(c));                                                    \
    }                                                                                            \
    return total;                                                                                \
  }

#if defined(__x86_64__)

#define HET_REGISTER(c) "+v"(c)

volatile float kFactor = 1e-9f;
volatile int kByte = 1;

#define HET_FMA256(chain, a, b) _mm256_fmadd_ps(a, b, chain)
#define HET_FMA512(chain, a, b) _mm512_fmadd_ps(a, b, chain)
#define HET_FIRST256(chain) _mm256_cvtss_f32(chain)
#define HET_FIRST512(chain) _mm512_cvtss_f32(chain)
#define HET_WHOLE256(chain) _mm256_extract_epi32(chain, 0)
#define HET_WHOLE512(chain) _mm512_cvtsi512_si32(chain)

HET_CHAINS(fma256, "avx2,fma", __m256, _mm256_setzero_ps(), _mm256_set1_ps(kFactor), HET_FMA256,
           HET_FIRST256)
HET_CHAINS(fma512, "avx512f", __m512, _mm512_setzero_ps(), _mm512_set1_ps(kFactor), HET_FMA512,
           HET_FIRST512)
HET_CHAINS(bf16_512, "avx512f,avx512bf16", __m512, _mm512_setzero_ps(),
           _mm512_cvtne2ps_pbh(_mm512_set1_ps(kFactor), _mm512_set1_ps(kFactor)), _mm512_dpbf16_ps,
           HET_FIRST512)
HET_CHAINS(int8_512, "avx512f,avx512vnni", __m512i, _mm512_setzero_si512(),
           _mm512_set1_epi8(static_cast<char>(kByte)), _mm512_dpbusd_epi32, HET_WHOLE512)
HET_CHAINS(int8_256, "avx2,avxvnni", __m256i, _mm256_setzero_si256(),
           _mm256_set1_epi8(static_cast<char>(kByte)), _mm256_dpbusd_avx_epi32, HET_WHOLE256)

// CPUID's leaf 7, since g++ 12 names neither AVX-VNNI nor AMX to __builtin_cpu_supports().
struct Leaf7 {
  std::array<unsigned, 4> first{};   ///< EAX to EDX of subleaf 0
  std::array<unsigned, 4> second{};  ///< of subleaf 1
};

Leaf7 leaf7() {
  Leaf7 leaf;
  for (unsigned sub = 0; sub < 2; ++sub) {
    auto& r = sub == 0 ? leaf.first : leaf.second;
    __asm__ volatile("cpuid" : "=a"(r[0]), "=b"(r[1]), "=c"(r[2]), "=d"(r[3]) : "a"(7), "c"(sub));
  }
  return leaf;
}

std::vector<Chains> chains_of_x86() {
  std::vector<Chains> chains;
  __builtin_cpu_init();
  const bool avx512 = __builtin_cpu_supports("avx512f") != 0;
  const bool avx2 = __builtin_cpu_supports("avx2") != 0;
  if (avx512) {
    chains.push_back({"f32", "vfmadd231ps, 512 bits", kChains * 16.0, fma512});
  } else if (avx2 && __builtin_cpu_supports("fma") != 0) {
    chains.push_back({"f32", "vfmadd231ps, 256 bits", kChains * 8.0, fma256});
  }
  if (avx512 && __builtin_cpu_supports("avx512bf16") != 0) {
    chains.push_back({"bf16", "vdpbf16ps, 512 bits", kChains * 32.0, bf16_512});
  }
  if (avx512 && __builtin_cpu_supports("avx512vnni") != 0) {
    chains.push_back({"int8", "vpdpbusd, 512 bits", kChains * 64.0, int8_512});
  } else if (avx2 && (leaf7().second[0] >> 4 & 1) != 0) {
    chains.push_back({"int8", "vpdpbusd, 256 bits", kChains * 32.0, int8_256});
  }
  return chains;
}

#elif defined(__aarch64__)

volatile float kFactor = 1e-9f;

#define HET_REGISTER(c) "+w"(c)
#define HET_FMLA(chain, a, b) vfmaq_f32(chain, a, b)
#define HET_FIRST128(chain) vgetq_lane_f32(chain, 0)

HET_CHAINS(fma_neon, "+simd", float32x4_t, vdupq_n_f32(0.0f), vdupq_n_f32(kFactor), HET_FMLA,
           HET_FIRST128)

#endif

}  // namespace

std::vector<Chains> chains_of_processor() {
#if defined(__x86_64__)
  return chains_of_x86();
#elif defined(__aarch64__)
  return {{"f32", "fmla, 128 bits", kChains * 4.0, fma_neon}};
#else
  return {};
#endif
}

bool has_tiles() {
#if defined(__x86_64__)
  return (leaf7().first[3] >> 24 & 1) != 0;
#else
  return false;
#endif
}

}  // namespace het
