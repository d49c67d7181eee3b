#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "inference/base/status.h"
#include "inference/base/visibility.h"
#include "inference/custom_operator.h"
#include "inference/devices/properties.h"
#include "inference/model/model.h"
#include "inference/ops/op.h"

namespace het {

/// Makes the operators of a user's library (custom_operator.h) known to models that are read or
/// copied from now on. A library that is loaded already is left alone. Libraries stay loaded until
/// the process ends, as models may. Fails when the library is not usable, or defines an operator
/// that another one or this build has. Thread-safe.
HET_API Status load_custom_operators(const std::string& path);

/// The same with operators of this process. `table` and what it points at stay until the process
/// ends; a table that was given already is left alone. `title` is for messages.
HET_API Status add_custom_operators(const HetCustomOperators& table, const std::string& title);

/// Loads the libraries of the property EXTENSIONS, separated by ';', also where it is given for one
/// device of a composite one.
HET_API Status load_extensions(const Properties& properties);

/// "domain.Type" of all that are known, in the order of loading. Thread-safe.
HET_API std::vector<std::string> custom_operator_names();

/// Null when no library defines it. Thread-safe.
const OpDef* find_custom_operator(std::string_view domain, std::string_view type);

/// The library's table of a node's operator; null for operators of this build.
HET_API const HetCustomOperator* custom_operator_of(const Node& node);

/// parallel_for() of the device that runs the operator.
using CustomParallelFor = void (*)(void* context, int64_t count, int64_t grain,
                                   void (*body)(void* user, int64_t begin, int64_t end),
                                   void* user);

/// Description of an operand for the library; one without a type for null. Fails when the interface
/// has no such type or too few dimensions.
HET_API Result<HetOperandDesc> custom_desc(const TensorDesc* desc);

/// Calls the library's run(). The error carries its message.
HET_API Status run_custom(const Node& node, std::span<const HetOperand> inputs,
                          std::span<HetOperand> outputs, CustomParallelFor parallel_for);

}  // namespace het
