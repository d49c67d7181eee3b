#include <algorithm>

#include "inference/readers/openvino_ir/translate.h"

/// Moving elements between channels or the batch and blocks of places: Reshape, Transpose and
/// Reshape of known sizes, any number of spatial dimensions.
namespace het::ir {
namespace {

constexpr int64_t kMostBlock = int64_t{1} << 20;

/// The sizes behind the first dimension, which may be open; empty after a refusal.
Shape known_sizes(LayerContext& context) {
  const Shape& x = context.input_shape(0);
  const bool known =
      x.size() > 1 && x.size() <= 16 &&
      std::all_of(x.begin() + 1, x.end(), [](int64_t d) { return d > 0 && d < int64_t{1} << 31; });
  if (known) return {x.begin() + 1, x.end()};
  context.refuse(fmt::format("{} of an input of shape {} is not supported: its sizes must be known",
                             context.layer().type, to_string(x)));
  return {};
}

int64_t block_size(LayerContext& context) {
  const int64_t block = context.integer("block_size", 1);
  if (block < 1 || block > kMostBlock) {
    context.fail(Status(StatusCode::ParseError, fmt::format("block_size is {}", block)));
    return 1;
  }
  return block;
}

bool has_depth_first(LayerContext& context) {
  return context.text("mode", "blocks_first") == "depth_first";
}

/// [n, c, d1 ...] with the channels' blocks behind each spatial dimension.
void depth_to_space(LayerContext& context) {
  const bool depth_first = has_depth_first(context);
  const int64_t block = block_size(context);
  if (context.input_rank(0) == 4) {
    Attributes attributes = with("blocksize", block);
    attributes.set("mode", std::string(depth_first ? "CRD" : "DCR"));
    return context.finish("DepthToSpace", {context.input(0)}, std::move(attributes));
  }
  const Shape sizes = known_sizes(context);
  if (sizes.empty()) return;
  const size_t k = sizes.size() - 1;
  int64_t channels = sizes[0];
  for (size_t i = 0; i < k; ++i) {
    if (channels % block != 0) {
      return context.fail(Status(
          StatusCode::ParseError,
          fmt::format("its {} channels cannot be divided into blocks of {}", sizes[0], block)));
    }
    channels /= block;
  }
  std::vector<int64_t> split{0};
  std::vector<int64_t> order{0};
  std::vector<int64_t> joined{0, channels};
  const auto spatial = static_cast<int64_t>(k) + 2;  // the first spatial dimension of `split`
  if (depth_first) split.push_back(channels);
  for (size_t i = 0; i < k; ++i) split.push_back(block);
  if (!depth_first) split.push_back(channels);
  order.push_back(depth_first ? 1 : spatial - 1);
  for (size_t i = 0; i < k; ++i) {
    split.push_back(sizes[i + 1]);
    order.push_back(spatial + static_cast<int64_t>(i));
    order.push_back((depth_first ? 2 : 1) + static_cast<int64_t>(i));
    joined.push_back(sizes[i + 1] * block);
  }
  Value* const moved = context.transposed(context.reshaped(context.input(0), split), order);
  context.finish("Reshape", {moved, context.integers_constant("joined", joined)});
}

/// ONNX puts the places within a block before the channels; depth_first puts them behind.
void space_to_depth(LayerContext& context) {
  const bool depth_first = has_depth_first(context);
  const int64_t block = block_size(context);
  if (context.input_rank(0) == 4 && !depth_first) {
    return context.finish("SpaceToDepth", {context.input(0)}, with("blocksize", block));
  }
  const Shape sizes = known_sizes(context);
  if (sizes.empty()) return;
  const size_t k = sizes.size() - 1;
  std::vector<int64_t> split{0, sizes[0]};
  std::vector<int64_t> blocks;
  std::vector<int64_t> places;
  std::vector<int64_t> joined{0, sizes[0]};
  for (size_t i = 0; i < k; ++i) {
    if (sizes[i + 1] % block != 0 || __builtin_mul_overflow(joined[1], block, &joined[1])) {
      return context.fail(Status(
          StatusCode::ParseError,
          fmt::format("its size {} cannot be divided into blocks of {}", sizes[i + 1], block)));
    }
    split.insert(split.end(), {sizes[i + 1] / block, block});
    places.push_back(2 + 2 * static_cast<int64_t>(i));
    blocks.push_back(3 + 2 * static_cast<int64_t>(i));
    joined.push_back(sizes[i + 1] / block);
  }
  std::vector<int64_t> order{0};
  if (depth_first) order.push_back(1);
  order.insert(order.end(), blocks.begin(), blocks.end());
  if (!depth_first) order.push_back(1);
  order.insert(order.end(), places.begin(), places.end());
  Value* const moved = context.transposed(context.reshaped(context.input(0), split), order);
  context.finish("Reshape", {moved, context.integers_constant("joined", joined)});
}

/// The block along each dimension and what is added or cut off at both ends.
struct BatchBlocks {
  std::vector<int64_t> block;
  std::vector<int64_t> begin;
  std::vector<int64_t> end;
};

/// Empty lists after a refusal.
BatchBlocks read_batch_blocks(LayerContext& context, size_t dims) {
  BatchBlocks blocks{context.required_integers(1, "a block shape"),
                     context.required_integers(2, "pads or crops"),
                     context.required_integers(3, "pads or crops")};
  if (!context.refusal().empty()) return {};
  const auto in_range = [](const std::vector<int64_t>& values, int64_t least) {
    return std::all_of(values.begin(), values.end(),
                       [&](int64_t v) { return v >= least && v <= kMostBlock; });
  };
  if (blocks.block.size() != dims || blocks.begin.size() != dims || blocks.end.size() != dims ||
      !in_range(blocks.block, 1) || !in_range(blocks.begin, 0) || !in_range(blocks.end, 0) ||
      blocks.block[0] != 1 || blocks.begin[0] != 0 || blocks.end[0] != 0) {
    context.fail(Status(
        StatusCode::ParseError,
        fmt::format("its blocks {}, {} and {} do not fit {} dimensions", to_string(blocks.block),
                    to_string(blocks.begin), to_string(blocks.end), dims)));
    return {};
  }
  return blocks;
}

/// [blocks * n, d1 ...] -> [n, d1 * b1 ...], cut off at both ends.
void batch_to_space(LayerContext& context) {
  const Shape sizes = known_sizes(context);
  if (sizes.empty()) return;
  const BatchBlocks blocks = read_batch_blocks(context, sizes.size() + 1);
  if (blocks.block.empty()) return;
  const auto k = static_cast<int64_t>(sizes.size());
  std::vector<int64_t> split(blocks.block.begin() + 1, blocks.block.end());
  split.push_back(-1);
  split.insert(split.end(), sizes.begin(), sizes.end());
  std::vector<int64_t> order{k};
  std::vector<int64_t> joined{-1};
  std::vector<int64_t> axes;
  std::vector<int64_t> ends;
  for (int64_t i = 0; i < k; ++i) {
    const auto at = static_cast<size_t>(i);
    order.insert(order.end(), {k + 1 + i, i});
    joined.push_back(sizes[at] * blocks.block[at + 1]);
    axes.push_back(i + 1);
    ends.push_back(joined.back() - blocks.end[at + 1]);
  }
  Value* const moved = context.transposed(context.reshaped(context.input(0), split), order);
  Value* const whole = context.reshaped(moved, joined);
  const std::vector<int64_t> starts(blocks.begin.begin() + 1, blocks.begin.end());
  context.finish(
      "Slice", {whole, context.integers_constant("starts", starts),
                context.integers_constant("ends", ends), context.integers_constant("axes", axes)});
}

/// Padded [n, d1 ...] -> [blocks * n, d1 / b1 ...].
void space_to_batch(LayerContext& context) {
  const Shape sizes = known_sizes(context);
  if (sizes.empty()) return;
  const BatchBlocks blocks = read_batch_blocks(context, sizes.size() + 1);
  if (blocks.block.empty()) return;
  const auto k = static_cast<int64_t>(sizes.size());
  std::vector<int64_t> pads = blocks.begin;
  pads.insert(pads.end(), blocks.end.begin(), blocks.end.end());
  Value* const padded =
      context.add("Pad", {context.input(0), context.integers_constant("pads", pads)});
  std::vector<int64_t> split{-1};
  std::vector<int64_t> order;
  std::vector<int64_t> places;
  std::vector<int64_t> joined{-1};
  for (int64_t i = 0; i < k; ++i) {
    const auto at = static_cast<size_t>(i);
    const int64_t size = sizes[at] + blocks.begin[at + 1] + blocks.end[at + 1];
    if (size % blocks.block[at + 1] != 0) {
      return context.fail(
          Status(StatusCode::ParseError,
                 fmt::format("the padded size {} cannot be divided into blocks of {}", size,
                             blocks.block[at + 1])));
    }
    split.insert(split.end(), {size / blocks.block[at + 1], blocks.block[at + 1]});
    order.push_back(2 + 2 * i);
    places.push_back(1 + 2 * i);
    joined.push_back(size / blocks.block[at + 1]);
  }
  order.push_back(0);
  order.insert(order.end(), places.begin(), places.end());
  Value* const moved = context.transposed(context.reshaped(padded, split), order);
  context.finish("Reshape", {moved, context.integers_constant("joined", joined)});
}

/// How many positions a window of extent `extent` has along a dimension, and the pads of auto_pad.
struct PatchAxis {
  int64_t count = 0;
  int64_t before = 0;
  int64_t after = 0;
};

PatchAxis patch_axis(int64_t size, int64_t extent, int64_t stride, const std::string& auto_pad) {
  if (auto_pad == "valid") return {size < extent ? 0 : (size - extent) / stride + 1, 0, 0};
  const int64_t count = (size + stride - 1) / stride;
  const int64_t missing = std::max<int64_t>(0, (count - 1) * stride + extent - size);
  const int64_t less = missing / 2;
  return auto_pad == "same_upper" ? PatchAxis{count, less, missing - less}
                                  : PatchAxis{count, missing - less, less};
}

/// One slice of the padded picture per place of the window, joined along the channels.
void extract_image_patches(LayerContext& context) {
  const Shape sizes = known_sizes(context);
  if (sizes.empty()) return;
  const std::vector<int64_t> window = context.integers("sizes");
  const std::vector<int64_t> strides = context.integers("strides");
  const std::vector<int64_t> rates = context.integers("rates");
  const std::string auto_pad = context.text("auto_pad", "valid");
  for (const auto& list : {window, strides, rates}) {
    if (sizes.size() == 3 && list.size() == 2 && std::min(list[0], list[1]) >= 1 &&
        std::max(list[0], list[1]) <= 1 << 16) {
      continue;
    }
    return context.fail(Status(
        StatusCode::ParseError,
        "it needs an input of four dimensions and two sizes, strides and rates of 1 to 65536"));
  }
  if (window[0] * window[1] > 4096) {
    return context.refuse(fmt::format("ExtractImagePatches of windows of {} x {} is not supported",
                                      window[0], window[1]));
  }
  const PatchAxis y = patch_axis(sizes[1], (window[0] - 1) * rates[0] + 1, strides[0], auto_pad);
  const PatchAxis x = patch_axis(sizes[2], (window[1] - 1) * rates[1] + 1, strides[1], auto_pad);
  Value* const padded = context.add(
      "Pad", {context.input(0), context.integers_constant(
                                    "pads", {0, 0, y.before, x.before, 0, 0, y.after, x.after})});
  Value* const axes = context.integers_constant("axes", {2, 3});
  Value* const steps = context.integers_constant("steps", strides);
  std::vector<Value*> parts;
  for (int64_t i = 0; i < window[0]; ++i) {
    for (int64_t j = 0; j < window[1]; ++j) {
      const int64_t top = i * rates[0];
      const int64_t left = j * rates[1];
      const std::vector<int64_t> ends{top + (y.count - 1) * strides[0] + 1,
                                      left + (x.count - 1) * strides[1] + 1};
      parts.push_back(context.add("Slice", {padded, context.integers_constant("from", {top, left}),
                                            context.integers_constant("to", ends), axes, steps}));
    }
  }
  context.finish("Concat", std::move(parts), with("axis", int64_t{1}));
}

void col2im(LayerContext& context) {
  const std::vector<int64_t> kernel = context.required_integers(2, "a kernel size");
  const bool batched = context.input_rank(0) != 2;
  Attributes attributes;
  for (const char* name : {"strides", "dilations"}) {
    const std::vector<int64_t> values = context.integers(name);
    if (!values.empty()) attributes.set(name, values);
  }
  std::vector<int64_t> pads = context.integers("pads_begin");
  const std::vector<int64_t> end = context.integers("pads_end");
  pads.insert(pads.end(), end.begin(), end.end());
  if (!pads.empty()) attributes.set("pads", pads);
  Value* const columns = batched ? context.input(0) : context.unsqueezed(context.input(0), {0});
  std::vector<Value*> inputs{columns, context.integer_list(context.input(1)),
                             context.integers_constant("kernel", kernel)};
  if (batched) return context.finish("Col2Im", std::move(inputs), std::move(attributes));
  Value* const picture = context.add("Col2Im", std::move(inputs), std::move(attributes));
  context.finish("Squeeze", {picture, context.integers_constant("batch", {0})});
}

constexpr Translation kBlocksTable[] = {
    {"DepthToSpace", depth_to_space},
    {"SpaceToDepth", space_to_depth},
    {"BatchToSpace", batch_to_space},
    {"SpaceToBatch", space_to_batch},
    {"ExtractImagePatches", extract_image_patches},
    {"Col2Im", col2im},
};

}  // namespace

std::span<const Translation> block_translations() {
  return kBlocksTable;
}

}  // namespace het::ir
