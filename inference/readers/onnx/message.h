#pragma once

#include <cstdint>
#include <exception>
#include <protozero/pbf_reader.hpp>
#include <string_view>

namespace het::onnx {

/// Thrown like protozero's own exceptions when a field has not the wire type that onnx.proto says.
class WrongWireType : public std::exception {
 public:
  const char* what() const noexcept override { return "a field has the wrong type"; }
};

/// One protobuf message, field by field. Checks wire types first, which protozero only asserts.
/// Throws protozero::exception or WrongWireType; whoever makes one catches them.
class Message {
 public:
  explicit Message(std::string_view bytes) : reader_(bytes.data(), bytes.size()) {}

  bool next() { return reader_.next(); }
  uint32_t field() const { return reader_.tag(); }
  void skip() { reader_.skip(); }

  int64_t integer() {
    expect(protozero::pbf_wire_type::varint);
    return reader_.get_int64();
  }
  float number() {
    expect(protozero::pbf_wire_type::fixed32);
    return reader_.get_float();
  }
  std::string_view bytes() {
    expect(protozero::pbf_wire_type::length_delimited);
    const protozero::data_view view = reader_.get_view();
    return {view.data(), view.size()};
  }

  /// Calls `use` for each value of a repeated field, packed or not.
  template <class Use>
  void integers(const Use& use) {
    if (!packed()) return use(integer());
    for (const int64_t value : reader_.get_packed_int64()) use(value);
  }
  template <class Use>
  void unsigned_integers(const Use& use) {
    if (!packed()) return use(static_cast<uint64_t>(integer()));
    for (const uint64_t value : reader_.get_packed_uint64()) use(value);
  }
  template <class Use>
  void floats(const Use& use) {
    if (!packed()) return use(number());
    for (const float value : reader_.get_packed_float()) use(value);
  }
  template <class Use>
  void doubles(const Use& use) {
    if (packed()) {
      for (const double value : reader_.get_packed_double()) use(value);
      return;
    }
    expect(protozero::pbf_wire_type::fixed64);
    use(reader_.get_double());
  }

 private:
  bool packed() const { return reader_.wire_type() == protozero::pbf_wire_type::length_delimited; }
  void expect(protozero::pbf_wire_type type) const {
    if (reader_.wire_type() != type) throw WrongWireType();
  }

  protozero::pbf_reader reader_;
};

}  // namespace het::onnx
