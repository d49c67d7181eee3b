#include "inference/preprocess/custom_preprocess.h"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <exception>
#include <string_view>

#include "inference/tensors/custom_type_numbers.h"

namespace het {
namespace {

/// What a library of version 1 fills at least.
constexpr size_t kSmallestPreprocessTable = offsetof(HetCustomPreprocess, destroy) + sizeof(void*);
constexpr int32_t kMostPixels = 16384;  // a side

}  // namespace

/// What the library is given to call, for one call of it. Its functions are called by the library,
/// which is C: nothing is thrown through them.
class CustomPreprocess::Host {
 public:
  /// Of create(): there is no picture yet.
  Host() {
    source_.struct_size = sizeof source_;
    source_.context = this;
    source_.set_error = set_error;
  }
  Host(const Image& image, const Rect& roi, const PreprocessDesc& desc, Tensor* item)
      : image_(&image),
        roi_(roi),
        desc_(&desc),
        item_(item),
        format_(to_string(image.format)),
        source_{sizeof(HetPictureSource),
                image.width,
                image.height,
                roi.x,
                roi.y,
                roi.width,
                roi.height,
                format_.c_str(),
                this,
                read_pixels,
                fill_tensor,
                set_error} {}
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  const HetPictureSource* table() const { return &source_; }

  /// Calls into the library: a failure return or an exception becomes a Status that says which
  /// function of which library it was and why.
  template <class Call>
  Status guarded(const std::string& title, std::string_view function, Call call) const {
    int32_t code = 0;
    try {
      code = call();
    } catch (const std::exception& failure) {
      return error(StatusCode::Internal, "{}: {} threw an exception: {}", title, function,
                   failure.what());
    } catch (...) {
      return error(StatusCode::Internal, "{}: {} threw an exception", title, function);
    }
    if (code == 0) return {};
    return error(StatusCode::Internal, "{}: {} failed with {}: {}", title, function, code,
                 complaint_.empty() ? "it gave no reason" : complaint_);
  }

 private:
  /// 0, or -1 with the complaint kept for the message.
  template <class Work>
  static int32_t served(void* context, const Work& work) {
    auto* self = static_cast<Host*>(context);
    try {
      const Status status = work(*self);
      if (status.ok()) return 0;
      self->complaint_ = status.message();
    } catch (...) {  // out of memory: without a reason
    }
    return -1;
  }
  static int32_t read_pixels(void* context, const HetPixelRequest* request) {
    return served(context, [&](Host& self) { return self.read(*request); });
  }
  static int32_t fill_tensor(void* context) {
    return served(context, [](Host& self) {
      return preprocess(*self.image_, self.roi_, *self.desc_, *self.item_);
    });
  }
  static void set_error(void* context, const char* message) {
    served(context, [&](Host& self) {
      self.complaint_ = message != nullptr ? message : "";
      return Status();
    });
  }

  Status read(const HetPixelRequest& wanted) const {
    if (wanted.struct_size < sizeof(HetPixelRequest))
      return error(StatusCode::InvalidArgument,
                   "read_pixels: struct_size is {}, at least {} is needed", wanted.struct_size,
                   sizeof(HetPixelRequest));
    const Rect part{wanted.x, wanted.y, wanted.width, wanted.height};
    if (part.width < 1 || part.height < 1 || clip(part, image_->width, image_->height) != part)
      return error(StatusCode::InvalidArgument,
                   "read_pixels: {}x{} pixels at ({}, {}) are no part of a picture of {}x{}",
                   part.width, part.height, part.x, part.y, image_->width, image_->height);
    const bool gray = wanted.colour == HET_COLOUR_GRAY;
    if (!gray && wanted.colour != HET_COLOUR_BGR && wanted.colour != HET_COLOUR_RGB)
      return error(StatusCode::InvalidArgument, "read_pixels: there is no colour {}",
                   wanted.colour);
    const int64_t row = int64_t{wanted.target_width} * (gray ? 1 : 3);
    if (wanted.target_width < 1 || wanted.target_width > kMostPixels || wanted.target_height < 1 ||
        wanted.target_height > kMostPixels || wanted.pixels == nullptr ||
        wanted.stride < static_cast<uint64_t>(row) ||
        wanted.stride > uint64_t{4} * kMostPixels * kMostPixels)
      return error(StatusCode::InvalidArgument,
                   "read_pixels: {}x{} pixels with a stride of {} cannot be written{}; sides are 1 "
                   "to {}, the stride is at least {}",
                   wanted.target_width, wanted.target_height, wanted.stride,
                   wanted.pixels == nullptr ? " to null" : "", kMostPixels, row);
    PreprocessDesc plain;
    plain.color_order = gray                              ? ColorOrder::Gray
                        : wanted.colour == HET_COLOUR_RGB ? ColorOrder::RGB
                                                          : ColorOrder::BGR;
    plain.tensor_layout = Layout::NHWC;
    const TensorDesc desc{ElementType::UInt8,
                          {1, wanted.target_height, wanted.target_width, gray ? 1 : 3},
                          Layout::NHWC};
    const auto stride = static_cast<int64_t>(wanted.stride);
    const size_t size =
        static_cast<size_t>(stride) * static_cast<size_t>(wanted.target_height - 1) +
        static_cast<size_t>(row);
    HET_ASSIGN(Tensor pixels, Tensor::wrap(desc, wanted.pixels, size, {},
                                           {static_cast<int64_t>(size), stride, gray ? 1 : 3, 1}));
    return preprocess(*image_, part, plain, pixels);
  }

