/// Functions of HetRequest.

#include <chrono>

#include "hetinference/arguments.h"
#include "hetinference/handles.h"
#include "hetinference/sized_struct.h"
#include "inference/tensors/custom_type_numbers.h"

using namespace het;
using namespace het::c_interface;

void het_request_release(HetRequest* request) {
  delete request;
}

HetStatus het_request_set_tensor(HetRequest* request, const char* port, const HetTensor* tensor) {
  return call("het_request_set_tensor", [&]() -> Status {
    HET_TRY(not_null(request, "request"));
    HET_TRY(not_null(port, "port"));
    HET_ASSIGN(const HetTensor known, read_struct(tensor, "tensor"));
    const auto kept = std::make_shared<bool>(false);
    HET_ASSIGN(Tensor wrapped, to_tensor(known, kept));
    HET_TRY(request->request->set_tensor(port, std::move(wrapped)));
    *kept = true;
    return {};
  });
}

HetStatus het_request_set_cl_tensor(HetRequest* request, const char* port, HetContext* context,
                                    const HetTensor* tensor, void* cl_memory, void* cl_queue) {
  return call("het_request_set_cl_tensor", [&]() -> Status {
    HET_TRY(not_null(request, "request"));
    HET_TRY(not_null(port, "port"));
    HET_TRY(not_null(context, "context"));
    HET_TRY(not_null(cl_memory, "cl_memory"));
    HET_ASSIGN(const HetTensor known, read_struct(tensor, "tensor"));
    if (known.data || known.size_bytes || known.strides_bytes) {
      return error(StatusCode::InvalidArgument,
                   "data, size_bytes and strides_bytes of a tensor in a cl_mem must be zero");
    }
    HET_ASSIGN(TensorDesc desc, to_desc(known));
    const auto kept = std::make_shared<bool>(false);
    std::function<void()> release;
    if (known.release) {
      release = [kept, callback = known.release, user = known.user] {
        if (*kept) callback(user);
      };
    }
    HET_ASSIGN(Tensor wrapped,
               context->context->wrap(std::move(desc), OpenClHandle{cl_memory, cl_queue},
                                      std::move(release)));
    HET_TRY(request->request->set_tensor(port, std::move(wrapped)));
    *kept = true;
    return {};
  });
}

HetStatus het_request_get_tensor(HetRequest* request, const char* port, HetTensor* tensor) {
  return call("het_request_get_tensor", [&]() -> Status {
    HET_TRY(not_null(request, "request"));
    HET_TRY(not_null(port, "port"));
    HET_TRY(check_size(tensor, "tensor"));
    const CompiledModel& model = request->request->compiled_model();
    const auto input = model.input_index(port);
    const Tensor* found = nullptr;
    if (input) {
      found = &request->request->input(*input);
    } else {
      HET_ASSIGN(const size_t output, model.output_index(port));
      found = &request->request->output(output);
    }
    if (found->empty() || !found->bytes()) {
      return error(StatusCode::NotSupported,
                   "the tensor '{}' has no host memory; set one with het_request_set_tensor()",
                   port);
    }
    HetTensor result{};
    result.type = custom_type_number(found->type());
    result.rank = static_cast<uint32_t>(found->rank());
    result.shape = found->shape().data();
    result.strides_bytes = found->strides_bytes().data();
    result.data = found->bytes();
    result.size_bytes = found->size_bytes();
    write_struct(result, tensor);
    return {};
  });
}

HetStatus het_request_set_picture(HetRequest* request, const char* port, const HetPicture* picture,
                                  const HetRegion* region, size_t batch_index) {
  return call("het_request_set_picture", [&]() -> Status {
    HET_TRY(not_null(request, "request"));
    HET_TRY(not_null(port, "port"));
    HET_ASSIGN(const HetPicture known, read_struct(picture, "picture"));
    const auto kept = std::make_shared<bool>(false);
    HET_ASSIGN(Image image, to_image(known, kept));
    HET_ASSIGN(const Rect roi, to_rect(region, image.width, image.height));
    HET_ASSIGN(const size_t index, request->request->compiled_model().input_index(port));
    HET_TRY(request->request->set_image(index, std::move(image), roi, batch_index));
    *kept = true;
    return {};
  });
}

HetStatus het_request_set_stream(HetRequest* request, const char* stream) {
  return call("het_request_set_stream", [&]() -> Status {
    HET_TRY(not_null(request, "request"));
    HET_TRY(not_null(stream, "stream"));
    request->request->set_stream(stream);
    return {};
  });
}

HetStatus het_request_infer(HetRequest* request) {
  return call("het_request_infer", [&]() -> Status {
    HET_TRY(not_null(request, "request"));
    return request->request->infer();
  });
}

HetStatus het_request_start_async(HetRequest* request) {
  return call("het_request_start_async", [&]() -> Status {
    HET_TRY(not_null(request, "request"));
    return request->request->start_async();
  });
}

HetStatus het_request_wait(HetRequest* request, int64_t timeout_ms) {
  return call("het_request_wait", [&]() -> Status {
    HET_TRY(not_null(request, "request"));
    if (timeout_ms < 0) return request->request->wait();
    // A longer limit would overflow the clock.
    constexpr int64_t kYear = 365LL * 24 * 3600 * 1000;
    return request->request->wait_for(std::chrono::milliseconds(std::min(timeout_ms, kYear)));
  });
}

HetStatus het_request_cancel(HetRequest* request) {
  return call("het_request_cancel", [&]() -> Status {
    HET_TRY(not_null(request, "request"));
    request->request->cancel();
    return {};
  });
}

HetStatus het_request_set_callback(HetRequest* request, HetCompletion callback, void* user) {
  return call("het_request_set_callback", [&]() -> Status {
    HET_TRY(not_null(request, "request"));
    if (!callback) {
      request->request->set_callback({});
      return {};
    }
    request->request->set_callback([callback, user](const Status& status) {
      callback(user, status_number(status.code()), status.message().c_str());
    });
    return {};
  });
}

HetStatus het_request_profile(HetRequest* request, size_t* count) {
  if (count) *count = 0;
  return call("het_request_profile", [&]() -> Status {
    HET_TRY(not_null(request, "request"));
    HET_TRY(not_null(count, "count"));
    request->profile = request->request->profiling();
    *count = request->profile.size();
    return {};
  });
}

HetStatus het_request_profile_row(HetRequest* request, size_t index, HetProfile* row) {
  return call("het_request_profile_row", [&]() -> Status {
    HET_TRY(not_null(request, "request"));
    HET_TRY(check_size(row, "row"));
    if (index >= request->profile.size()) {
      return error(StatusCode::NotFound, "there is no row {} of {}", index,
                   request->profile.size());
    }
    const ProfileRow& from = request->profile[index];
    HetProfile result{};
    result.node_name = from.node_name.c_str();
    result.status = to_string(from.status).data();  // a literal
    result.layer_type = from.layer_type.c_str();
    result.exec_type = from.exec_type.c_str();
    result.real_us = from.real_us;
    result.cpu_us = from.cpu_us;
    write_struct(result, row);
    return {};
  });
}
