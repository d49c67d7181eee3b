#include "hetero/execution/content_numbers.h"

#include <algorithm>
#include <string>
#include <utility>

namespace het::hetero {
namespace {

void append_contents(std::vector<std::shared_ptr<NumberedContent>>& contents, size_t count) {
  for (size_t i = 0; i < count; ++i) contents.push_back(std::make_shared<NumberedContent>());
}

Result<Tensor> numbered(const Tensor& tensor, const std::shared_ptr<NumberedContent>& content) {
  return in_buffer(tensor, with_number(tensor.buffer(), content));
}

/// Whether nobody but the device of its producer reads a value.
bool stays_on_device(const Split& split, const CutValue& cut) {
  const auto device_of = [&split](const SubgraphPort& port) -> const std::string& {
    return split.subgraphs[port.subgraph].device;
  };
  const bool is_output = std::ranges::any_of(split.outputs, [&cut](const TensorSource& source) {
    return source.kind == TensorSource::Kind::SubgraphOutput &&
           SubgraphPort{source.subgraph, source.index} == cut.producer;
  });
  return cut.desc.is_static() && !is_output &&
         std::ranges::all_of(cut.readers, [&](const SubgraphPort& reader) {
           return device_of(reader) == device_of(cut.producer);
         });
}

}  // namespace

ContentNumbers::ContentNumbers(const Split& split)
    : split_(split), planes_(split.input_readers.size()) {
  append_contents(cuts_, split.cuts.size());
  for (size_t i = 0; i < cuts_.size(); ++i) {
    cuts_[i]->set_private(stays_on_device(split, split.cuts[i]));
  }
  append_contents(inputs_, split.input_readers.size());
}

template <class Action>
void ContentNumbers::for_all(const Action& action) {
  for (const auto& content : cuts_) action(*content);
  for (const auto& content : inputs_) action(*content);
  for (const Contents& planes : planes_) {
    for (const auto& content : planes) action(*content);
  }
}

void ContentNumbers::begin() {
  for_all([](NumberedContent& content) { content.begin(); });
}

void ContentNumbers::forget() {
  for_all([](NumberedContent& content) { content.forget(); });
}

void ContentNumbers::share_all() {
  for (const auto& content : cuts_) content->set_private(false);
}

bool ContentNumbers::are_on_host(size_t subgraph) const {
  for (size_t i = 0; i < cuts_.size(); ++i) {
    if (split_.cuts[i].producer.subgraph == subgraph && !cuts_[i]->is_on_host()) return false;
  }
  return true;
}

Result<Tensor> ContentNumbers::of_cut(size_t cut, const Tensor& tensor) const {
  return numbered(tensor, cuts_[cut]);
}

Result<Tensor> ContentNumbers::of_input(size_t input, const Tensor& tensor) const {
  return numbered(tensor, inputs_[input]);
}

ImageRegion ContentNumbers::of_picture(size_t input, size_t item, ImageRegion region) {
  Contents& contents = planes_[input];
  const size_t first = item * kMaxImagePlanes;
  const auto planes = static_cast<size_t>(region.image.plane_count);
  if (contents.size() < first + planes) append_contents(contents, first + planes - contents.size());
  for (size_t p = 0; p < planes; ++p) {
    BufferPtr& buffer = region.image.planes[p].buffer;
    buffer = with_number(buffer, contents[first + p]);
  }
  return region;
}

}  // namespace het::hetero
