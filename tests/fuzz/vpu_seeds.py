"""Messages and frames of the VPU's link (devices/vpu/protocol.md), for make_corpus.py."""
import struct
import zlib


def text(value):
    return struct.pack("<H", len(value)) + value.encode()


def texts(values):
    return struct.pack("<I", len(values)) + b"".join(map(text, values))


def place(shared, memory, offset, size, content=b""):
    return struct.pack("<BIQQ", shared, memory, offset, size) + content


def places(*entries):
    return struct.pack("<I", len(entries)) + b"".join(entries)


def port(name, kind, *dims):
    return text(name) + text(kind) + struct.pack("<I", len(dims)) + struct.pack(f"<{len(dims)}q", *dims)


MODEL = b"\1 a model"
HELLO = struct.pack("<HH", 1, 1) + text("host")
WELCOME = struct.pack("<H", 1) + text("myriad") + text("firmware") + struct.pack("<IIQBB", 4, 1, 1 << 20, 1, 1) + texts(["float32", "float16"]) + texts(["Conv", "Relu"])
REFUSAL = struct.pack("<H", 4) + text("no")


def begin(model, graph_tag="", stream="", device_tag="", bound=0, priority=0, everywhere=0):
    return struct.pack("<IQI", model, len(MODEL), zlib.crc32(MODEL)) + text(graph_tag) + text(stream) + text(device_tag) + struct.pack("<BiB", bound, priority, everywhere)


BEGIN = begin(1)
CHUNK = struct.pack("<IQ", 1, 0) + MODEL
NUMBER = struct.pack("<I", 1)
LOADED = struct.pack("<I", 1) + port("x", "float32", 1, 4) + struct.pack("<I", 1) + port("y", "float32", 1, 4) + struct.pack("<II", 1, 0)
MAP = struct.pack("<IQ", 1, 4096)
SUBMIT = struct.pack("<IB", 1, 1) + text("stream") + places(place(1, 1, 64, 16), place(0, 0, 0, 8, bytes(8))) + places(place(1, 1, 128, 16))
COMPLETED = struct.pack("<H", 0) + text("") + struct.pack("<IQQQ", 0, 4, 5, 6) + struct.pack("<I", 1) + text("node") + text("jit") + struct.pack("<Q", 7) + struct.pack("<I", 1) + struct.pack("<I", 4) + bytes(4)
TELEMETRY = struct.pack("<BI", 0, 1) + text("tag") + struct.pack("<iIQQI", 40000, 500, 1, 2, 1)
CHALLENGE = bytes(range(32))
RESPONSE = bytes(range(64))
PROOF = bytes(32)


def message_files():
    for number, message in enumerate((HELLO, WELCOME, REFUSAL, BEGIN, CHUNK, NUMBER, LOADED, MAP, SUBMIT, COMPLETED, TELEMETRY, CHALLENGE, RESPONSE, PROOF)):
        yield bytes([number]) + message


def frames(*entries):
    return b"".join(struct.pack("<BBH", kind, sequence, len(payload)) + payload for kind, sequence, payload in entries)


def host_files():
    """What a device says: one byte whether it greets, then frames."""
    yield b"\1" + frames((13, 1, COMPLETED), (13, 2, COMPLETED), (8, 3, LOADED))
    yield b"\1" + frames((3, 3, REFUSAL), (13, 2, COMPLETED), (13, 1, COMPLETED), (13, 4, COMPLETED))
    yield b"\1" + frames((4, 3, b""), (13, 9, COMPLETED))
    yield b"\0" + frames((2, 0, WELCOME), (13, 1, COMPLETED))
    yield b"\0" + frames((3, 0, REFUSAL))
    yield b"\x80" + frames((18, 0, CHALLENGE), (20, 0, PROOF))


def session_files():
    """What a host sends after its hello."""
    load = ((5, 1, BEGIN), (6, 2, CHUNK), (7, 3, NUMBER), (10, 4, MAP))
    yield frames(*load, (12, 5, SUBMIT), (12, 6, SUBMIT), (14, 5, b""), (15, 7, b""), (9, 8, NUMBER), (11, 9, NUMBER))
    yield frames(*load, (12, 5, SUBMIT), (17, 6, b""), *load, (12, 7, SUBMIT))
    for placed in (begin(1, graph_tag="g"), begin(1, stream="s"), begin(1, device_tag="d", priority=1), begin(1, device_tag="d", bound=1), begin(1, everywhere=1)):
        yield frames((5, 1, placed), *load[1:], (5, 5, begin(2, device_tag="d")), (6, 6, struct.pack("<IQ", 2, 0) + MODEL), (7, 7, struct.pack("<I", 2)), (12, 8, SUBMIT), (15, 9, b""))
    yield frames((19, 0, RESPONSE), (5, 1, BEGIN))
    yield frames((12, 5, SUBMIT))
    yield frames((6, 2, CHUNK))
