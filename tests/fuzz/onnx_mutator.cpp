#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <protozero/buffer_string.hpp>
#include <protozero/varint.hpp>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "inference/readers/onnx/proto.h"

/// Changes ONNX files field by field, so that most of what the fuzzer makes is still a protobuf
/// message: bytes changed at random mostly break a length.
namespace {

using Random = std::minstd_rand;

enum class Message : uint8_t {
  None,  ///< a text, bytes, packed numbers: no message inside
  Model,
  Opset,
  Entry,
  Function,
  Graph,
  Node,
  Attribute,
  Value,
  Type,
  TensorType,
  Shape,
  Dim,
  Tensor,
  Sparse
};

struct MessageField {
  Message parent;
  uint32_t tag;
  Message content;
};

constexpr MessageField kMessageFields[] = {
    {Message::Model, het::onnx::model_field::kGraph, Message::Graph},
    {Message::Model, het::onnx::model_field::kOpsetImport, Message::Opset},
    {Message::Model, het::onnx::model_field::kMetadata, Message::Entry},
    {Message::Model, het::onnx::model_field::kFunctions, Message::Function},
    {Message::Function, het::onnx::function_field::kNode, Message::Node},
    {Message::Function, het::onnx::function_field::kOpsetImport, Message::Opset},
    {Message::Function, het::onnx::function_field::kAttributeProto, Message::Attribute},
    {Message::Graph, het::onnx::graph_field::kNode, Message::Node},
    {Message::Graph, het::onnx::graph_field::kInitializer, Message::Tensor},
    {Message::Graph, het::onnx::graph_field::kInput, Message::Value},
    {Message::Graph, het::onnx::graph_field::kOutput, Message::Value},
    {Message::Graph, het::onnx::graph_field::kValueInfo, Message::Value},
    {Message::Graph, het::onnx::graph_field::kSparseInitializer, Message::Sparse},
    {Message::Node, het::onnx::node_field::kAttribute, Message::Attribute},
    {Message::Node, het::onnx::node_field::kMetadata, Message::Entry},
    {Message::Attribute, het::onnx::attribute_field::kTensor, Message::Tensor},
    {Message::Attribute, het::onnx::attribute_field::kGraph, Message::Graph},
    {Message::Attribute, het::onnx::attribute_field::kTensors, Message::Tensor},
    {Message::Attribute, het::onnx::attribute_field::kGraphs, Message::Graph},
    {Message::Attribute, het::onnx::attribute_field::kTypeProto, Message::Type},
    {Message::Attribute, het::onnx::attribute_field::kTypeProtos, Message::Type},
    {Message::Attribute, het::onnx::attribute_field::kSparseTensor, Message::Sparse},
    {Message::Attribute, het::onnx::attribute_field::kSparseTensors, Message::Sparse},
    {Message::Value, het::onnx::value_field::kType, Message::Type},
    {Message::Type, het::onnx::type_field::kTensor, Message::TensorType},
    {Message::Type, het::onnx::type_field::kSparse, Message::TensorType},
    {Message::Type, het::onnx::type_field::kSequence, Message::Type},
    {Message::Type, het::onnx::type_field::kOptional, Message::Type},
    {Message::TensorType, het::onnx::tensor_type_field::kShape, Message::Shape},
    {Message::Shape, het::onnx::shape_field::kDim, Message::Dim},
    {Message::Tensor, het::onnx::tensor_field::kExternalData, Message::Entry},
    {Message::Sparse, het::onnx::sparse_field::kValues, Message::Tensor},
};

Message content_of(Message parent, uint32_t tag) {
  for (const MessageField& field : kMessageFields) {
    if (field.parent == parent && field.tag == tag) return field.content;
  }
  return Message::None;
}

constexpr uint32_t kVarint = 0;
constexpr uint32_t kFixed64 = 1;
constexpr uint32_t kBytes = 2;
constexpr uint32_t kFixed32 = 5;
constexpr uint32_t kWireMask = 7;
constexpr uint32_t kWireBits = 3;
constexpr int kMaxDepth = 40;

struct Field {
  Message parent = Message::None;
  uint64_t key = 0;  ///< tag and wire type
  Message content = Message::None;
  uint64_t number = 0;       ///< of a varint
  std::string bytes;         ///< of anything else that is no message
  std::vector<Field> inner;  ///< of a message

  uint32_t tag() const { return static_cast<uint32_t>(key >> kWireBits); }
  uint32_t wire() const { return static_cast<uint32_t>(key & kWireMask); }
};

/// The fields of a message; false when it is none.
bool parse(std::string_view data, Message message, int depth, std::vector<Field>& fields) {
  const char* at = data.data();
  const char* const end = at + data.size();
  try {
    while (at != end) {
      Field field;
      field.parent = message;
      field.key = protozero::decode_varint(&at, end);
      size_t size = 0;
      if (field.wire() == kVarint) {
        field.number = protozero::decode_varint(&at, end);
      } else if (field.wire() == kBytes) {
        size = protozero::decode_varint(&at, end);
      } else if (field.wire() == kFixed64 || field.wire() == kFixed32) {
        size = field.wire() == kFixed64 ? sizeof(uint64_t) : sizeof(uint32_t);
      } else {
        return false;
      }
      if (size > static_cast<size_t>(end - at)) return false;
      const std::string_view bytes(at, size);
      at += size;
      const Message content =
          field.wire() == kBytes ? content_of(message, field.tag()) : Message::None;
      if (content != Message::None && depth < kMaxDepth &&
          parse(bytes, content, depth + 1, field.inner)) {
        field.content = content;
      } else {
        field.inner.clear();
        field.bytes = bytes;
      }
      fields.push_back(std::move(field));
    }
  } catch (const protozero::exception&) {
    return false;
  }
  return true;
}

std::string write(const std::vector<Field>& fields) {
  std::string out;
  for (const Field& field : fields) {
    protozero::add_varint_to_buffer(&out, field.key);
    if (field.wire() == kVarint) {
      protozero::add_varint_to_buffer(&out, field.number);
      continue;
    }
    const std::string bytes = field.content == Message::None ? field.bytes : write(field.inner);
    if (field.wire() == kBytes) protozero::add_varint_to_buffer(&out, bytes.size());
    out += bytes;
  }
  return out;
}

/// A place in the tree: a field and the list that it stands in.
struct Place {
  std::vector<Field>* list = nullptr;
  size_t index = 0;

