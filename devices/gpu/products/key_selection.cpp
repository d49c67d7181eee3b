#include "devices/gpu/products/key_selection.h"

#include <algorithm>

#include "devices/gpu/plan/launches.h"
#include "devices/gpu/plan/strided_space.h"

namespace het::gpu {
namespace {

ProgramText text_of(KeyWidth width) {
  ProgramText text;
  text.file = "select_keys";
  if (width == KeyWidth::Two) text.options = "-DWIDE_KEYS";
  return text;
}

Status clear(PlanBuilder& builder, const Node& node, TensorId keys, KeyWidth width) {
  const int64_t elements = count(builder.tensor(keys).spec) / static_cast<int64_t>(width);
  Launch launch;
  launch.text = text_of(width);
  launch.kernel = "clear_keys";
  launch.args = {Write{keys}, as_int(elements)};
  launch.global = {static_cast<size_t>(elements), 1, 1};
  launch.local = builder.row_local();
  return builder.add_step(node, std::move(launch));
}

}  // namespace

Result<TensorId> select_keys(PlanBuilder& builder, const Node& node, TensorId keys, int64_t rows,
                             int64_t length, int64_t k, KeyWidth width) {
  // Rounds: each keeps k of every chunk, until a row is one chunk. A round at least halves a row.
  constexpr int64_t kShortestChunk = 1024;
  while (true) {
    const int64_t chunk = std::min(length, std::max(kShortestChunk, 4 * k));
    const int64_t chunks = (length + chunk - 1) / chunk;
    const TensorId kept = builder.temporary(
        {ElementType::UInt64, {rows, chunks * k * static_cast<int64_t>(width)}, Format::Plain});
    HET_TRY(clear(builder, node, kept, width));
    Launch launch;
    launch.text = text_of(width);
    launch.kernel = "select_keys";
    launch.args = {Read{keys},    Write{kept},    as_int(rows), as_int(length),
                   as_int(chunk), as_int(chunks), as_int(k)};
    launch.global = {static_cast<size_t>(length), static_cast<size_t>(rows), 1};
    launch.local = row_groups(builder.hardware(), launch.global);
    HET_TRY(builder.add_step(node, std::move(launch)));
    if (chunks == 1) return kept;
    keys = kept;
    length = chunks * k;
  }
}

}  // namespace het::gpu
