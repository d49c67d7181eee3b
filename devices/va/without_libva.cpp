// In place of the rest of this folder in a build without libva.
#include "devices/va/display_trial.h"
#include "devices/va/surface_access.h"

namespace het::va {

Result<std::shared_ptr<SurfaceAccess>> make_surface_access(void*, std::function<void()> release) {
  if (release) release();
  return error(StatusCode::NotSupported,
               "this build reads no VA surfaces; configure it with -Dva=enabled");
}

std::vector<std::string> render_nodes() {
  return {};
}

DisplayTrial try_display(const std::string& node) {
  DisplayTrial trial;
  trial.node = node;
  trial.problem = "this build reads no VA surfaces; configure it with -Dva=enabled";
  return trial;
}

}  // namespace het::va
