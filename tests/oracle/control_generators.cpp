#include "inference/model/model.h"
#include "tests/oracle/generator.h"

namespace het::oracle {
namespace {

using Body = std::shared_ptr<Model>;

Value* node(Model& body, const std::string& type, std::vector<Value*> inputs,
            Attributes attributes = {}) {
  return body.add_node(type, type, "", std::move(inputs), {type}, std::move(attributes))->output();
}

/// A chain of up to three operators on x and a captured k of the same shape.
Value* chain(Draw& d, Model& body, Value* x, Value* k) {
  for (int64_t more = d.between(1, 3); more > 0; --more) {
    switch (d.below(6)) {
      case 0:
        x = node(body, "Add", {x, k});
        break;
      case 1:
        x = node(body, "Relu", {x});
        break;
      case 2:
        x = node(body, "Mul", {x, k});
        break;
      case 3:
        x = node(body, "Sub", {k, x});
        break;
      case 4:
        x = node(body, "Neg", {node(body, "Abs", {x})});
        break;
      default:
        x = node(body, "Tanh", {x});
        break;
    }
  }
  return x;
}

Body branch(Draw& d) {
  auto body = std::make_shared<Model>("branch");
  Value* a = body->add_input("a", {});
  Value* k = body->add_input("k", {});
  Value* y = d.below(4) == 3 ? node(*body, "Identity", {a}) : chain(d, *body, a, k);
  if (d.below(4) == 3) {
    // Another shape than the other branch may have.
    y = node(*body, "Unsqueeze",
             {y, body->add_constant("axes", Draw::list(ElementType::Int64, {0}))});
  }
  body->add_output("r", y);
  return body;
}

void if_node(Draw& d) {
  const Shape shape = d.shape(0, 3);
  d.input(Tensor::scalar(d.flag()));
  d.input(ElementType::Float32, shape);
  d.input(ElementType::Float32, shape);
  d.attribute("then_branch", branch(d));
  d.attribute("else_branch", branch(d));
  d.attribute("het.captures", std::vector<std::string>{"a", "k"});
}

/// Carries v, collects what it becomes; ends after some iterations, or when a counter says so.
void loop(Draw& d) {
  const Shape shape = d.shape(0, 2);
  const int64_t trips = d.between(0, 4);
  auto body = std::make_shared<Model>("body");
  Value* i = body->add_input("i", {ElementType::Int64, {}});
  Value* again = body->add_input("again", {ElementType::Bool, {}});
  Value* v = body->add_input("v", {ElementType::Float32, shape});
  Value* k = body->add_input("k", {});
  Value* more = again;
  if (d.flag()) {
    more = node(*body, "Less",
                {i, body->add_constant("end", Tensor::scalar<int64_t>(d.between(0, 3)))});
  } else {
    more = node(*body, "Identity", {again});
  }
  Value* next = chain(d, *body, v, k);
  body->add_output("more", more);
  body->add_output("next", next);
  const int64_t collected = d.between(0, 2);
  if (collected > 0) body->add_output("slice", node(*body, "Sigmoid", {next}));
  if (collected > 1) body->add_output("number", node(*body, "Identity", {i}));
  d.input(Tensor::scalar<int64_t>(trips));
  if (d.flag()) {
    d.input(Tensor::scalar(d.below(4) != 3));
  } else {
    d.omit();
  }
  d.input(ElementType::Float32, shape);
  d.input(ElementType::Float32, shape);
  d.attribute("body", body);
  d.attribute("het.captures", std::vector<std::string>{"k"});
  d.call().outputs = static_cast<size_t>(1 + collected);
}

/// One or two inputs are walked along any axis, in either direction.
void scan(Draw& d) {
  const Shape slice = d.shape(0, 2);
  const auto rank = static_cast<int64_t>(slice.size()) + 1;
  const int64_t steps = d.between(0, 4);
  const int64_t inputs = d.between(1, 2);
  auto body = std::make_shared<Model>("body");
  Value* state = body->add_input("state", {});
  Value* x = body->add_input("x", {});
  Value* other = inputs > 1 ? body->add_input("other", {}) : x;
  Value* next = chain(d, *body, node(*body, "Sum", {state, x}), other);
  body->add_output("next", next);
  body->add_output("slice", node(*body, "Sigmoid", {next}));
  d.input(ElementType::Float32, slice);
  Ints axes, directions;
  for (int64_t i = 0; i < inputs; ++i) {
    axes.push_back(d.axis(rank));
    directions.push_back(d.below(2));
    Shape shape = slice;
    shape.insert(shape.begin() + (axes.back() < 0 ? axes.back() + rank : axes.back()), steps);
    d.input(ElementType::Float32, shape);
  }
  d.attribute("body", body);
  d.attribute("num_scan_inputs", inputs);
  d.attribute("scan_input_axes", axes);
  d.attribute("scan_input_directions", directions);
  d.attribute("scan_output_axes", Ints{d.axis(rank)});
  d.attribute("scan_output_directions", Ints{d.below(2)});
  d.call().outputs = 2;
}

constexpr Generator kControlTable[] = {
    {"", "If", if_node},
    {"", "Loop", loop},
    {"", "Scan", scan},
};

}  // namespace

std::span<const Generator> control_generators() {
  return kControlTable;
}

}  // namespace het::oracle
