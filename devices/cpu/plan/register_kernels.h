#pragma once

namespace het::cpu {

class KernelRegistry;

/// Calls every kernel file's register function; generated from the list in kernels/meson.build.
void register_kernels(KernelRegistry& registry);

}  // namespace het::cpu
