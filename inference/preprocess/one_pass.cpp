#include "inference/preprocess/one_pass.h"

#include <algorithm>
#include <atomic>

#include "inference/preprocess/axis_sample.h"
#include "inference/preprocess/column_tables.h"
#include "inference/preprocess/row_source.h"
#include "inference/preprocess/row_target.h"

namespace het {
namespace preprocess_internal {

namespace {

/// A part of the target that is worth another thread: a tenth of a millisecond.
constexpr int64_t kPartPixels = 1 << 15;

/// Rows [begin, end) of the destination. The one that ends it pads as well.
Status convert_part(const Conversion& conversion, const PreprocessDesc& desc, int begin, int end) {
  // Kept by the thread: in steady state a call allocates nothing.
  thread_local Scratch scratch;
  HET_TRY(
      scratch.reset(RowSource::scratch_bytes(conversion) + RowTarget::scratch_bytes(conversion)));
  RowSource source(conversion, scratch);
  const RowTarget target(conversion, scratch);
  const Rect& from = conversion.geometry.source;
  const Rect& to = conversion.geometry.destination;
  for (int y = begin; y < end; ++y) {
    const AxisSample sample = axis_sample(y, to.height, from.height);
    const int first = from.y + sample.first;
    // Whole-number ratios often hit a source row exactly; the other row is then not needed.
    const int second = sample.weight == 0 ? first : from.y + sample.second;
    const RowSource::ChannelRows top = source.row(first, second);
    target.put(y, top, source.row(second, first), sample.weight);
  }
  if (end == to.height) target.pad(desc.pad_value);
  return {};
}

}  // namespace

Status convert_by_rows(const Conversion& conversion, const PreprocessDesc& desc,
                       const ParallelLoop* loop) {
  const Rect& to = conversion.geometry.destination;
  std::atomic<bool> failed = false;
  run_loop(
      loop, to.height, kPartPixels / std::max(to.width, 1) + 1, [&](int64_t begin, int64_t end) {
        if (!convert_part(conversion, desc, static_cast<int>(begin), static_cast<int>(end)).ok()) {
          failed = true;
        }
      });
  if (failed) return error(StatusCode::OutOfMemory, "no memory to convert a picture in");
  return {};
}

}  // namespace preprocess_internal

Status preprocess(const Image& image, const Rect& roi, const PreprocessDesc& desc, Tensor& dst,
                  int64_t batch_index, const ParallelLoop* loop) {
  using namespace preprocess_internal;
  MappedPicture picture;
  HET_ASSIGN(const Conversion conversion,
             prepare_conversion(image, roi, desc, dst, batch_index, picture));
  if (fits_row_kernels(conversion)) return convert_by_rows(conversion, desc, loop);
  // Rows of a few bytes and machines without SSE4 are not worth kernels of their own.
  convert_by_definition(conversion, desc);
  return {};
}

}  // namespace het
