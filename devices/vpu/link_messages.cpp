#include "devices/vpu/link_messages.h"

#include <string_view>

#include "devices/vpu/link_bytes.h"

namespace het::vpu {
namespace {

/// What was read, unless bytes were missing or left.
template <class T>
Result<T> finished(const ByteReader& reader, T message, std::string_view name) {
  if (reader.complete()) return message;
  return error(StatusCode::ParseError, "the bytes of a {} message do not fit together", name);
}

Failure out_of_range(std::string_view what, uint64_t value) {
  return error(StatusCode::ParseError, "{} {} is out of range", what, value);
}

void write_code(ByteWriter& writer, StatusCode code) {
  writer.number(static_cast<uint16_t>(code));
}

/// Numbers of later versions are failures, too.
StatusCode read_code(ByteReader& reader) {
  const auto number = reader.number<uint16_t>();
  return number <= static_cast<uint16_t>(StatusCode::Internal) ? static_cast<StatusCode>(number)
                                                               : StatusCode::Internal;
}

void write_ports(ByteWriter& writer, const std::vector<Loaded::Port>& ports) {
  writer.number(static_cast<uint32_t>(ports.size()));
  for (const Loaded::Port& port : ports) {
    writer.text(port.name);
    writer.text(to_string(port.desc.type));
    writer.number(static_cast<uint32_t>(port.desc.shape.size()));
    for (const int64_t dim : port.desc.shape) writer.number(dim);
  }
}

Status read_ports(ByteReader& reader, std::vector<Loaded::Port>& ports) {
  const uint32_t count = reader.count(kMaxPorts, 8);
  for (uint32_t i = 0; i < count; ++i) {
    Loaded::Port port;
    port.name = reader.text();
    HET_ASSIGN(port.desc.type, parse_element_type(reader.text()));
    const uint32_t rank = reader.count(kMaxRank, sizeof(int64_t));
    for (uint32_t axis = 0; axis < rank; ++axis) {
      port.desc.shape.push_back(reader.number<int64_t>());
      if (port.desc.shape.back() < 0) return out_of_range("dimension", axis);
    }
    ports.push_back(std::move(port));
  }
  return {};
}

template <size_t N>
void read_array(ByteReader& reader, std::array<std::byte, N>& array) {
  const ByteView bytes = reader.raw(N);
  std::copy(bytes.begin(), bytes.end(), array.begin());
}

constexpr size_t kPlaceBytes = 1 + 4 + 8 + 8;

void write_places(ByteWriter& writer, const std::vector<TensorPlace>& places, bool with_content) {
  writer.number(static_cast<uint32_t>(places.size()));
  for (const TensorPlace& place : places) {
    writer.number(static_cast<uint8_t>(place.is_shared));
    writer.number(place.memory);
    writer.number(place.offset);
    writer.number(place.size);
    if (with_content && !place.is_shared) writer.raw(place.content);
  }
}

Status read_places(ByteReader& reader, std::vector<TensorPlace>& places, bool with_content) {
  const uint32_t count = reader.count(kMaxPorts, kPlaceBytes);
  for (uint32_t i = 0; i < count; ++i) {
    TensorPlace place;
    const auto is_shared = reader.number<uint8_t>();
    place.is_shared = is_shared != 0;
    place.memory = reader.number<uint32_t>();
    place.offset = reader.number<uint64_t>();
    place.size = reader.number<uint64_t>();
    if (is_shared > 1) return out_of_range("place", is_shared);
    if (place.size > kMaxTensorBytes || place.offset > kMaxTensorBytes) {
      return out_of_range("size or offset", std::max(place.size, place.offset));
    }
    if (with_content && !place.is_shared) place.content = reader.raw(place.size);
    places.push_back(place);
  }
  return {};
}

}  // namespace

Bytes Hello::encode() const {
  ByteWriter writer;
  writer.number(first_version);
  writer.number(last_version);
  writer.text(host);
  return writer.take();
}

Result<Hello> Hello::decode(ByteView bytes) {
  ByteReader reader(bytes);
  Hello hello;
  hello.first_version = reader.number<uint16_t>();
  hello.last_version = reader.number<uint16_t>();
  hello.host = reader.text();
  return finished(reader, std::move(hello), "hello");
}

Bytes Welcome::encode() const {
  ByteWriter writer;
  writer.number(version);
  writer.text(profile);
  writer.text(firmware);
  writer.number(credits);
  writer.number(units);
  writer.number(memory_bytes);
  writer.number(static_cast<uint8_t>(takes_shared_memory));
  writer.number(static_cast<uint8_t>(counts_nodes));
  writer.number(static_cast<uint32_t>(types.size()));
  for (const ElementType type : types) writer.text(to_string(type));
  writer.number(static_cast<uint32_t>(operators.size()));
  for (const std::string& name : operators) writer.text(name);
  return writer.take();
}

Result<Welcome> Welcome::decode(ByteView bytes) {
  ByteReader reader(bytes);
  Welcome welcome;
  welcome.version = reader.number<uint16_t>();
  welcome.profile = reader.text();
  welcome.firmware = reader.text();
  welcome.credits = reader.number<uint32_t>();
  welcome.units = reader.number<uint32_t>();
  welcome.memory_bytes = reader.number<uint64_t>();
  welcome.takes_shared_memory = reader.number<uint8_t>() != 0;
  welcome.counts_nodes = reader.number<uint8_t>() != 0;
  const uint32_t types = reader.count(64, 2);
  for (uint32_t i = 0; i < types; ++i) {
    HET_ASSIGN(welcome.types.emplace_back(), parse_element_type(reader.text()));
  }
  const uint32_t operators = reader.count(kMaxOperators, 2);
  for (uint32_t i = 0; i < operators; ++i) welcome.operators.push_back(reader.text());
  if (welcome.credits == 0 || welcome.credits > 4096) {
    return out_of_range("number of credits", welcome.credits);
  }
  if (welcome.units == 0 || welcome.units > kMaxUnits) {
    return out_of_range("number of units", welcome.units);
  }
  return finished(reader, std::move(welcome), "welcome");
}

Bytes Refusal::encode() const {
  ByteWriter writer;
  write_code(writer, code);
  writer.text(text);
  return writer.take();
}

Result<Refusal> Refusal::decode(ByteView bytes) {
  ByteReader reader(bytes);
  Refusal refusal;
  refusal.code = read_code(reader);
  refusal.text = reader.text();
  if (refusal.code == StatusCode::Ok) return out_of_range("code", 0);
  return finished(reader, std::move(refusal), "refusal");
}

Bytes LoadBegin::encode() const {
  ByteWriter writer;
  writer.number(model);
  writer.number(size);
  writer.number(crc);
  writer.text(placement.graph_tag);
  writer.text(placement.stream_id);
  writer.text(placement.device_tag);
  writer.number(static_cast<uint8_t>(placement.is_bound));
  writer.number(placement.priority);
  writer.number(static_cast<uint8_t>(placement.on_all_units));
  return writer.take();
}

Result<LoadBegin> LoadBegin::decode(ByteView bytes) {
  ByteReader reader(bytes);
  LoadBegin begin;
  begin.model = reader.number<uint32_t>();
  begin.size = reader.number<uint64_t>();
  begin.crc = reader.number<uint32_t>();
  begin.placement.graph_tag = reader.text();
  begin.placement.stream_id = reader.text();
  begin.placement.device_tag = reader.text();
  begin.placement.is_bound = reader.number<uint8_t>() != 0;
  begin.placement.priority = reader.number<int32_t>();
  begin.placement.on_all_units = reader.number<uint8_t>() != 0;
  if (begin.size == 0 || begin.size > kMaxModelBytes) return out_of_range("size", begin.size);
  return finished(reader, std::move(begin), "load begin");
}

Bytes LoadChunk::encode() const {
  ByteWriter writer;
  writer.number(model);
  writer.number(offset);
  writer.raw(content);
  return writer.take();
}

Result<LoadChunk> LoadChunk::decode(ByteView bytes) {
  ByteReader reader(bytes);
  LoadChunk chunk;
  chunk.model = reader.number<uint32_t>();
  chunk.offset = reader.number<uint64_t>();
  chunk.content = reader.rest();
  if (chunk.content.size() > kChunkBytes) return out_of_range("size", chunk.content.size());
  return finished(reader, chunk, "load chunk");
}

Bytes Number::encode() const {
  ByteWriter writer;
  writer.number(number);
  return writer.take();
}

Result<Number> Number::decode(ByteView bytes) {
  ByteReader reader(bytes);
  Number message;
  message.number = reader.number<uint32_t>();
  return finished(reader, message, "number");
}

Bytes Loaded::encode() const {
  ByteWriter writer;
  write_ports(writer, inputs);
  write_ports(writer, outputs);
  writer.number(static_cast<uint32_t>(units.size()));
  for (const uint32_t unit : units) writer.number(unit);
  return writer.take();
}

Result<Loaded> Loaded::decode(ByteView bytes) {
  ByteReader reader(bytes);
  Loaded loaded;
  HET_TRY(read_ports(reader, loaded.inputs));
  HET_TRY(read_ports(reader, loaded.outputs));
  const uint32_t units = reader.count(kMaxUnits, sizeof(uint32_t));
  for (uint32_t i = 0; i < units; ++i) loaded.units.push_back(reader.number<uint32_t>());
  return finished(reader, std::move(loaded), "loaded");
}

Bytes MapMemory::encode() const {
  ByteWriter writer;
  writer.number(memory);
  writer.number(size);
  return writer.take();
}

Result<MapMemory> MapMemory::decode(ByteView bytes) {
  ByteReader reader(bytes);
  MapMemory map;
  map.memory = reader.number<uint32_t>();
  map.size = reader.number<uint64_t>();
  if (map.size == 0 || map.size > kMaxTensorBytes) return out_of_range("size", map.size);
  return finished(reader, map, "map memory");
}

Bytes Submit::encode() const {
  ByteWriter writer;
  writer.number(model);
  writer.number(static_cast<uint8_t>(wants_stages));
  writer.text(stream);
  write_places(writer, inputs, true);
  write_places(writer, outputs, false);
  return writer.take();
}

Result<Submit> Submit::decode(ByteView bytes) {
  ByteReader reader(bytes);
  Submit submit;
  submit.model = reader.number<uint32_t>();
  submit.wants_stages = reader.number<uint8_t>() != 0;
  submit.stream = reader.text();
  HET_TRY(read_places(reader, submit.inputs, true));
  HET_TRY(read_places(reader, submit.outputs, false));
  return finished(reader, std::move(submit), "submit");
}

Bytes Completed::encode() const {
  ByteWriter writer;
  write_code(writer, code);
  writer.text(text);
  writer.number(unit);
  writer.number(received_ns);
  writer.number(waited_ns);
  writer.number(executed_ns);
  writer.number(static_cast<uint32_t>(stages.size()));
  for (const Stage& stage : stages) {
    writer.text(stage.name);
    writer.text(stage.kind);
    writer.number(stage.ns);
  }
  writer.number(static_cast<uint32_t>(outputs.size()));
  for (const ByteView output : outputs) writer.blob(output);
  return writer.take();
}

Result<Completed> Completed::decode(ByteView bytes) {
  ByteReader reader(bytes);
  Completed completed;
  completed.code = read_code(reader);
  completed.text = reader.text();
  completed.unit = reader.number<uint32_t>();
  completed.received_ns = reader.number<uint64_t>();
  completed.waited_ns = reader.number<uint64_t>();
  completed.executed_ns = reader.number<uint64_t>();
  const uint32_t stages = reader.count(kMaxStages, 12);
  for (uint32_t i = 0; i < stages; ++i) {
    Stage stage;
    stage.name = reader.text();
    stage.kind = reader.text();
    stage.ns = reader.number<uint64_t>();
    completed.stages.push_back(std::move(stage));
  }
  const uint32_t outputs = reader.count(kMaxPorts, 4);
  for (uint32_t i = 0; i < outputs; ++i) completed.outputs.push_back(reader.blob());
  return finished(reader, std::move(completed), "completed");
}

Bytes Telemetry::encode() const {
  ByteWriter writer;
  writer.number(static_cast<uint8_t>(is_throttled));
  writer.number(static_cast<uint32_t>(units.size()));
  for (const Unit& unit : units) {
    writer.text(unit.tag);
    writer.number(unit.millidegrees);
    writer.number(unit.utilisation_permille);
    writer.number(unit.memory_used);
    writer.number(unit.executions);
    writer.number(unit.models);
  }
  return writer.take();
}

Result<Telemetry> Telemetry::decode(ByteView bytes) {
  ByteReader reader(bytes);
  Telemetry telemetry;
  telemetry.is_throttled = reader.number<uint8_t>() != 0;
  const uint32_t units = reader.count(kMaxUnits, 30);
  for (uint32_t i = 0; i < units; ++i) {
    Unit& unit = telemetry.units.emplace_back();
    unit.tag = reader.text();
    unit.millidegrees = reader.number<int32_t>();
    unit.utilisation_permille = reader.number<uint32_t>();
    unit.memory_used = reader.number<uint64_t>();
    unit.executions = reader.number<uint64_t>();
    unit.models = reader.number<uint32_t>();
  }
  return finished(reader, std::move(telemetry), "telemetry");
}

Bytes Challenge::encode() const {
  return {nonce.begin(), nonce.end()};
}

Result<Challenge> Challenge::decode(ByteView bytes) {
  ByteReader reader(bytes);
  Challenge challenge;
  read_array(reader, challenge.nonce);
  return finished(reader, challenge, "challenge");
}

Bytes ChallengeResponse::encode() const {
  ByteWriter writer;
  writer.raw(nonce);
  writer.raw(mac);
  return writer.take();
}

Result<ChallengeResponse> ChallengeResponse::decode(ByteView bytes) {
  ByteReader reader(bytes);
  ChallengeResponse response;
  read_array(reader, response.nonce);
  read_array(reader, response.mac);
  return finished(reader, response, "challenge response");
}

Bytes Proof::encode() const {
  return {mac.begin(), mac.end()};
}

Result<Proof> Proof::decode(ByteView bytes) {
  ByteReader reader(bytes);
  Proof proof;
  read_array(reader, proof.mac);
  return finished(reader, proof, "proof");
}

}  // namespace het::vpu
