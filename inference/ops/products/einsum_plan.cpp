#include <algorithm>
#include <map>
#include <string>

#include "inference/ops/products/einsum.h"

namespace het {
namespace {

/// A dimension's name: a letter, or the distance from the end of an ellipsis as a negative number.
using Label = int;
using Labels = std::vector<Label>;

/// The position-th dimension of an ellipsis that stands for `rank` of them.
Label ellipsis_label(int64_t rank, int64_t position) {
  return static_cast<Label>(position - rank);
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// One term between commas: letters and at most one ellipsis.
struct Term {
  std::string before;
  std::string after;
  bool ellipsis = false;

  int64_t letters() const { return static_cast<int64_t>(before.size() + after.size()); }
  Labels labels(int64_t ellipsis_rank) const {
    Labels result(before.begin(), before.end());
    for (int64_t i = 0; ellipsis && i < ellipsis_rank; ++i) {
      result.push_back(ellipsis_label(ellipsis_rank, i));
    }
    result.insert(result.end(), after.begin(), after.end());
    return result;
  }
};

Result<Term> parse_term(std::string_view text) {
  Term term;
  for (size_t i = 0; i < text.size(); ++i) {
    if (is_letter(text[i])) {
      (term.ellipsis ? term.after : term.before).push_back(text[i]);
    } else if (!term.ellipsis && text.substr(i, 3) == "...") {
      term.ellipsis = true;
      i += 2;
    } else {
      return error(StatusCode::ParseError,
                   "the term '{}' of the equation may hold letters and one '...' only", text);
    }
  }
  return term;
}

struct Equation {
  std::vector<Term> inputs;
  bool has_output = false;
  Term output;
};

Result<Equation> parse_equation(std::string_view text) {
  std::string dense(text);
  std::erase(dense, ' ');
  std::string_view rest = dense;
  Equation equation;
  if (const size_t arrow = rest.find("->"); arrow != std::string_view::npos) {
    equation.has_output = true;
    HET_ASSIGN(equation.output, parse_term(rest.substr(arrow + 2)));
    rest = rest.substr(0, arrow);
  }
  while (true) {
    const size_t comma = rest.find(',');
    HET_ASSIGN(Term term, parse_term(rest.substr(0, comma)));
    equation.inputs.push_back(std::move(term));
    if (comma == std::string_view::npos) return equation;
    rest = rest.substr(comma + 1);
  }
}

/// The implicit output: the ellipsis, then the letters that occur once, upper case first.
Term implicit_output(const std::vector<Term>& inputs) {
  std::map<char, int> uses;
  Term output;
  for (const Term& term : inputs) {
    output.ellipsis = output.ellipsis || term.ellipsis;
    for (const char c : term.before + term.after) ++uses[c];
  }
  for (const auto& [letter, count] : uses) {
    if (count == 1) output.after.push_back(letter);
  }
  return output;
}

/// The size of every label; those of size 1 yield to others.
Result<std::map<Label, int64_t>> label_sizes(const std::vector<Labels>& labels,
                                             const std::vector<Shape>& inputs) {
  std::map<Label, int64_t> sizes;
  for (size_t i = 0; i < inputs.size(); ++i) {
    for (size_t d = 0; d < inputs[i].size(); ++d) {
      const auto [at, is_new] = sizes.emplace(labels[i][d], inputs[i][d]);
      if (is_new || at->second == inputs[i][d] || inputs[i][d] == 1) continue;
      if (at->second != 1) {
        return error(StatusCode::ShapeMismatch,
                     "dimension {} of input {} has shape {}, but the same label stands for {} "
                     "elsewhere",
                     d, i, to_string(inputs[i]), at->second);
      }
      at->second = inputs[i][d];
    }
  }
  return sizes;
}

}  // namespace

Result<EinsumPlan> einsum_plan(std::string_view text, const std::vector<Shape>& inputs) {
  HET_ASSIGN(Equation equation, parse_equation(text));
  if (equation.inputs.size() != inputs.size()) {
    return error(StatusCode::ParseError, "equation '{}' has {} terms, but there are {} inputs",
                 text, equation.inputs.size(), inputs.size());
  }
  std::vector<Labels> labels;
  int64_t widest_ellipsis = 0;
  bool any_ellipsis = false;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Term& term = equation.inputs[i];
    const int64_t extra = static_cast<int64_t>(inputs[i].size()) - term.letters();
    if (extra < 0 || (extra > 0 && !term.ellipsis)) {
      return error(StatusCode::ShapeMismatch,
                   "input {} has shape {}, which does not fit its term in equation '{}'", i,
                   to_string(inputs[i]), text);
    }
    labels.push_back(term.labels(extra));
    any_ellipsis = any_ellipsis || term.ellipsis;
    widest_ellipsis = std::max(widest_ellipsis, extra);
  }
  if (!equation.has_output) equation.output = implicit_output(equation.inputs);
  if (any_ellipsis && !equation.output.ellipsis) {
    return error(StatusCode::ParseError,
                 "equation '{}' has '...' in its inputs, but not in its output", text);
  }
  HET_ASSIGN(const auto sizes, label_sizes(labels, inputs));

  Labels loops = equation.output.labels(widest_ellipsis);
  EinsumPlan plan;
  for (size_t i = 0; i < loops.size(); ++i) {
    const auto found = sizes.find(loops[i]);
    const auto end = loops.begin() + static_cast<std::ptrdiff_t>(i);
    if (found == sizes.end() || std::find(loops.begin(), end, loops[i]) != end) {
      return error(StatusCode::ParseError,
                   "label '{}' in the output of equation '{}' must occur there once, and in an "
                   "input",
                   static_cast<char>(loops[i]), text);
    }
    plan.output_shape.push_back(found->second);
  }
  for (const auto& [label, size] : sizes) {
    if (std::find(loops.begin(), loops.end(), label) == loops.end()) loops.push_back(label);
  }
  for (const Label label : loops) plan.loops.push_back(sizes.at(label));
  HET_TRY(checked_element_count(plan.output_shape));
  HET_TRY(checked_element_count(plan.loops));

  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::vector<int64_t> own = row_major_strides(inputs[i]);
    std::vector<int64_t> strides(loops.size());
    for (size_t d = 0; d < own.size(); ++d) {
      if (inputs[i][d] == 1) continue;
      // A label that a term repeats walks along the diagonal.
      const auto at = std::find(loops.begin(), loops.end(), labels[i][d]) - loops.begin();
      strides[static_cast<size_t>(at)] += own[d];
    }
    plan.strides.push_back(std::move(strides));
  }
  return plan;
}

}  // namespace het
