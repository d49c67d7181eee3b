#pragma once

#include <cstddef>

#include "hetero/split/subgraph_splitter.h"

namespace het::hetero {

/// Fills in what follows from the sources of subgraphs' inputs: input_readers, dependencies, and
/// cuts, whose names and descriptions are the caller's to give. `inputs` counts the model's.
void connect_subgraphs(Split& split, size_t inputs);

}  // namespace het::hetero
