#include "devices/vpu/daemon/opencl_rounding.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace het::vpu {
namespace {

constexpr char kLayer[] =
    R"(<CustomLayer name="hetero.vpu.RoundToHalf" type="SimpleGPU" version="1">
  <Kernel entry="round_to_half"><Source filename="rounding.cl"/></Kernel>
  <Buffers>
    <Tensor arg-index="0" type="input" port-index="0" format="BFYX"/>
    <Tensor arg-index="1" type="output" port-index="0" format="BFYX"/>
  </Buffers>
  <WorkSizes global="X,Y,B*F"/>
</CustomLayer>
)";

/// Halves in memory need no extension of OpenCL.
constexpr char kSource[] = R"(
__kernel void round_to_half(__global const INPUT0_TYPE* from, __global OUTPUT0_TYPE* to) {
  const int x = get_global_id(0);
  const int y = get_global_id(1);
  const int feature = get_global_id(2) % OUTPUT0_DIMS[1];
  const int batch = get_global_id(2) / OUTPUT0_DIMS[1];
  const int in = batch * INPUT0_PITCHES[0] + feature * INPUT0_PITCHES[1] + y * INPUT0_PITCHES[2] +
                 x * INPUT0_PITCHES[3];
  const int out = batch * OUTPUT0_PITCHES[0] + feature * OUTPUT0_PITCHES[1] +
                  y * OUTPUT0_PITCHES[2] + x * OUTPUT0_PITCHES[3];
  ushort bits;
  vstore_half_rte(from[in], 0, (__private half*)&bits);
  to[out] = vload_half(0, (__private half*)&bits);
}
)";

}  // namespace

Result<std::unique_ptr<OpenClRounding>> OpenClRounding::create() {
  std::string folder = (std::filesystem::temp_directory_path() / "hetero-vpud-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) {
    return error(StatusCode::Internal, "cannot make the folder '{}': {}", folder,
                 std::strerror(errno));
  }
  std::unique_ptr<OpenClRounding> rounding(new OpenClRounding(folder));
  std::ofstream(rounding->path()) << kLayer;
  std::ofstream(folder + "/rounding.cl") << kSource;
  return rounding;
}

OpenClRounding::~OpenClRounding() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::string OpenClRounding::path() const {
  return folder_ + "/rounding.xml";
}

}  // namespace het::vpu
