#pragma once

#include <cstddef>
#include <cstdint>

/// What an IR file may ask for. Far above every published model, low enough that a file made to do
/// harm is refused before it costs gigabytes or minutes.
namespace het::ir {

inline constexpr size_t kMaxXmlBytes = size_t{256} << 20;
/// XML elements inside each other; a body of control flow takes three.
inline constexpr size_t kMaxXmlDepth = 96;
inline constexpr size_t kMaxElements = 3'000'000;
inline constexpr size_t kMaxXmlAttributes = 3'000'000;
inline constexpr size_t kMaxXmlAttributesPerElement = 512;
/// Graphs inside graphs.
inline constexpr size_t kMaxBodyDepth = 16;
/// Layers of the whole file together.
inline constexpr size_t kMaxLayers = 300'000;
inline constexpr size_t kMaxRank = 64;
/// Numbers of one list in an attribute.
inline constexpr size_t kMaxListNumbers = 1'000'000;
/// Numbers of a constant that a translation looks at (axes, sizes, bounds): any number of layers
/// may refer to the same one.
inline constexpr size_t kMaxListContent = 4'096;
inline constexpr size_t kMaxNameBytes = 8'192;
/// Names of layers and tensors of the whole file together: nodes, values and inner nodes copy them.
inline constexpr size_t kMaxNameBytesTotal = size_t{16} << 20;
/// Constants that translations make up (permutations, ones, zeros), and the names of what they
/// make, of the whole file together.
inline constexpr size_t kMaxMadeBytes = size_t{256} << 20;
/// Entries that rt_info may add to the model's metadata, and the bytes of one value.
inline constexpr size_t kMaxMetadataEntries = 4'096;
inline constexpr size_t kMaxMetadataBytes = size_t{1} << 20;
/// Constants that cannot be referenced in the mapped file (unaligned, booleans, u1) may take this
/// many times the bytes of the file, and never more than kMaxCopiedBytes.
inline constexpr size_t kCopyFactor = 16;
inline constexpr size_t kMaxCopiedBytes = size_t{8} << 30;

}  // namespace het::ir
