#pragma once

#include <cstddef>
#include <cstdint>

/// What a model file may ask for. Far above every published model, low enough that a file made to
/// do harm is refused before it costs gigabytes or minutes.
namespace het::onnx {

/// Protobuf's own limit of a message.
inline constexpr size_t kMaxModelBytes = size_t{2} << 30;
/// Graphs inside graphs.
inline constexpr size_t kMaxDepth = 16;
/// Nodes, attributes, tensors, inputs, dimensions ... of the whole file together.
inline constexpr size_t kMaxObjects = 4'000'000;
inline constexpr size_t kMaxNodes = 500'000;
/// Numbers in attributes, of the whole file together.
inline constexpr size_t kMaxAttributeNumbers = 64'000'000;
inline constexpr size_t kMaxNameBytes = 65'536;
/// Functions that call functions; names that expanding functions makes, of the whole file together.
inline constexpr size_t kMaxCallDepth = 64;
inline constexpr size_t kMaxMadeNameBytes = size_t{256} << 20;
inline constexpr size_t kMaxRank = 64;
/// Of a node's metadata: longer values, and what comes when all nodes have this much, is left out.
inline constexpr size_t kMaxRtInfoBytes = 65'536;
inline constexpr size_t kMaxRtInfoBytesTotal = size_t{256} << 20;
/// Bytes of tensors that cannot be referenced in a mapped file (typed fields, unaligned raw data),
/// of the whole file together; and how many of them a byte of the file may turn into.
inline constexpr size_t kUnpackFactor = 8;
inline constexpr size_t kMaxUnpackedBytes = size_t{16} << 30;

}  // namespace het::onnx
