#include "devices/gpu/plan/launches.h"

#include "devices/gpu/plan/strided_move.h"
#include "devices/gpu/plan/strided_space.h"

namespace het::gpu {

std::string storage_option(ElementType stored) {
  return stored == ElementType::Float16 ? "-DSTORED_HALF" : "";
}

std::string row_options(const PlanBuilder& builder) {
  return fmt::format("-DWIDTH={} {}", builder.hardware().vector_width(),
                     storage_option(builder.options().stored_type));
}

std::string_view c_type(ElementType type) {
  switch (type) {
    case ElementType::Float32:
      return "float";
    case ElementType::Float16:
      return "half";
    case ElementType::Int8:
      return "char";
    case ElementType::UInt8:
    case ElementType::Bool:
      return "uchar";
    case ElementType::Int16:
      return "short";
    case ElementType::UInt16:
      return "ushort";
    case ElementType::Int32:
      return "int";
    case ElementType::UInt32:
      return "uint";
    case ElementType::Int64:
      return "long";
    case ElementType::UInt64:
      return "ulong";
    default:
      return "";
  }
}

Result<Launch> reorder_launch(PlanBuilder& builder, TensorId from, TensorId to) {
  const TensorSpec& source = builder.tensor(from).spec;
  const TensorSpec& target = builder.tensor(to).spec;
  if (source.type == target.type && !item_type(source.type).empty()) {
    return move_launch(builder, from, to,
                       {source.shape, logical_strides(source), logical_strides(target)});
  }
  if (!is_real(source.type) || !is_real(target.type)) {
    return error(StatusCode::NotSupported, "no kernel turns {} into {}", to_string(source),
                 to_string(target));
  }
  Launch launch;
  launch.text.file = "reorder";
  launch.text.options =
      fmt::format("-DFROM={} -DTO={}{}{}", c_type(source.type), c_type(target.type),
                  source.type == ElementType::Float16 ? " -DFROM_HALF" : "",
                  target.type == ElementType::Float16 ? " -DTO_HALF" : "");
  const Picture picture = picture_of(source.shape);
  const size_t group = builder.hardware().group_size();
  if (source.format == target.format || picture.c == 1 || picture.s == 1) {
    launch.kernel = "convert";
    launch.args = {Read{from}, Write{to}, as_int(count(source))};
    launch.global = {static_cast<size_t>(count(source)), 1, 1};
    launch.local = {group, 1, 1};
    return launch;
  }
  const bool to_last = target.format == Format::ChannelsLast;
  // Both directions are a transposition of [rows, columns].
  const int64_t rows = to_last ? picture.c : picture.s;
  const int64_t columns = to_last ? picture.s : picture.c;
  launch.kernel = "transpose";
  launch.args = {Read{from}, Write{to}, as_int(rows), as_int(columns)};
  launch.global = {groups_of(columns, 4), groups_of(rows, 4), static_cast<size_t>(picture.n)};
  launch.local = {group, 1, 1};
  return launch;
}

void add_ints(Launch& launch, std::initializer_list<int64_t> values) {
  for (const int64_t value : values) launch.args.emplace_back(as_int(value));
}

void set_place_range(const PlanBuilder& builder, Launch& launch, int64_t along, int64_t rows) {
  launch.global = {static_cast<size_t>(along), static_cast<size_t>(rows), 1};
  launch.local = row_groups(builder.hardware(), launch.global);
}

const Tensor* constant_or_null(const Value* value) {
  return value != nullptr && value->is_constant() ? &value->constant() : nullptr;
}

}  // namespace het::gpu
