#include "inference/ops/custom_operators.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <mutex>
#include <vector>

#include "inference/base/shared_library.h"
#include "inference/tensors/custom_type_numbers.h"

namespace het {
namespace {

constexpr std::string_view kOwnDomains[] = {"", "ai.onnx", "ai.onnx.ml", "com.microsoft", "het"};
constexpr uint32_t kMaxOperators = 4096;
constexpr uint32_t kMaxInputs = 1024;

struct CustomOp : OpDef {
  std::string type_text;
  std::string domain_text;
  const HetCustomOperator* functions = nullptr;
};

struct Loaded {
  std::mutex mutex;  ///< protects the rest; taken alone
  std::vector<std::string> paths;
  std::vector<std::unique_ptr<CustomOp>> operators;
  std::vector<const HetCustomOperators*> tables;          ///< of the process' own operators
  std::vector<std::unique_ptr<SharedLibrary>> libraries;  ///< never closed

  /// Under the mutex.
  Status add(const HetCustomOperators& table, const std::string& title);
};

/// Never destroyed: models may outlive the end of main().
Loaded& loaded() {
  static auto* const all = new Loaded;
  return *all;
}

const Attribute* attribute_of(const void* context, const char* name) {
  return name != nullptr ? static_cast<const Node*>(context)->attributes().find(name) : nullptr;
}

template <class T>
const T* value_of(const void* context, const char* name) {
  const Attribute* attribute = attribute_of(context, name);
  return attribute != nullptr ? std::get_if<T>(attribute) : nullptr;
}

template <class T>
uint64_t numbers_of(const void* context, const char* name, const T** numbers) {
  const auto* const values = value_of<std::vector<T>>(context, name);
  if (numbers != nullptr) *numbers = values != nullptr ? values->data() : nullptr;
  return values != nullptr ? values->size() : 0;
}

HetNodeView view_of(const Node& node) {
  HetNodeView view{};
  view.struct_size = sizeof(HetNodeView);
  view.context = &node;
  view.name = node.name().c_str();
  view.get_int = [](const void* context, const char* name, int64_t otherwise) {
    const auto* const value = value_of<int64_t>(context, name);
    return value != nullptr ? *value : otherwise;
  };
  view.get_float = [](const void* context, const char* name, float otherwise) {
    const auto* const value = value_of<float>(context, name);
    return value != nullptr ? *value : otherwise;
  };
  view.get_string = [](const void* context, const char* name, const char* otherwise) {
    const auto* const value = value_of<std::string>(context, name);
    return value != nullptr ? value->c_str() : otherwise;
  };
  view.get_ints = numbers_of<int64_t>;
  view.get_floats = numbers_of<float>;
  return view;
}

/// What the library's functions get of the device, and say.
struct Call {
  CustomParallelFor parallel_for;
  std::string message;

  HetKernelContext view() {
    HetKernelContext context{};
    context.struct_size = sizeof(HetKernelContext);
    context.context = this;
    context.parallel_for = [](void* self, int64_t count, int64_t grain,
                              void (*body)(void*, int64_t, int64_t), void* user) {
      static_cast<Call*>(self)->parallel_for(self, count, grain, body, user);
    };
    context.set_error = [](void* self, const char* text) {
      static_cast<Call*>(self)->message = text != nullptr ? text : "";
    };
    return context;
  }