  const Image* image_ = nullptr;
  Rect roi_;
  const PreprocessDesc* desc_ = nullptr;
  Tensor* item_ = nullptr;
  std::string format_;
  std::string complaint_;
  HetPictureSource source_{};
};

HetTensorTarget CustomPreprocess::target() const {
  const bool last = desc_.tensor_layout == Layout::NHWC;
  const int64_t* const shape = item_.shape.data() + 1;
  return {sizeof(HetTensorTarget),
          input_name_.c_str(),
          custom_type_number(item_.type),
          3,
          shape,
          last ? 1 : 0,
          static_cast<int32_t>(shape[last ? 1 : 2]),
          static_cast<int32_t>(shape[last ? 0 : 1]),
          nullptr,
          0};
}

Result<std::unique_ptr<CustomPreprocess>> CustomPreprocess::load(const std::string& path,
                                                                 const std::string& input_name,
                                                                 const TensorDesc& input,
                                                                 const PreprocessDesc& desc) {
  std::unique_ptr<CustomPreprocess> custom(new CustomPreprocess);
  HET_ASSIGN(custom->library_,
             SharedLibrary::open(path, "preprocessing library", "custom-preproc-lib"));
  HET_ASSIGN(const void* const table,
             custom->library_->table(HET_CUSTOM_PREPROCESS_SYMBOL, HET_CUSTOM_PREPROCESS_VERSION,
                                     "inference/custom_preprocess.h"));
  custom->table_ = static_cast<const HetCustomPreprocess*>(table);
  if (custom->table_->struct_size < kSmallestPreprocessTable ||
      custom->table_->convert == nullptr) {
    return error(
        StatusCode::InvalidArgument,
        "{} has a table of {} bytes {} convert; {} bytes and a function convert are needed",
        custom->library_->title(), custom->table_->struct_size,
        custom->table_->convert == nullptr ? "without" : "with", kSmallestPreprocessTable);
  }
  const char* const name = custom->table_->name;
  custom->title_ =
      fmt::format("preprocessing '{}' of '{}'", name != nullptr ? name : "without a name", path);
  custom->input_name_ = input_name;
  custom->desc_ = desc;
  custom->item_ = input;
  if (custom->item_.shape.size() == 3) custom->item_.shape.insert(custom->item_.shape.begin(), 1);
  custom->item_.shape[0] = 1;
  if (custom_type_number(input.type) == 0 || custom->item_.shape.size() != 4) {
    return error(StatusCode::NotSupported, "{} cannot fill input '{}' {}", custom->title_,
                 input_name, to_string(input));
  }
  if (custom->table_->create != nullptr) {
    const Host host;
    const HetTensorTarget seen = custom->target();
    HET_TRY(host.guarded(custom->title_, "create", [&] {
      return custom->table_->create(&seen, host.table(), &custom->instance_);
    }));
  }
  custom->created_ = true;
  return custom;
}

CustomPreprocess::~CustomPreprocess() {
  if (!created_ || table_->destroy == nullptr) return;
  try {
    table_->destroy(instance_);
  } catch (...) {  // nobody is left who could be told
  }
}

Status CustomPreprocess::convert(const Image& image, const Rect& roi, Tensor& dst,
                                 int64_t batch_index) const {
  const Rect region = clip(roi, image.width, image.height);
  if (region.width < 1 || region.height < 1)
    return error(StatusCode::InvalidArgument,
                 "{}x{} pixels at ({}, {}) are outside of a picture of {}x{}", roi.width,
                 roi.height, roi.x, roi.y, image.width, image.height);
  HET_ASSIGN(const size_t size, dense_size_bytes(item_));
  const size_t begin = dst.offset() + static_cast<size_t>(batch_index) * size;
  HET_ASSIGN(Tensor item, Tensor::view(item_, dst.buffer(), begin));
  HetTensorTarget filled = target();
  filled.data = item.bytes();
  filled.size_bytes = size;
  const Host host(image, region, desc_, &item);
  return host.guarded(title_, "convert",
                      [&] { return table_->convert(instance_, host.table(), &filled); });
}

Result<PictureTransform> CustomPreprocess::place(const Rect& roi,
                                                 const PictureTransform& usual) const {
  if (table_->place == nullptr) return usual;
  const auto x = static_cast<float>(roi.x);
  const auto y = static_cast<float>(roi.y);
  HetRegionPlace found{sizeof(HetRegionPlace), usual.scale_x, usual.scale_y, usual.offset_x - x,
                       usual.offset_y - y};
  const Host host;
  HET_TRY(host.guarded(title_, "place",
                       [&] { return table_->place(instance_, roi.width, roi.height, &found); }));
  for (const float value : {found.scale_x, found.scale_y, found.offset_x, found.offset_y}) {
    if (!std::isfinite(value) || found.scale_x <= 0.0f || found.scale_y <= 0.0f)
      return error(StatusCode::InvalidArgument,
                   "{}: place gives scales {} and {}, offsets {} and {}: all have to be finite, "
                   "scales above 0",
                   title_, found.scale_x, found.scale_y, found.offset_x, found.offset_y);
  }
  return PictureTransform{found.scale_x, found.scale_y, found.offset_x + x, found.offset_y + y};
}

}  // namespace het
