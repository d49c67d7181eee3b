#include "serving/archive/verify/output_check.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "serving/archive/merge/output_reader.h"
#include "serving/launch/json_object.h"

namespace het::archive {
namespace {

Result<uint64_t> time_of(const std::string& line, uint64_t number) {
  const std::string place = fmt::format("line {}", number);
  HET_ASSIGN(const nlohmann::json value, serving::parse_json_object(line, place));
  const auto found = value.find("timestamp");
  if (found == value.end() || !found->is_number_unsigned()) {
    return error(StatusCode::ParseError, "{} has no timestamp", place);
  }
  return found->get<uint64_t>();
}

/// Fails with what is wrong.
Status check_output(const ArchiveFolder& folder, const PlannedShard& shard, const ShardNote& note,
                    bool line_per_frame) {
  HET_ASSIGN(OutputReader reader, OutputReader::open(folder.output(shard.key).string()));
  std::vector<uint64_t> times;
  std::string line;
  while (reader.next(line)) {
    HET_ASSIGN(times.emplace_back(), time_of(line, reader.number()));
    if (shard.has(times.back())) continue;
    return error(StatusCode::ParseError, "line {} is of {} ns, which belongs to another shard",
                 reader.number(), times.back());
  }
  HET_TRY(reader.check(note));
  if (reader.number() != note.lines) {
    return error(StatusCode::ParseError, "it has {} lines, not the {} of its note", reader.number(),
                 note.lines);
  }
  const size_t lines = times.size();
  if (!line_per_frame || timestamps_digest(std::move(times)) == note.timestamps) return {};
  return error(StatusCode::ParseError,
               "its {} lines are not one for each of the {} frames that came to its sink", lines,
               note.frames);
}

}  // namespace

std::string output_fault(const ArchiveFolder& folder, const PlannedShard& shard,
                         const ShardNote& note, bool line_per_frame) {
  const Status status = check_output(folder, shard, note, line_per_frame);
  if (!status.ok()) return status.message();
  if (shard.from_ns < shard.start_ns) {
    const auto overlap = OutputReader::open(folder.overlap_output(shard.key).string());
    if (!overlap) return overlap.error().message();
  }
  return "";
}

}  // namespace het::archive
