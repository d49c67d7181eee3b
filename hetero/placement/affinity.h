#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hetero/placement/name_pattern.h"
#include "inference/base/status.h"
#include "inference/model/model.h"

namespace het::hetero {

/// One wish of the user: these nodes on that device.
struct AffinityRule {
  enum class Kind { Name, Type, Regex };
  Kind kind = Kind::Name;
  std::string text;                    ///< a node's name, an operator type, or a pattern
  std::optional<NamePattern> pattern;  ///< of Kind::Regex
  std::string device;                  ///< empty: what earlier rules and the model say is forgotten
};

/// The rules of an affinity file, in two forms of JSON:
///
///     {"conv1": "GPU", "head/softmax": "CPU"}
///     {"rules": [{"regex": "head/.*", "device": "CPU"},
///                {"type": "Softmax", "device": "GPU"},
///                {"name": "conv1", "device": ""}]}
///
/// Later rules win, so general ones come first and exceptions after them; all of them win over
/// affinities of the model. An empty device leaves the choice to the planner. The first form counts
/// in the order of its names.
class AffinityRules {
 public:
  static constexpr size_t kMaxFileBytes = size_t{16} << 20;
  static constexpr size_t kMaxRules = 100'000;
  static constexpr size_t kMaxRegexRules = 256;

  /// No rules.
  AffinityRules() = default;
  /// `origin` names the source in errors: "affinity file 'x.json'". Fails with ParseError, naming
  /// the rule.
  static Result<AffinityRules> parse(std::string_view json, std::string_view origin);
  static Result<AffinityRules> read(const std::string& path);

  const std::vector<AffinityRule>& rules() const { return rules_; }
  const std::string& origin() const { return origin_; }
  /// "affinity file 'x.json' rule 3 (regex 'head/.*')", counted from 1; in the first form
  /// "affinity file 'x.json' (name 'conv1')".
  std::string describe(size_t rule) const;

 private:
  std::string origin_;
  bool is_list_ = false;  ///< the second form
  std::vector<AffinityRule> rules_;
};

/// What the user wants for a node.
struct AffinityWish {
  std::string device;  ///< empty: the planner chooses
  /// AffinityRules::describe(), or "affinity of the model"; empty without a wish.
  std::string cause;
};

/// The wishes per node, in the order of model.nodes(). A rule by name or pattern applies to a node
/// by its own name or by any of its original names; a type may be given with its domain or without.
/// Patterns are matched with names of up to kMaxMatchedBytes bytes. Fails with NotFound for a name
/// that no node has (the nearest names are told), and with InvalidArgument when a wish's device is
/// not in `devices`. Rules by type or pattern may apply to nothing: files serve several models.
Result<std::vector<AffinityWish>> find_wishes(const Model& model, const AffinityRules& rules,
                                              const std::vector<std::string>& devices);

inline constexpr size_t kMaxMatchedBytes = 1'000;

}  // namespace het::hetero
