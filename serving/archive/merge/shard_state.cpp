#include "serving/archive/merge/shard_state.h"

#include <fmt/format.h>

#include <utility>

#include "serving/archive/records/shard_failures.h"

namespace het::archive {
namespace {

std::string failure_text(const ShardFailures& failures) {
  if (failures.tries.empty()) return "it was not processed yet";
  const FailedTry& last = failures.tries.back();
  return fmt::format("{} of {} {}: {}", to_text(last.kind), failures.tries.size(),
                     failures.tries.size() == 1 ? "try" : "tries", last.error);
}

}  // namespace

Result<std::vector<ShardState>> shard_states(const ArchiveFolder& folder, const ArchivePlan& plan) {
  std::vector<ShardState> states;
  states.reserve(plan.shards.size());
  for (const PlannedShard& shard : plan.shards) {
    ShardState& state = states.emplace_back();
    Result<std::optional<ShardNote>> note = read_note(folder, shard.key);
    if (!note) {
      state.reason =
          "another run makes it anew, its note cannot be read: " + note.error().message();
      continue;
    }
    state.note = std::move(*note);
    if (state.note) continue;
    HET_ASSIGN(const ShardFailures failures, read_failures(folder, shard.key));
    state.given_up = failures.given_up;
    state.reason = failure_text(failures);
  }
  return states;
}

std::string shard_text(const ArchivePlan& plan, size_t shard) {
  const PlannedShard& planned = plan.shards[shard];
  const std::string& video = plan.videos[planned.video].name;
  if (plan.is_whole(planned)) return fmt::format("video '{}'", video);
  const double start = static_cast<double>(planned.start_ns) / 1e9;
  const std::string stop =
      planned.stop_ns ? fmt::format("{:.3f} s", static_cast<double>(*planned.stop_ns) / 1e9)
                      : "its end";
  return fmt::format("video '{}' from {:.3f} s to {} (shard {})", video, start, stop, shard);
}

}  // namespace het::archive
