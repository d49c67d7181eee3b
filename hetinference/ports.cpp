#include "hetinference/ports.h"

#include "hetinference/sized_struct.h"
#include "inference/tensors/custom_type_numbers.h"

namespace het::c_interface {

Status write_port(const std::string& name, const TensorDesc& desc, HetPort* out) {
  HET_TRY(check_size(out, "port"));
  HetPort result{};
  result.type = custom_type_number(desc.type);
  result.name = name.c_str();
  result.rank = static_cast<uint32_t>(desc.shape.size());
  result.shape = desc.shape.data();
  write_struct(result, out);
  return {};
}

Status write_port_of(const std::vector<Port>& ports, size_t index, const char* kind, HetPort* out) {
  HET_TRY(check_size(out, "port"));
  if (index >= ports.size()) {
    return error(StatusCode::NotFound, "there is no {} {}; the model has {}", kind, index,
                 ports.size());
  }
  return write_port(ports[index].name, ports[index].desc, out);
}

}  // namespace het::c_interface
