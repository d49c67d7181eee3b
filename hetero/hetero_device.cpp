#include "hetero/hetero_device.h"

#include <algorithm>
#include <utility>

#include "hetero/hetero_compiler.h"
#include "hetero/hetero_import.h"
#include "hetero/members/device_list.h"
#include "hetero/members/member_context.h"

namespace het::hetero {
namespace {

constexpr std::string_view kHeteroName = "HETERO";

class HeteroDevice final : public Device {
 public:
  HeteroDevice(Core& core, std::string_view arguments, std::vector<MemberDevice> members)
      : core_(core),
        full_name_(arguments.empty() ? std::string(kHeteroName)
                                     : fmt::format("{}:{}", kHeteroName, arguments)),
        members_(std::move(members)) {}

  std::string_view name() const override { return kHeteroName; }

  Result<std::string> get_property(std::string_view name) const override {
    HET_ASSIGN(const PropertyDef* def, find_property(name, full_name_));
    if (def->name == "FULL_DEVICE_NAME") return "One model over several devices";
    if (def->name == "SUPPORTED_PROPERTIES") return supported_properties(full_name_);
    if (def->name == "MULTI_DEVICE_PRIORITIES") return parse_device_name(full_name_).arguments;
    if (std::ranges::find(kOwnProperties, def->name) != kOwnProperties.end()) {
      return std::string(def->default_value);
    }
    return property_of_members(pointers(), *def);
  }

  std::vector<MemoryKind> direct_memory_kinds() const override {
    return common_memory_kinds(pointers());
  }

  Result<std::vector<NodeSupport>> query_model(const Model& model,
                                               const Properties& properties) const override {
    HET_TRY(check_members());
    HET_ASSIGN(const auto compiler, HeteroCompiler::create(model, full_name_, members_, properties,
                                                           /*is_query=*/true));
    return compiler->query(model);
  }

  Result<std::shared_ptr<CompiledModel>> compile_model(const Model& model,
                                                       const Properties& properties,
                                                       DeviceContext* context) override {
    HET_TRY(check_members());
    HET_ASSIGN(MemberContext of_member, find_member_context(kHeteroName, members_, context));
    HET_ASSIGN(const auto compiler,
               HeteroCompiler::create(model, full_name_, members_, properties, /*is_query=*/false,
                                      std::move(of_member)));
    return compiler->compile();
  }

  Result<std::shared_ptr<CompiledModel>> import_model(std::istream& stream,
                                                      const Properties& properties) override {
    return import_hetero_model(stream, core_, members_, properties);
  }

  Result<std::shared_ptr<DeviceContext>> create_context(const ContextParams& params) override {
    HET_TRY(check_members());
    return create_member_context(kHeteroName, members_, params);
  }

 private:
  std::vector<const MemberDevice*> pointers() const {
    std::vector<const MemberDevice*> members;
    for (const MemberDevice& member : members_) members.push_back(&member);
    return members;
  }

  Status check_members() const {
    if (!members_.empty()) return {};
    return error(StatusCode::InvalidArgument,
                 "{} needs devices to distribute a model over: {}:GPU,CPU, or GPU,CPU in "
                 "MULTI_DEVICE_PRIORITIES",
                 kHeteroName, kHeteroName);
  }

  Core& core_;  ///< makes a device anew each time, so it outlives this one
  const std::string full_name_;
  const std::vector<MemberDevice> members_;  ///< empty for "HETERO" alone
};

}  // namespace

Result<std::shared_ptr<Device>> make_hetero_device(Core& core, std::string_view arguments) {
  std::vector<MemberDevice> members;
  if (!arguments.empty()) {
    HET_ASSIGN(members, parse_device_list(core, kHeteroName, arguments));
  }
  return std::make_shared<HeteroDevice>(core, arguments, std::move(members));
}

}  // namespace het::hetero
