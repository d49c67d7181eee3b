#pragma once

#include <string>
#include <vector>

#include "serving/archive/records/archive_plan.h"
#include "serving/archive/records/shard_note.h"

namespace het::archive {

/// What is wrong with the output of a shard beside its note: size, content, lines that are no
/// frames or frames of another shard; empty where all is well. `line_per_frame`: each frame has to
/// have its line.
std::string output_fault(const ArchiveFolder& folder, const PlannedShard& shard,
                         const ShardNote& note, bool line_per_frame);

}  // namespace het::archive
