#include <nlohmann/json.hpp>

#include "tools/golden_outputs.h"
#include "tools/golden_run.h"
#include "tools/verify_case.h"

namespace het {
namespace {

Status verify(const VerifyContext& context, const std::filesystem::path& folder) {
  HET_ASSIGN(const GoldenRun run, prepare_golden_run(context, folder));
  HET_TRY(run.request->infer());
  HET_ASSIGN(const std::vector<ReferenceOutput> references,
             read_golden_outputs(run.golden, folder));
  const auto worst =
      check_outputs(references, *run.request, is_quantised(*run.model), context.cosine);
  return worst ? Status() : worst.error();
}

}  // namespace

CaseResult verify_golden_folder(const VerifyContext& context, const std::filesystem::path& folder) {
  Status status;
  try {
    status = verify(context, folder);
  } catch (const nlohmann::json::exception& exception) {
    status = Status(
        StatusCode::ParseError,
        fmt::format("cannot read '{}': {}", (folder / "golden.json").string(), exception.what()));
  }
  return case_result(folder.string(), status);
}

}  // namespace het
