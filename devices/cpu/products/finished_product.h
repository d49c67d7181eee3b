#pragma once

#include <memory>

#include "devices/cpu/formats/kernel.h"
#include "devices/cpu/products/int8_product.h"

namespace het::cpu {

/// Products whose sums oneDNN stores as float32, and whose tail and rounding are a pass of our own:
/// over strips of rows that are in the cache still, or over the whole result. That is what steps of
/// their own for each channel need, and activations take less time so. Products of bytes, and
/// het.RoundedConv of floats.

/// Rows of one strip of so many; all of them where strips are not worth it.
int64_t finished_strip(int64_t rows, int64_t channels);

/// True when that pass has the steps and the tail of a node.
bool can_finish(const Node& node);

/// True when this product of bytes is computed so: it is faster, or there is no other way in
/// oneDNN.
bool prefers_finished(const Node& node, const Int8Arithmetic& arithmetic);

/// `product` computes a strip as float32 from rows of `src_row_bytes`, or the whole.
std::unique_ptr<Kernel> make_finished_kernel(std::unique_ptr<Kernel> product, const Node& node,
                                             int64_t rows, int64_t strip, int64_t src_row_bytes);

}  // namespace het::cpu
