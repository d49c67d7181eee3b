#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hetero/execution/exported_plan.h"
#include "hetero/execution/fail_over.h"
#include "hetero/execution/hetero_plan.h"
#include "hetero/execution/plan_mix.h"
#include "hetero/members/device_list.h"
#include "hetero/members/member_context.h"
#include "hetero/placement/affinity.h"
#include "hetero/placement/cut_types.h"
#include "hetero/placement/placement.h"
#include "hetero/placement/plan_report.h"
#include "hetero/placement/plan_store.h"
#include "hetero/placement/policy.h"
#include "hetero/placement/profile_store.h"
#include "inference/base/status.h"
#include "inference/devices/device.h"
#include "inference/devices/properties.h"
#include "inference/model/model.h"

namespace het::hetero {

/// What stays with HETERO; everything else goes to the devices that know it.
inline constexpr std::array<std::string_view, 13> kOwnProperties = {
    "HETERO_AFFINITY", "HETERO_DUMP_GRAPH_DOT",     "HETERO_EXECUTOR",
    "HETERO_EXPLAIN",  "HETERO_FAIL_OVER",          "HETERO_MIXES",
    "HETERO_POLICY",   "HETERO_REPLAN_INTERVAL",    "HETERO_RETRY_INTERVAL",
    "HETERO_STRICT",   "MODEL_DISTRIBUTION_POLICY", "MULTI_DEVICE_PRIORITIES",
    "WEIGHTS_PATH"};

/// One model on its way over several devices: support, placement, compiled plans. It lives as long
/// as plans may have to be made anew. Thread-compatible.
class HeteroCompiler : public std::enable_shared_from_this<HeteroCompiler> {
 public:
  /// Prepares a copy of the model. For a query unbound dimensions are allowed. `device` is the
  /// whole name ("HETERO:GPU,CPU"), `properties` are validated for it. `context` is of one of the
  /// members and kept.
  static Result<std::shared_ptr<HeteroCompiler>> create(const Model& model, std::string device,
                                                        std::vector<MemberDevice> members,
                                                        Properties properties, bool is_query,
                                                        MemberContext context = {});

  /// Rows for the user's model.
  Result<std::vector<NodeSupport>> query(const Model& original) const;
  /// A device that fails to compile is left out with a warning where fail-over is on.
  Result<std::shared_ptr<CompiledModel>> compile();

  // Exported models, here and below.

  /// Of what is compiled: graph, types, shapes and weights.
  Result<uint64_t> fingerprint() const;
  /// Plans that were imported, with fail-over by this compiler's model, which has the fingerprint
  /// of the one that they were made for. Their splits get their nodes. Fails with NotSupported
  /// where the model's nodes are not those of the plans.
  Result<std::shared_ptr<CompiledModel>> adopt(
      std::vector<PlanWay> ways, const std::vector<std::shared_ptr<HeteroPlan>>& plans,
      size_t requests, std::string explanation);

 private:
  HeteroCompiler(std::string device, std::vector<MemberDevice> members, Properties properties,
                 MemberContext context);
  Result<std::vector<AffinityWish>> find_all_wishes(const Model& original) const;
  Result<SupportTable> support_table(const LostDevices& lost) const;
  /// By the policy, or by priority where devices are lost: streams wait for the plan.
  Result<std::shared_ptr<const PlanMix>> make_plan(const LostDevices& lost);
  /// The same; devices that fail to compile are added to `lost`.
  Result<std::shared_ptr<const PlanMix>> make_plan_without(LostDevices& lost);
  Result<std::shared_ptr<const PlanMix>> first_plan_again();
  /// A new plan where subgraphs of this one take other times than when it was made, else null.
  Result<std::shared_ptr<const PlanMix>> judge(const PlanMix& plan);
  PlanOptions plan_options(const LostDevices& lost) const;
  PlanFactory plan_factory();
  /// The chosen plans with HETERO_PLAN, which is logged.
  std::shared_ptr<const PlanMix> mix_with_text(const PlanReport& report, const SupportTable& table,
                                               const std::string& cause) const;
  /// Takes what was chosen as the plan without losses.
  std::shared_ptr<const PlanMix> take(PlanReport report, const SupportTable& table,
                                      const std::string& cause);
  /// With an accelerator beside them, in this split or another of the plan, devices leave a core.
  Result<std::shared_ptr<HeteroPlan>> compile_split(const Split& split, bool with_accelerator);
  /// Subgraphs of a plan on HETERO over the other devices.
  Result<FailOver::Substitutes> compile_elsewhere(const HeteroPlan& plan,
                                                  const std::vector<size_t>& subgraphs,
                                                  const LostDevices& lost) const;
  /// The plan's split, with models; splitting has no choice but the devices.
  Result<Split> split_again(const HeteroPlan& plan) const;
  Status find_nodes(HeteroPlan& plan) const;
  Result<StoredWay> stored_way(const HeteroPlan& plan, double share) const;
  Result<ExportedSource> source() const;
  CrossingRules crossing_rules() const;
  Result<std::shared_ptr<CompiledModel>> wrap(std::shared_ptr<const PlanMix> plan,
                                              std::unique_ptr<FailOver> fail_over = nullptr);
  Result<std::unique_ptr<FailOver>> make_fail_over(std::shared_ptr<const PlanMix> plan,
                                                   LostDevices lost);
  Status dump(const Placement& placement, const SupportTable& table) const;

  const std::string device_;
  const std::vector<MemberDevice> members_;
  const Properties properties_;
  const MemberContext context_;
  std::unique_ptr<Model> prepared_;
  std::string source_path_;
  std::vector<AffinityWish> wishes_;  ///< per node of prepared_
  std::shared_ptr<DeviceEvents> events_;
  bool by_memory_ = false;            ///< MODEL_DISTRIBUTION_POLICY=PIPELINE_PARALLEL
  StoredPlan first_;                  ///< the plan without losses
  std::optional<PlanReport> report_;  ///< how it was chosen, where it may be judged
  std::shared_ptr<DeviceLoads> loads_ = std::make_shared<DeviceLoads>();
  std::unique_ptr<ProfileStore> profiles_;  ///< of all devices
  std::string failed_device_;               ///< of the last compile_split()
};

}  // namespace het::hetero
