#include "hetero/explain/graph_dump.h"

#include <filesystem>

#include "hetero/explain/dump_text.h"
#include "hetero/explain/graph_dot.h"
#include "hetero/explain/graph_json.h"
#include "hetero/explain/graph_picture.h"
#include "hetero/explain/graph_svg.h"
#include "inference/base/new_file.h"

namespace het::hetero {
namespace {

Result<std::vector<std::string>> write_files(const std::string& folder, const std::string& stem,
                                             const GraphPicture& picture, const std::string& json) {
  const std::string path = (std::filesystem::path(folder.empty() ? "." : folder) / stem).string();
  const std::vector<std::string> paths{path + ".dot", path + ".svg", path + ".json"};
  HET_TRY(write_new_file(paths[0], to_dot(picture)));
  HET_TRY(write_new_file(paths[1], to_svg(picture)));
  HET_TRY(write_new_file(paths[2], json));
  return paths;
}

}  // namespace

Result<std::vector<std::string>> dump_affinity(const Model& model,
                                               const std::vector<NodeSupport>& rows,
                                               const std::string& folder) {
  if (rows.size() != model.nodes().size()) {
    return error(StatusCode::InvalidArgument,
                 "model '{}' has {} nodes, but {} rows say where they run", model.name(),
                 model.nodes().size(), rows.size());
  }
  return write_files(folder, "hetero_affinity_" + file_name_part(model.name()),
                     picture_placement(model, rows), placement_to_json(model, rows));
}

Result<std::vector<std::string>> dump_subgraphs(const Model& model, const Split& split,
                                                const std::string& folder) {
  return write_files(folder, "hetero_subgraphs_" + file_name_part(model.name()),
                     picture_split(model, split), split_to_json(model, split));
}

}  // namespace het::hetero
