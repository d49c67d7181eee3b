#include "devices/cpu/passes/fuse.h"

namespace het::cpu {

Status fuse(Model& model) {
  return model.sort();
}

}  // namespace het::cpu
