#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "inference/base/status.h"
#include "inference/base/visibility.h"

namespace het {

/// What an exported model says about itself, for the device that wrote it: texts, pairs of texts
/// and lists of texts by name, as JSON in a section of the file. Reading is strict: what is asked
/// for must be there.
struct HET_API ExportedManifest {
  std::map<std::string, std::string> texts;
  std::map<std::string, std::map<std::string, std::string>> pairs;
  std::map<std::string, std::vector<std::string>> lists;

  std::string to_json() const;
  /// Fails with ParseError for anything else than an object of texts, objects of texts and lists of
  /// texts.
  static Result<ExportedManifest> parse(std::span<const std::byte> json);

  /// Fail with ParseError when there is none of that name.
  Result<std::string> text(const std::string& name) const;
  Result<std::map<std::string, std::string>> pairs_of(const std::string& name) const;
  Result<std::vector<std::string>> list(const std::string& name) const;
};

}  // namespace het