  Field& field() const { return (*list)[index]; }
};

void collect(std::vector<Field>& fields, std::vector<Place>& places) {
  for (size_t i = 0; i < fields.size(); ++i) {
    places.push_back({&fields, i});
    collect(fields[i].inner, places);
  }
}

size_t below(Random& random, size_t limit) {
  return std::uniform_int_distribution<size_t>(0, limit - 1)(random);
}

uint64_t changed(uint64_t number, Random& random) {
  constexpr int64_t kEdges[] = {0,
                                1,
                                -1,
                                2,
                                -2,
                                3,
                                7,
                                64,
                                65536,
                                int64_t{1} << 31,
                                int64_t{1} << 60,
                                std::numeric_limits<int32_t>::min(),
                                std::numeric_limits<int64_t>::max(),
                                std::numeric_limits<int64_t>::min()};
  constexpr size_t kSmall = 24;
  switch (below(random, 4)) {
    case 0:
      return number + 1;
    case 1:
      return number - 1;
    case 2:
      return below(random, kSmall);
    default:
      return static_cast<uint64_t>(kEdges[below(random, std::size(kEdges))]);
  }
}

/// Other fields of the same kind that `from` holds.
const Field* same_kind(const std::vector<Place>& from, const Field& like, Random& random) {
  std::vector<const Field*> found;
  for (const Place& place : from) {
    const Field& field = place.field();
    if (field.parent == like.parent && field.key == like.key) found.push_back(&field);
  }
  return found.empty() ? nullptr : found[below(random, found.size())];
}

}  // namespace

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace {

void change_leaf(Field& field, Random& random) {
  constexpr size_t kRoom = 16;
  if (field.wire() == kVarint) {
    field.number = changed(field.number, random);
    return;
  }
  const size_t size = field.bytes.size();
  const bool fixed = field.wire() != kBytes;
  field.bytes.resize(fixed ? size : size + kRoom);
  const size_t now =
      LLVMFuzzerMutate(reinterpret_cast<uint8_t*>(field.bytes.data()), size, field.bytes.size());
  field.bytes.resize(fixed ? size : now);
}

void change(const std::vector<Place>& places, Random& random) {
  const Place place = places[below(random, places.size())];
  std::vector<Field>& list = *place.list;
  const auto at = list.begin() + static_cast<ptrdiff_t>(place.index);
  switch (below(random, 8)) {
    case 0:
      list.erase(at);
      return;
    case 1: {
      const Field copy = *at;
      list.insert(at, copy);
      return;
    }
    case 2:
      std::swap(*at, list[below(random, list.size())]);
      return;
    case 3:
    case 4: {
      // A name, number, node ... from elsewhere in the file.
      const Field* other = same_kind(places, *at, random);
      const Field copy = other != nullptr ? *other : *at;
      *at = copy;
      return;
    }
    default: {
      std::vector<Place> leaves;
      for (const Place& p : places) {
        if (p.field().content == Message::None) leaves.push_back(p);
      }
      if (!leaves.empty()) change_leaf(leaves[below(random, leaves.size())].field(), random);
    }
  }
}

size_t store(const std::vector<Field>& fields, uint8_t* data, size_t max_size) {
  const std::string out = write(fields);
  if (out.empty() || out.size() > max_size) return 0;
  std::copy(out.begin(), out.end(), data);
  return out.size();
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  Random random(seed);
  std::vector<Field> fields;
  constexpr size_t kPlainShare = 20;
  if (below(random, kPlainShare) == 0 ||
      !parse({reinterpret_cast<const char*>(data), size}, Message::Model, 0, fields) ||
      fields.empty()) {
    return LLVMFuzzerMutate(data, size, max_size);
  }
  for (size_t changes = 1 + below(random, 3); changes > 0 && !fields.empty(); --changes) {
    std::vector<Place> places;
    collect(fields, places);
    change(places, random);
  }
  const size_t now = store(fields, data, max_size);
  return now > 0 ? now : LLVMFuzzerMutate(data, size, max_size);
}

/// Replaces a field of the first file by one of the same kind of the second, or adds it.
extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t* data, size_t size, const uint8_t* other,
                                            size_t other_size, uint8_t* out, size_t max_size,
                                            unsigned seed) {
  Random random(seed);
  std::vector<Field> fields;
  std::vector<Field> other_fields;
  if (!parse({reinterpret_cast<const char*>(data), size}, Message::Model, 0, fields) ||
      !parse({reinterpret_cast<const char*>(other), other_size}, Message::Model, 0, other_fields)) {
    return 0;
  }
  std::vector<Place> places;
  std::vector<Place> other_places;
  collect(fields, places);
  collect(other_fields, other_places);
  if (places.empty() || other_places.empty()) return 0;
  const Place place = places[below(random, places.size())];
  const Field* graft = same_kind(other_places, place.field(), random);
  if (graft == nullptr) return 0;
  if (below(random, 2) == 0) {
    place.field() = *graft;
  } else {
    place.list->insert(place.list->begin() + static_cast<ptrdiff_t>(place.index), *graft);
  }
  return store(fields, out, max_size);
}
