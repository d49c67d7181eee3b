#pragma once

#include <memory>
#include <vector>

#include "tests/devices/device_testing.h"

/// Models whose values cross between CPU and GPU; tensors have 64 KiB a picture of the batch unless
/// they say otherwise.
namespace het::hetero {

using device_testing::make_attributes;
using device_testing::ModelMaker;

inline Shape plain_shape(int64_t batch = 1) {
  return {batch, 16, 32, 32};
}

/// "Sigmoid" and "Mul" run on GPU, "Tanh" and "Relu" on devices that may be others, everything else
/// on CPU.
inline std::unique_ptr<Model> placed(ModelMaker& maker, const char* tanh = "CPU",
                                     const char* relu = "CPU") {
  for (const auto& node : maker.model().nodes()) {
    const std::string& type = node->op_type();
    const bool on_gpu = type == "Sigmoid" || type == "Mul";
    node->set_affinity(on_gpu ? "GPU" : type == "Tanh" ? tanh : type == "Relu" ? relu : "CPU");
  }
  return maker.model().clone();
}

/// CPU -> GPU -> CPU: 64 KiB there, 128 KiB back.
inline std::unique_ptr<Model> chain() {
  ModelMaker maker("chain");
  Value* x = maker.op("Relu", {maker.input(plain_shape())});
  Value* y = maker.op("Sigmoid", {maker.op("Mul", {x, maker.random({2, 16, 1, 1})})});
  maker.output(maker.op("Tanh", {y}));
  return placed(maker);
}

/// One value of CPU for two parts on GPU that have nothing in common, whose results meet on CPU.
inline std::unique_ptr<Model> branches() {
  ModelMaker maker("fork");
  Value* x = maker.op("Relu", {maker.input(plain_shape())});
  Value* y = maker.op("Mul", {x, maker.random({1, 16, 1, 1})});
  maker.output(maker.op("Add", {maker.op("Sigmoid", {x}), y}));
  return placed(maker);
}

/// GPU -> CPU -> GPU, and past CPU.
inline std::unique_ptr<Model> skip() {
  ModelMaker maker("skip");
  Value* x = maker.op("Sigmoid", {maker.op("Relu", {maker.input(plain_shape())})});
  Value* y = maker.op("Mul", {maker.op("Tanh", {x}), x});
  maker.output(maker.op("Relu", {y}));
  return placed(maker);
}

/// The application's input and output are the GPU's.
inline std::unique_ptr<Model> ends() {
  ModelMaker maker("ends");
  Value* x = maker.op("Tanh", {maker.op("Sigmoid", {maker.input(plain_shape())})});
  maker.output(maker.op("Mul", {x, maker.random({1, 16, 1, 1})}));
  return placed(maker);
}

/// Two parts on GPU and one on CPU read the input.
inline std::unique_ptr<Model> shared_input(const Shape& shape, const char* tanh = "CPU") {
  ModelMaker maker("input");
  Value* x = maker.input(shape);
  Value* y = maker.op("Mul", {maker.op("Tanh", {maker.op("Sigmoid", {x})}), x});
  maker.output(maker.op("Add", {y, maker.op("Relu", {x})}));
  return placed(maker, tanh);
}

/// GPU makes an output that two parts on CPU and a later one on GPU read.
inline std::unique_ptr<Model> read_output(const char* tanh = "CPU") {
  ModelMaker maker("output");
  Value* v = maker.op("Sigmoid", {maker.input(plain_shape())});
  Value* y = maker.op("Mul", {maker.op("Tanh", {v}), v});
  maker.output(v);
  maker.output(maker.op("Add", {y, v}));
  return placed(maker, tanh);
}

/// CPU makes an output that two parts on GPU read.
inline std::unique_ptr<Model> sent_output() {
  ModelMaker maker("sent");
  Value* v = maker.op("Relu", {maker.input(plain_shape())});
  maker.output(v);
  maker.output(maker.op("Mul", {maker.op("Tanh", {maker.op("Sigmoid", {v})}), v}));
  return placed(maker);
}

/// What crosses is float16; two parts on GPU read the first value.
inline std::unique_ptr<Model> halves() {
  ModelMaker maker("halves");
  const auto cast = [&maker](Value* x, ElementType type) {
    return maker.op("Cast", {x}, make_attributes({{"to", type == ElementType::Float16 ? 10 : 1}}));
  };
  Value* v = cast(maker.op("Relu", {maker.input(plain_shape())}), ElementType::Float16);
  Value* t = maker.op("Tanh", {cast(maker.op("Sigmoid", {v}), ElementType::Float32)});
  Value* y = maker.op("Mul", {cast(t, ElementType::Float16), v});
  maker.output(cast(y, ElementType::Float32));
  return placed(maker);
}

/// A value goes from GPU to the third part on GPU, past CPU, and nowhere else.
inline std::unique_ptr<Model> stays(const char* tanh = "CPU", const char* relu = "CPU") {
  ModelMaker maker("stays");
  Value* a = maker.op("Sigmoid", {maker.input(plain_shape())});
  Value* v = maker.op("Mul", {a, maker.random({1, 16, 1, 1})});
  Value* b = maker.op("Sigmoid", {maker.op("Relu", {a})});
  maker.output(maker.op("Mul", {maker.op("Tanh", {b}), v}));
  return placed(maker, tanh, relu);
}

}  // namespace het::hetero
