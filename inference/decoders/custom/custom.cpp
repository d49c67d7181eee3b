#include <exception>
#include <utility>

#include "inference/base/registration.h"
#include "inference/decoders/custom/custom_library.h"
#include "inference/decoders/custom/custom_sink.h"
#include "inference/decoders/custom/custom_tensor.h"
#include "inference/decoders/decoder_registry.h"
#include "inference/decoders/output_values.h"

namespace het {
namespace {

/// Calls into the library: a failure return or an exception becomes a Status that says which
/// function of which decoder it was and why.
template <class Call>
Status guarded(const CustomLibrary& library, std::string_view function, const CustomSink& sink,
               Call call) {
  int32_t code = 0;
  try {
    code = call();
  } catch (const std::exception& failure) {
    return error(StatusCode::Internal, "{}: {} threw an exception: {}", library.title(), function,
                 failure.what());
  } catch (...) {
    return error(StatusCode::Internal, "{}: {} threw an exception", library.title(), function);
  }
  if (code == 0) return {};
  return error(StatusCode::Internal, "{}: {} failed with {}: {}", library.title(), function, code,
               sink.complaint().empty() ? "it gave no reason" : sink.complaint());
}

/// What create() of the library made; destroyed before the library is closed.
class Instance {
 public:
  static Result<std::shared_ptr<Instance>> create(std::shared_ptr<const CustomLibrary> library,
                                                  const DecoderConfig& config,
                                                  const std::vector<Port>& outputs) {
    std::vector<const char*> labels;
    for (const std::string& label : config.labels) labels.push_back(label.c_str());
    std::vector<const char*> names;
    for (const Port& port : outputs) names.push_back(port.name.c_str());
    const HetDecoderSettings settings{sizeof(HetDecoderSettings),
                                      static_cast<uint32_t>(labels.size()),
                                      labels.data(),
                                      static_cast<uint32_t>(names.size()),
                                      names.data(),
                                      config.threshold.value_or(0.0f)};
    const std::shared_ptr<Instance> made(new Instance(std::move(library)));
    const HetCustomDecoder& decoder = made->library_->decoder();
    if (decoder.create == nullptr) return made;
    const CustomSink sink(nullptr);
    HET_TRY(guarded(*made->library_, "create", sink,
                    [&] { return decoder.create(&settings, sink.table(), &made->address_); }));
    made->created_ = true;
    return made;
  }
  ~Instance() {
    const HetCustomDecoder& decoder = library_->decoder();
    if (!created_ || decoder.destroy == nullptr) return;
    try {
      decoder.destroy(address_);
    } catch (...) {  // nobody is left who could be told
    }
  }
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  const CustomLibrary& library() const { return *library_; }
  void* address() const { return address_; }

 private:
  explicit Instance(std::shared_ptr<const CustomLibrary> library) : library_(std::move(library)) {}

  std::shared_ptr<const CustomLibrary> library_;
  void* address_ = nullptr;
  bool created_ = false;
};

/// Hands every output, whole and dense, to the user's library (DL Streamer's custom_to_roi and
/// custom_to_tensor; the interface is inference/custom_decoder.h).
class CustomDecoder final : public Decoder {
 public:
  CustomDecoder(DecoderConfig config, std::shared_ptr<Instance> instance,
                std::vector<std::string> names)
      : config_(std::move(config)), instance_(std::move(instance)), names_(std::move(names)) {}

  Result<Results> decode(std::span<const Tensor> outputs,
                         const DecodeContext& context) const override {
    std::vector<Tensor> dense;
    std::vector<HetTensorView> views;
    for (size_t i = 0; i < outputs.size() && i < names_.size(); ++i) {
      HET_TRY(OutputValues::expect_host(outputs[i]));
      dense.push_back(outputs[i]);
      if (!outputs[i].is_dense()) {
        HET_ASSIGN(dense.back(), outputs[i].clone());
      }
      HET_ASSIGN(const HetTensorView view, tensor_view(names_[i], dense.back()));
      views.push_back(view);
    }
    const HetPictureView picture{sizeof(HetPictureView),
                                 context.batch_index,
                                 context.input_width,
                                 context.input_height,
                                 context.source_width,
                                 context.source_height,
                                 context.roi.x,
                                 context.roi.y,
                                 context.roi.width,
                                 context.roi.height,
                                 context.transform.scale_x,
                                 context.transform.scale_y,
                                 context.transform.offset_x,
                                 context.transform.offset_y,
                                 context.threshold};
    CustomSink sink(&config_.labels);
    HET_TRY(guarded(instance_->library(), "decode", sink, [&] {
      return instance_->library().decoder().decode(instance_->address(), views.data(),
                                                   static_cast<uint32_t>(views.size()), &picture,
                                                   sink.table());
    }));
    return sink.take();
  }

 private:
  DecoderConfig config_;
  std::shared_ptr<Instance> instance_;
  std::vector<std::string> names_;
};

Result<std::unique_ptr<Decoder>> create_custom(const DecoderConfig& config,
                                               const std::vector<Port>&,
                                               const std::vector<Port>& outputs) {
  if (config.custom_library.empty())
    return error(StatusCode::InvalidArgument,
                 "converter '{}' is a decoder of your own: give the path of its shared library in "
                 "the property custom-postproc-lib",
                 config.converter);
  HET_ASSIGN(std::shared_ptr<const CustomLibrary> library,
             CustomLibrary::open(config.custom_library));
  HET_ASSIGN(std::shared_ptr<Instance> instance,
             Instance::create(std::move(library), config, outputs));
  std::vector<std::string> names;
  for (const Port& port : outputs) names.push_back(port.name);
  return std::make_unique<CustomDecoder>(config, std::move(instance), std::move(names));
}

}  // namespace

HET_REGISTRATION void register_custom_decoder(DecoderRegistry& registry) {
  registry.add({"custom_to_roi", {"labels", "threshold"}, create_custom});
  registry.add({"custom_to_tensor", {"labels", "threshold"}, create_custom});
}

}  // namespace het
