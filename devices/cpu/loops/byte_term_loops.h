#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "devices/cpu/loops/int8_shape.h"
#include "devices/cpu/loops/widened_loops.h"

namespace het::cpu {

/// Convolutions of bytes as they are, on x86. Panels and their channels are those of
/// widened_loops.h. A term is four neighbouring bytes of a pixel's window times four weights of
/// each channel of half a panel: of fewer channels, fewer terms have to be cut.

/// What multiplies the bytes of a term.
enum class ByteDot : uint8_t {
  /// vpmaddubsw of AVX2: unsigned bytes by signed weights, neighbouring products added in 16 bits
  /// that saturate. So weights are cut into terms whose sums fit in them whatever the source is:
  /// for most weights that is one term.
  Pairs,
  /// The same on a source that holds every quad once for each choice of its neighbours, of which
  /// each term takes the one that suits its weights: few have to be cut, and more go together.
  ChosenPairs,
  /// vpdpbusd of AVX-VNNI, in vectors of 256 bits: all four products added in 32 bits.
  Quads,
  /// The same by other instructions, to check the loops where there is no AVX-VNNI.
  EmulatedQuads
};

/// True where the processor has vpmaddubsw, on vectors that are wide enough to be faster than
/// widened bytes.
bool has_byte_pairs();
/// True where these loops use vpdpbusd for Quads, rather than what emulates it.
bool has_byte_quads();

/// The terms of half a panel. The first 2 * coupled ones (of Pairs only) go two by two: the sums of
/// both fit in 16 bits.
struct ByteTerms {
  std::vector<int32_t> offsets;  ///< of their bytes from where a pixel begins
  std::vector<int8_t> weights;   ///< byte_term_bytes() of each
  std::vector<int32_t> start;    ///< per channel: what the zero point of the source adds to a sum
  int32_t coupled = 0;
};
/// Bytes of the weights of a term.
int64_t byte_term_bytes();

/// True where a convolution may be computed so: not a depthwise one or one of no channels.
bool is_byte_shape(const Int8Shape& shape);
/// The same with groups of few channels packed as many as a panel has channels for, where they fill
/// it.
Int8Shape with_packed_groups(const Int8Shape& shape);
/// True where quads lie the same in every pixel, or can be gathered so, which ChosenPairs needs.
bool may_choose_pairs(const Int8Shape& shape);
/// Terms of a half of which none is cut.
int64_t byte_quads(const Int8Shape& shape, ByteDot dot);
/// Cuts the weights of a half: 2 * panel and 2 * panel + 1 of all groups' panels. False where a
/// weight less its zero point is no int8.
bool cut_byte_terms(const Int8Shape& shape, ByteDot dot, const int8_t* weights,
                    const WeightStrides& strides, int64_t half, ByteTerms& terms);

/// The terms of half a panel in memory.
struct ByteHalf {
  const int32_t* start;
  const int32_t* offsets;
  const int8_t* weights;
  int32_t coupled;
  int32_t single;
};

/// Bytes of the gathered source of so many rows of the result, and how far a term's offset may be.
int64_t gathered_bytes(const Int8Shape& shape, ByteDot dot, int64_t rows);
int64_t largest_byte_offset(const Int8Shape& shape, ByteDot dot);
/// Where the pixels of so many rows of the result begin in the gathered source.
std::vector<int32_t> byte_pixels(const Int8Shape& shape, ByteDot dot, int64_t rows);
/// Gathers the source of a strip and returns where it is: in `gathered`, or where it was. Signed
/// bytes become unsigned ones, 128 more.
const uint8_t* gather_bytes(const Int8Shape& shape, ByteDot dot, const Int8Strip& strip,
                            const std::byte* src, uint8_t* gathered);

/// The results of the strip in panels [begin, end) of its group, of which `halves` are. `pixels`
/// are those of byte_pixels(), `dot` is what the panels were cut for.
void multiply_bytes(const Int8Shape& shape, ByteDot dot, const std::vector<int32_t>& pixels,
                    const Int8Strip& strip, const uint8_t* gathered,
                    std::span<const ByteHalf> halves, int64_t begin, int64_t end,
                    const Int8Tail& tail, std::byte* dst);

}  // namespace het::cpu
