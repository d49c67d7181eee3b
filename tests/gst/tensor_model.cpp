#include "tensor_model.h"

#include <functional>
#include <numeric>

#include "tests/readers/onnx/onnx_file.h"

namespace het::gst_test {

std::string write_constant_model(const ScratchFolder& folder, const std::string& name, int height,
                                 int width, const std::vector<ConstantOutput>& outputs,
                                 const std::vector<std::pair<std::string, std::string>>& metadata) {
  test::Graph graph;
  graph.input("picture", std::vector<int64_t>{1, 3, height, width})
      .node("Sub", {"picture", "picture"}, {"zeros"})
      .node("ReduceMax", {"zeros"}, {"cube"})
      .initializer(test::int64_tensor("one", {1}, {1}))
      .node("Reshape", {"cube", "one"}, {"zero"});
  for (const ConstantOutput& output : outputs) {
    std::vector<float> values = output.values;
    values.resize(static_cast<size_t>(
        std::accumulate(output.dims.begin(), output.dims.end(), int64_t{1}, std::multiplies<>())));
    graph.initializer(test::float_tensor(output.name + "_values", output.dims, values))
        .node("Add", {output.name + "_values", "zero"}, {output.name})
        .output(output.name);
  }
  std::string file = test::model_file(graph.bytes());
  protozero::pbf_writer writer(file);
  for (const auto& [key, value] : metadata) {
    constexpr protozero::pbf_tag_type kMetadataProps = 14;
    protozero::pbf_writer entry(writer, kMetadataProps);
    entry.add_string(1, key);
    entry.add_string(2, value);
  }
  const std::string path = folder.file(name + ".onnx");
  write_text(path, file);
  return path;
}

std::string write_descriptor(const ScratchFolder& folder, const std::string& name,
                             const std::string& converter, const std::string& resize,
                             const std::string& more) {
  const std::string path = folder.file(name + ".json");
  write_text(path, R"({"json_schema_version": "2.2.0", "input_preproc": [{"layer_name": "picture",
    "format": "image", "params": {"resize": ")" +
                       resize + R"("}}], "output_postproc": [{"converter": ")" + converter + "\"" +
                       more + "}]}");
  return path;
}

}  // namespace het::gst_test
