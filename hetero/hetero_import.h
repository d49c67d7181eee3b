#pragma once

#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "hetero/members/device_list.h"
#include "inference/base/status.h"
#include "inference/core.h"
#include "inference/devices/device.h"
#include "inference/devices/properties.h"

namespace het::hetero {

/// A model that HeteroCompiledModel::export_model() wrote, its subgraphs imported by their devices.
/// `members` are the devices that the application names; where it names none those of the file are
/// taken. `given` are validated; they win over the file's, which the model keeps. It has
/// fail-over where the file that the model was read from, or the one that WEIGHTS_PATH names, is
/// there and gives what was compiled; an info says why not. Fails with InvalidArgument where
/// WEIGHTS_PATH names another one. Fails with ParseError for a damaged file, with NotFound for a
/// device that this machine lacks, with InvalidArgument for one that is not among `members`.
Result<std::shared_ptr<CompiledModel>> import_hetero_model(std::istream& stream, Core& core,
                                                           std::vector<MemberDevice> members,
                                                           const Properties& given);

}  // namespace het::hetero