  /// Calls the library; it may be C++ and throw.
  template <class Function>
  Status run(std::string_view what, const Function& function) {
    int32_t code = -1;
    try {
      const HetKernelContext context = view();
      code = function(&context);
    } catch (const std::exception& failure) {
      return error(StatusCode::Internal, "{} threw an exception: {}", what, failure.what());
    } catch (...) {
      return error(StatusCode::Internal, "{} threw an exception", what);
    }
    if (code == 0) return {};
    return error(StatusCode::InvalidArgument, "{} failed with code {}: {}", what, code,
                 message.empty() ? "the library gives no reason" : message);
  }
};

void serial_for(void*, int64_t count, int64_t, void (*body)(void*, int64_t, int64_t), void* user) {
  if (count > 0) body(user, 0, count);
}

Status infer_custom(InferContext& context) {
  const HetCustomOperator& functions = *custom_operator_of(context.node());
  std::vector<HetOperandDesc> inputs;
  for (size_t i = 0; i < context.input_count(); ++i) {
    HET_ASSIGN(const HetOperandDesc desc,
               custom_desc(context.has_input(i) ? &context.input(i) : nullptr));
    inputs.push_back(desc);
  }
  std::vector<HetOperandDesc> outputs(context.output_count());
  Call call{serial_for, {}};
  const HetNodeView node = view_of(context.node());
  HET_TRY(call.run("shapes()", [&](const HetKernelContext* device) {
    return functions.shapes(&node, inputs.data(), static_cast<uint32_t>(inputs.size()),
                            outputs.data(), static_cast<uint32_t>(outputs.size()), device);
  }));
  for (size_t i = 0; i < outputs.size(); ++i) {
    const HetOperandDesc& output = outputs[i];
    const ElementType type = custom_type(output.type);
    const bool is_shape =
        output.rank <= HET_MAX_RANK && std::all_of(output.shape, output.shape + output.rank,
                                                   [](int64_t size) { return size >= 0; });
    if (type == ElementType::Undefined || !is_shape) {
      return error(StatusCode::InvalidArgument,
                   "shapes() left output {} with type {} and {} dimensions: a type, at most {} "
                   "dimensions and no negative one are needed",
                   i, output.type, output.rank, HET_MAX_RANK);
    }
    context.set_output(i, type, Shape(output.shape, output.shape + output.rank));
  }
  return {};
}

Status evaluate_custom(EvaluateContext& context) {
  const auto operand = [](const Tensor* tensor) -> Result<HetOperand> {
    HetOperand result{};
    HET_ASSIGN(result.desc, custom_desc(tensor != nullptr ? &tensor->desc() : nullptr));
    result.format = HET_FORMAT_PLAIN;
    if (tensor != nullptr) {
      result.data = tensor->bytes();
      result.size_bytes = tensor->size_bytes();
    }
    return result;
  };
  std::vector<HetOperand> inputs;
  std::vector<HetOperand> outputs;
  for (size_t i = 0; i < context.input_count(); ++i) {
    HET_ASSIGN(const HetOperand input, operand(context.has_input(i) ? &context.input(i) : nullptr));
    inputs.push_back(input);
  }
  for (size_t i = 0; i < context.output_count(); ++i) {
    HET_ASSIGN(const HetOperand output, operand(&context.output(i)));
    outputs.push_back(output);
  }
  return run_custom(context.node(), inputs, outputs, serial_for);
}

/// The table, checked; what it says is the library's from now on.
Result<std::unique_ptr<CustomOp>> make_operator(const HetCustomOperator* functions,
                                                const std::string& library) {
  constexpr size_t kSmallest = offsetof(HetCustomOperator, formats) + sizeof(uint32_t);
  if (functions == nullptr || functions->struct_size < kSmallest || functions->type == nullptr ||
      functions->domain == nullptr || functions->shapes == nullptr || functions->run == nullptr) {
    return error(
        StatusCode::InvalidArgument,
        "{} has an operator without domain, type, shapes or run, or a table below {} bytes",
        library, kSmallest);
  }
  auto op = std::make_unique<CustomOp>();
  op->type_text = functions->type;
  op->domain_text = functions->domain;
  if (std::ranges::find(kOwnDomains, op->domain_text) != std::end(kOwnDomains)) {
    return error(StatusCode::InvalidArgument,
                 "{} defines '{}' in the domain '{}', which is not its own", library, op->type_text,
                 op->domain_text);
  }
  if (functions->max_inputs > kMaxInputs || functions->min_inputs > functions->max_inputs) {
    return error(StatusCode::InvalidArgument, "{}: '{}' takes {} to {} inputs, {} is the limit",
                 library, op->type_text, functions->min_inputs, functions->max_inputs, kMaxInputs);
  }
  op->type = op->type_text;
  op->domain = op->domain_text;
  op->min_inputs = functions->min_inputs;
  op->max_inputs = functions->max_inputs;
  op->infer = infer_custom;
  op->evaluate = evaluate_custom;
  op->functions = functions;
  return op;
}

Result<std::vector<std::unique_ptr<CustomOp>>> read_operators(const HetCustomOperators& table,
                                                              const std::string& title) {
  if (table.struct_size < sizeof(HetCustomOperators) || table.operators == nullptr ||
      table.operator_count == 0 || table.operator_count > kMaxOperators) {
    return error(StatusCode::InvalidArgument,
                 "{} has a table of {} bytes with {} operators; {} bytes and 1 to {} are needed",
                 title, table.struct_size, table.operator_count, sizeof(HetCustomOperators),
                 kMaxOperators);
  }
  std::vector<std::unique_ptr<CustomOp>> operators;
  for (uint32_t i = 0; i < table.operator_count; ++i) {
    HET_ASSIGN(auto op, make_operator(table.operators[i], title));
    operators.push_back(std::move(op));
  }
  return operators;
}

const CustomOp* find(const std::vector<std::unique_ptr<CustomOp>>& operators,
                     std::string_view domain, std::string_view type) {
  for (const auto& op : operators) {
    if (op->domain == domain && op->type == type) return op.get();
  }
  return nullptr;
}

Status Loaded::add(const HetCustomOperators& table, const std::string& title) {
  HET_ASSIGN(auto added, read_operators(table, title));
  for (const auto& op : added) {
    if (find(operators, op->domain, op->type) != nullptr) {
      return error(StatusCode::InvalidArgument, "{} defines {}.{}, which another library has",
                   title, op->domain, op->type);
    }
  }
  std::ranges::move(added, std::back_inserter(operators));
  return {};
}

}  // namespace

Status load_custom_operators(const std::string& path) {
  std::error_code ignored;
  const std::string exact = std::filesystem::weakly_canonical(path, ignored).string();
  Loaded& all = loaded();
  const std::lock_guard lock(all.mutex);
  if (std::ranges::find(all.paths, exact) != all.paths.end()) return {};
  HET_ASSIGN(auto library, SharedLibrary::open(path, "custom operator library", "EXTENSIONS"));
  HET_ASSIGN(const void* const table,
             library->table(HET_CUSTOM_OPERATOR_SYMBOL, HET_CUSTOM_OPERATOR_VERSION,
                            "inference/custom_operator.h"));
  HET_TRY(all.add(*static_cast<const HetCustomOperators*>(table), library->title()));
  all.paths.push_back(exact);
  all.libraries.push_back(std::move(library));
  return {};
}

Status add_custom_operators(const HetCustomOperators& table, const std::string& title) {
  Loaded& all = loaded();
  const std::lock_guard lock(all.mutex);
  if (std::ranges::find(all.tables, &table) != all.tables.end()) return {};
  HET_TRY(all.add(table, title));
  all.tables.push_back(&table);
  return {};
}

Status load_extensions(const Properties& properties) {
  for (const auto& [name, paths] : properties) {
    if (name != "EXTENSIONS" && !name.ends_with(".EXTENSIONS")) continue;
    for (size_t at = 0; at < paths.size();) {
      const size_t end = std::min(paths.find(';', at), paths.size());
      if (end > at) HET_TRY(load_custom_operators(paths.substr(at, end - at)));
      at = end + 1;
    }
  }
  return {};
}

std::vector<std::string> custom_operator_names() {
  Loaded& all = loaded();
  const std::lock_guard lock(all.mutex);
  std::vector<std::string> names;
  for (const auto& op : all.operators) names.push_back(op->domain_text + "." + op->type_text);
  return names;
}

const OpDef* find_custom_operator(std::string_view domain, std::string_view type) {
  Loaded& all = loaded();
  const std::lock_guard lock(all.mutex);
  return find(all.operators, domain, type);
}

const HetCustomOperator* custom_operator_of(const Node& node) {
  const OpDef* op = node.op();
  if (op == nullptr || op->infer != infer_custom) return nullptr;
  return static_cast<const CustomOp*>(op)->functions;
}

Result<HetOperandDesc> custom_desc(const TensorDesc* desc) {
  HetOperandDesc result{};
  if (desc == nullptr) return result;
  result.type = custom_type_number(desc->type);
  if (result.type == 0 || desc->shape.size() > HET_MAX_RANK) {
    return error(
        StatusCode::NotSupported,
        "{} cannot be given to a custom operator: no such type, or more than {} dimensions",
        to_string(*desc), HET_MAX_RANK);
  }
  result.rank = static_cast<uint32_t>(desc->shape.size());
  std::ranges::copy(desc->shape, result.shape);
  return result;
}

Status run_custom(const Node& node, std::span<const HetOperand> inputs,
                  std::span<HetOperand> outputs, CustomParallelFor parallel_for) {
  const HetCustomOperator& functions = *custom_operator_of(node);
  Call call{parallel_for, {}};
  const HetNodeView view = view_of(node);
  return call.run("run()", [&](const HetKernelContext* device) {
    return functions.run(&view, inputs.data(), static_cast<uint32_t>(inputs.size()), outputs.data(),
                         static_cast<uint32_t>(outputs.size()), device);
  });
}

}  // namespace het
