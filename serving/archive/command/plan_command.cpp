#include <gst/gst.h>

#include "serving/archive/command/command_line.h"
#include "serving/archive/command/commands.h"
#include "serving/archive/command/plan_options.h"

namespace het::archive {

int plan_command(int argc, char** argv) {
  CLI::App app(
      "Finds out what is in videos, without decoding them, and writes the plan of an archive. "
      "Nothing is processed. Videos that are planned already and have not changed are not read "
      "again; what a plan has in common with the one before stays done.",
      "hetero archive plan");
  PlanOptions options;
  add_plan_options(app, options);
  app.footer(
      "Behind -- stands a pipeline as for gst-launch-1.0 with {video} (a path) or {uri},\n"
      "{output} and {name}:\n\n"
      "  hetero archive plan 'videos/*.mp4' -o out -- filesrc location={video} ! decodebin \\\n"
      "      ! heterodetect model=M.onnx model-instance-id=m ! heterometaconvert source={name} \\\n"
      "      add-empty-results=true ! heterometapublish file-path={output} \\\n"
      "      file-format=json-lines ! fakesink");
  if (const auto status = parse_command(app, argc, argv, &options.pipeline)) return *status;
  gst_init(nullptr, nullptr);
  const Result<ArchivePlan> plan = make_plan(ArchiveFolder(options.folder), options);
  return plan ? kExitDone : report_failure(app, plan.error());
}

}  // namespace het::archive
