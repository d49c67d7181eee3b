#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "devices/vpu/link_security.h"
#include "inference/base/status.h"
#include "inference/tensors/element_type.h"
#include "inference/tensors/shape.h"
#include "inference/tensors/tensor.h"

/// What frames carry (protocol.md). Each has encode() and a static decode(), which takes any bytes:
/// sizes and counts are checked against limits before anything is allocated, and bytes that are
/// missing or left over are a ParseError.
namespace het::vpu {

inline constexpr uint32_t kMaxOperators = 4096;
inline constexpr uint32_t kMaxPorts = 4096;
inline constexpr uint32_t kMaxStages = 65536;
inline constexpr uint32_t kMaxRank = 32;
inline constexpr uint32_t kMaxUnits = 4096;
/// Of one tensor and of one shared memory, in bytes.
inline constexpr uint64_t kMaxTensorBytes = uint64_t{4} << 30;
inline constexpr uint64_t kMaxModelBytes = uint64_t{2} << 30;
inline constexpr uint32_t kChunkBytes = 1u << 20;

using Bytes = std::vector<std::byte>;
using ByteView = std::span<const std::byte>;

struct Hello {
  uint16_t first_version = 0;
  uint16_t last_version = 0;
  std::string host;  ///< who asks, for logs
  Bytes encode() const;
  static Result<Hello> decode(ByteView bytes);
};

/// What the device is and takes.
struct Welcome {
  uint16_t version = 0;
  std::string profile;        ///< "myriad", "hddl", "fpga" or one's own
  std::string firmware;       ///< name and version of the device program
  uint32_t credits = 0;       ///< requests that may be unanswered at a time
  uint32_t units = 0;         ///< that execute at the same time
  uint64_t memory_bytes = 0;  ///< of one unit
  bool takes_shared_memory = false;
  bool counts_nodes = false;           ///< times of single nodes, not only of executions
  std::vector<ElementType> types;      ///< of tensors
  std::vector<std::string> operators;  ///< "Conv", "het.DetectionOutput"
  Bytes encode() const;
  static Result<Welcome> decode(ByteView bytes);
};

struct Refusal {
  StatusCode code = StatusCode::Internal;
  std::string text;
  Bytes encode() const;
  static Result<Refusal> decode(ByteView bytes);
};

/// On which units a model shall be, as the properties HDDL_... say. At most one of the tags, the
/// stream and on_all_units is given; without any the device chooses.
struct Placement {
  std::string graph_tag;   ///< on as many units as the device's configuration says for it
  std::string stream_id;   ///< on the one unit of this stream
  std::string device_tag;  ///< on the unit that has this tag, or that gets it now
  bool is_bound = false;   ///< with a device tag: executed there only, not where the same model is
  int32_t priority = 0;    ///< of that unit among those, the largest first
  bool on_all_units = false;
};

struct LoadBegin {
  uint32_t model = 0;
  uint64_t size = 0;
  uint32_t crc = 0;  ///< of the whole file
  Placement placement;
  Bytes encode() const;
  static Result<LoadBegin> decode(ByteView bytes);
};

struct LoadChunk {
  uint32_t model = 0;
  uint64_t offset = 0;
  ByteView content;  ///< of the decoded bytes
  Bytes encode() const;
  static Result<LoadChunk> decode(ByteView bytes);
};

/// LoadEnd, Unload and UnmapMemory: the number of a model or memory.
struct Number {
  uint32_t number = 0;
  Bytes encode() const;
  static Result<Number> decode(ByteView bytes);
};

struct Loaded {
  struct Port {
    std::string name;
    TensorDesc desc;
  };
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  std::vector<uint32_t> units;  ///< that have it
  Bytes encode() const;
  static Result<Loaded> decode(ByteView bytes);
};

struct MapMemory {
  uint32_t memory = 0;
  uint64_t size = 0;
  Bytes encode() const;
  static Result<MapMemory> decode(ByteView bytes);
};

/// Where the bytes of a tensor are.
struct TensorPlace {
  bool is_shared = false;
  uint32_t memory = 0;  ///< of shared memory ...
  uint64_t offset = 0;
  uint64_t size = 0;
  ByteView content;  ///< of an input in the frame
};

struct Submit {
  uint32_t model = 0;
  bool wants_stages = false;
  std::string stream;  ///< requests of different names take turns
  std::vector<TensorPlace> inputs;
  std::vector<TensorPlace> outputs;
  Bytes encode() const;
  static Result<Submit> decode(ByteView bytes);
};

struct Stage {
  std::string name;  ///< of a node
  std::string kind;  ///< how it was executed
  uint64_t ns = 0;
};

/// Ends a submitted request and gives its credit back.
struct Completed {
  StatusCode code = StatusCode::Ok;
  std::string text;
  uint32_t unit = 0;         ///< that executed it
  uint64_t received_ns = 0;  ///< how long its inputs took to come in
  uint64_t waited_ns = 0;    ///< then, for a unit
  uint64_t executed_ns = 0;
  std::vector<Stage> stages;
  std::vector<ByteView> outputs;  ///< those that are not in shared memory
  Bytes encode() const;
  static Result<Completed> decode(ByteView bytes);
};

struct Telemetry {
  struct Unit {
    std::string tag;  ///< that a host gave it
    int32_t millidegrees = 0;
    uint32_t utilisation_permille = 0;  ///< of the last second or two
    uint64_t memory_used = 0;
    uint64_t executions = 0;
    uint32_t models = 0;
  };
  bool is_throttled = false;
  std::vector<Unit> units;
  Bytes encode() const;
  static Result<Telemetry> decode(ByteView bytes);
};

/// Of a link that asks for a key: what the device wants to see answered.
struct Challenge {
  Nonce nonce{};
  Bytes encode() const;
  static Result<Challenge> decode(ByteView bytes);
};

/// The host's answer.
struct ChallengeResponse {
  Nonce nonce{};
  Mac mac{};
  Bytes encode() const;
  static Result<ChallengeResponse> decode(ByteView bytes);
};

/// The device has the key, too.
struct Proof {
  Mac mac{};
  Bytes encode() const;
  static Result<Proof> decode(ByteView bytes);
};

}  // namespace het::vpu
