#include "devices/gpu/int8_choice.h"

#include "devices/gpu/fuse.h"
#include "devices/gpu/kernels/products/int8_layer.h"
#include "devices/gpu/products/timed_run.h"

namespace het::gpu {
namespace {

/// Multiply-adds: models whose products are all smaller stay in float.
constexpr double kLeastWork = 2e6;

/// Multiply-adds of one execution.
double work_of(const Int8Layer& layer) {
  return static_cast<double>(layer.pixels() * layer.group_ic()) *
         static_cast<double>(layer.oc * layer.window.kernel_count());
}

/// The int8 product of most work; null when all are small or there are none.
const Node* largest_product(const Model& fused) {
  const Node* largest = nullptr;
  double most = kLeastWork;
  for (const auto& node : fused.nodes()) {
    if (!is_int8_product(*node)) continue;
    const Result<Int8Layer> layer = int8_layer_of(*node);
    if (!layer || work_of(*layer) < most) continue;
    largest = node.get();
    most = work_of(*layer);
  }
  return largest;
}

Attributes without_tail(const Node& product) {
  Attributes attributes = product.attributes();
  set_tail(attributes, {});
  return attributes;
}

/// The product alone, nothing fused: a program serves for all tails.
std::unique_ptr<Model> bare_int8_model(const Node& product) {
  auto model = std::make_unique<Model>(product.name());
  Value* const x = model->add_input("x", product.input(0)->desc());
  Value* const w = model->add_constant("w", product.input(1)->constant());
  Value* const scales = model->add_constant("s", product.input(kInt8ScalesInput)->constant());
  Node* const bare =
      model->add_node(product.name(), product.op_type(), "het", {x, w, nullptr, nullptr, scales},
                      {"y"}, without_tail(product));
  model->set_desc(bare->output(), product.output()->desc());
  model->add_output("y", bare->output());
  return model;
}

/// The same in float.
std::unique_ptr<Model> bare_float_model(const Node& product) {
  auto model = std::make_unique<Model>(product.name());
  const auto as_float = [](const Value* value) {
    return TensorDesc{ElementType::Float32, value->desc().shape};
  };
  const Tensor& stored = product.input(1)->constant();
  const auto values = stored.values<int8_t>();
  const Tensor weights =
      Tensor::from<float>(stored.shape(), std::vector<float>(values.begin(), values.end()));
  Value* const x = model->add_input("x", as_float(product.input(0)));
  Value* const w = model->add_constant("w", weights);
  const bool conv = product.op_type() == "Int8Conv";
  Node* const bare = model->add_node(product.name(), conv ? "Conv" : "MatMul", "", {x, w}, {"y"},
                                     conv ? without_tail(product) : Attributes());
  model->set_desc(bare->output(), as_float(product.output()));
  model->add_output("y", bare->output());
  return model;
}

std::string key_of(const Int8Layer& layer, const PlanOptions& options) {
  const Window3& window = layer.window;
  return fmt::format("Int8 {}{} n{} ic{} oc{} g{} {}x{} k{}x{} s{}x{} d{}x{}",
                     to_string(options.stored_type), options.fast_algorithms ? "" : " exact",
                     layer.n, layer.ic, layer.oc, layer.group, window.in[1], window.in[2],
                     window.kernel[1], window.kernel[2], window.strides[1], window.strides[2],
                     window.dilations[1], window.dilations[2]);
}

}  // namespace

Int8Use int8_use(const Properties& properties) {
  const std::string text = property_text(properties, "GPU_INT8");
  if (text == "YES") return Int8Use::Yes;
  const bool accurate = property_text(properties, "EXECUTION_MODE_HINT") == "ACCURACY";
  return text == "NO" || accurate ? Int8Use::No : Int8Use::Auto;
}

Result<bool> choose_int8(const Model& prepared, const std::shared_ptr<Context>& context,
                         PlanOptions& options, Int8Use use) {
  if (use != Int8Use::Auto) return use == Int8Use::Yes;
  // Intel's implementation for processors has the function, which runs a third as fast as shifts.
  if (!context->hardware().is_cpu && context->works(Feature::IntegerDotProduct)) return true;
  if (!options.measure || options.cache_folder.empty()) return false;
  const std::unique_ptr<Model> fused = prepared.clone();
  HET_TRY(fuse(*fused, true));
  const Node* const product = largest_product(*fused);
  if (product == nullptr) return false;
  HET_ASSIGN(const Int8Layer layer, int8_layer_of(*product));
  Measurements measurements(context->hardware(), options.cache_folder, options.measuring_s);
  const std::string chosen =
      measurements.choose(key_of(layer, options), {"float", "int8"}, [&](const std::string& name) {
        const std::unique_ptr<Model> model =
            name == "int8" ? bare_int8_model(*product) : bare_float_model(*product);
        return fastest_run(*model, context, options);
      });
  measurements.save();
  options.measuring_s = measurements.seconds_left();
  return chosen == "int8";
}

}  // namespace het::gpu
