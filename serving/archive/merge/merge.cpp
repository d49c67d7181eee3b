#include "serving/archive/merge/merge.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "serving/archive/merge/output_reader.h"
#include "serving/archive/merge/tracked_line.h"

namespace het::archive {
namespace {

class Merge {
 public:
  Merge(const ArchiveFolder& folder, const ArchivePlan& plan, const std::vector<ShardState>& states,
        MergedFile& file, const std::function<bool()>& is_stopped)
      : folder_(folder), plan_(plan), states_(states), file_(file), is_stopped_(is_stopped) {}

  Status add_video(const PlannedVideo& video) {
    HET_TRY(file_.begin_video(video.name));
    if (video.shards.size() == 1) return add_whole(video.shards.front());
    identities_.begin_video();
    for (size_t i = 0; i < video.shards.size(); ++i) HET_TRY(add_range(video, i));
    return {};
  }

  MergeReport report;

 private:
  Status add_whole(size_t shard) {
    if (!states_[shard].note) return {};
    return copy_lines(
        shard, [&](const OutputReader&, const std::string& line) { return file_.write(line); });
  }

  Status add_range(const PlannedVideo& video, size_t place) {
    const size_t shard = video.shards[place];
    if (!states_[shard].note) return {};
    const bool is_behind_another = place > 0 && states_[video.shards[place - 1]].note.has_value();
    if (place > 0) {
      std::vector<TrackedLine> overlap;
      if (is_behind_another) {
        HET_ASSIGN(overlap, read_overlap(plan_.shards[shard]));
      }
      identities_.begin_range(overlap);
    }
    identities_.keep_from(place + 1 < video.shards.size()
                              ? static_cast<int64_t>(plan_.shards[video.shards[place + 1]].from_ns)
                              : std::numeric_limits<int64_t>::max());
    HET_TRY(copy_lines(shard, [&](const OutputReader& reader, const std::string& line) -> Status {
      HET_ASSIGN(const TrackedLine read, read_tracked_line(line, line_text(shard, reader)));
      const std::vector<int64_t> ids = identities_.number(read);
      return file_.write(with_ids(line, read, ids));
    }));
    if (is_behind_another) report.borders.push_back({shard, identities_.border()});
    return {};
  }

  template <class Take>
  Status copy_lines(size_t shard, Take take) {
    const ShardNote& note = *states_[shard].note;
    HET_ASSIGN(OutputReader reader, OutputReader::open(folder_.output(note.key).string()));
    std::string line;
    while (reader.next(line)) {
      HET_TRY(take(std::as_const(reader), line));
      if (is_stopped_ && is_stopped_()) {
        return error(StatusCode::Cancelled, "stopped; the file that was there is as it was");
      }
    }
    HET_TRY(reader.check(note));
    ++report.shards;
    report.frames += note.frames;
    report.lines += reader.number();
    return {};
  }

  Result<std::vector<TrackedLine>> read_overlap(const PlannedShard& shard) {
    std::vector<TrackedLine> lines;
    if (shard.from_ns >= shard.start_ns) return lines;
    const std::string path = folder_.overlap_output(shard.key).string();
    HET_ASSIGN(OutputReader reader, OutputReader::open(path));
    std::string line;
    while (reader.next(line)) {
      const std::string place = fmt::format("line {} of '{}'", reader.number(), path);
      HET_ASSIGN(lines.emplace_back(), read_tracked_line(line, place));
    }
    return lines;
  }

  std::string line_text(size_t shard, const OutputReader& reader) const {
    return fmt::format("line {} of '{}', {}", reader.number(),
                       folder_.output(plan_.shards[shard].key).string(), shard_text(plan_, shard));
  }

  const ArchiveFolder& folder_;
  const ArchivePlan& plan_;
  const std::vector<ShardState>& states_;
  MergedFile& file_;
  const std::function<bool()>& is_stopped_;
  VideoIdentities identities_;
};

size_t sum_of(const std::vector<MergedBorder>& borders, size_t BorderIdentities::*count) {
  size_t sum = 0;
  for (const MergedBorder& border : borders) sum += border.identities.*count;
  return sum;
}

}  // namespace

size_t MergeReport::crossed() const {
  return sum_of(borders, &BorderIdentities::crossed);
}

size_t MergeReport::joined() const {
  return sum_of(borders, &BorderIdentities::joined);
}

std::vector<LeftOut> left_out(const std::vector<ShardState>& states) {
  std::vector<LeftOut> found;
  for (size_t i = 0; i < states.size(); ++i) {
    if (!states[i].note) found.push_back({i, states[i].given_up, states[i].reason});
  }
  return found;
}

Result<MergeReport> merge_shards(const ArchiveFolder& folder, const ArchivePlan& plan,
                                 const std::vector<ShardState>& states, MergedFile& file,
                                 const std::function<bool()>& is_stopped) {
  Merge merge(folder, plan, states, file, is_stopped);
  for (const PlannedVideo& video : plan.videos) HET_TRY(merge.add_video(video));
  merge.report.left_out = left_out(states);
  return std::move(merge.report);
}

}  // namespace het::archive
