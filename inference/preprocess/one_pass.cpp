#include "inference/preprocess/one_pass.h"

#include "inference/preprocess/axis_sample.h"
#include "inference/preprocess/column_tables.h"
#include "inference/preprocess/row_source.h"
#include "inference/preprocess/row_target.h"

namespace het {
namespace preprocess_internal {

Status convert_by_rows(const Conversion& conversion, const PreprocessDesc& desc) {
  // Kept by the thread: in steady state a call allocates nothing.
  thread_local Scratch scratch;
  HET_TRY(
      scratch.reset(RowSource::scratch_bytes(conversion) + RowTarget::scratch_bytes(conversion)));
  RowSource source(conversion, scratch);
  const RowTarget target(conversion, scratch);
  const Rect& from = conversion.geometry.source;
  const Rect& to = conversion.geometry.destination;
  for (int y = 0; y < to.height; ++y) {
    const AxisSample sample = axis_sample(y, to.height, from.height);
    const int first = from.y + sample.first;
    // Whole-number ratios often hit a source row exactly; the other row is then not needed.
    const int second = sample.weight == 0 ? first : from.y + sample.second;
    const RowSource::ChannelRows top = source.row(first, second);
    target.put(y, top, source.row(second, first), sample.weight);
  }
  target.pad(desc.pad_value);
  return {};
}

}  // namespace preprocess_internal

Status preprocess(const Image& image, const Rect& roi, const PreprocessDesc& desc, Tensor& dst,
                  int64_t batch_index) {
  using namespace preprocess_internal;
  MappedPicture picture;
  HET_ASSIGN(const Conversion conversion,
             prepare_conversion(image, roi, desc, dst, batch_index, picture));
  if (fits_row_kernels(conversion)) return convert_by_rows(conversion, desc);
  // Rows of a few bytes and machines without SSE4 are not worth kernels of their own.
  convert_by_definition(conversion, desc);
  return {};
}

}  // namespace het
