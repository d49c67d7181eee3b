#pragma once

namespace het::gpu {

class KernelRegistry;

/// Calls every kernel file's register function; generated from the list in kernels/meson.build.
void register_kernels(KernelRegistry& registry);

}  // namespace het::gpu
