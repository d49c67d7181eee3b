"""The still parts of the demo scene: a textured street, noise and light."""
import cv2
import numpy as np


def _cloud(rng, height, width, cells, amplitude):
    """Smooth noise around zero with about `cells` blobs across the width."""
    rows = max(2, round(cells * height / width))
    coarse = rng.normal(0, amplitude, (rows, cells)).astype(np.float32)
    return cv2.resize(coarse, (width, height), interpolation=cv2.INTER_CUBIC)


def _texture(rng, height, width, colour, strength):
    grain = sum(_cloud(rng, height, width, cells, strength / (step + 1))
                for step, cells in enumerate((5, 18, 60, 160)))
    return np.array(colour, np.float32) + grain[..., None]


def _muted(rng, low, high, tint=12):
    grey = rng.uniform(low, high)
    return [float(grey + rng.uniform(-tint, tint)) for _ in range(3)]


def street(rng, height, width):
    """A street seen from the side: sky, houses, trees, pavement and road."""
    horizon = int(height * rng.uniform(0.30, 0.40))
    kerb = int(height * rng.uniform(0.46, 0.56))
    picture = _texture(rng, height, width, _muted(rng, 130, 190), 5)
    sky = np.linspace(rng.uniform(1.0, 1.2), rng.uniform(0.8, 1.0), horizon, dtype=np.float32)
    picture[:horizon] *= sky[:, None, None]
    picture[horizon:kerb] = _texture(rng, kerb - horizon, width, _muted(rng, 90, 160), 14)
    picture[kerb:] = _texture(rng, height - kerb, width, _muted(rng, 60, 110, 6), 9)

    x = -int(rng.integers(0, 60))
    while x < width:
        span = int(rng.integers(50, 150) * width / 640)
        top = int(horizon * rng.uniform(0.1, 0.8))
        if rng.random() < 0.75:
            wall = _muted(rng, 70, 180, 20)
            cv2.rectangle(picture, (x, top), (x + span, horizon + 3), wall, -1)
            glass = [v * rng.uniform(0.4, 0.7) for v in wall]
            pitch = int(rng.integers(16, 30))
            for wy in range(top + 8, horizon - 12, pitch):
                for wx in range(x + 8, x + span - 10, pitch):
                    cv2.rectangle(picture, (wx, wy), (wx + pitch // 2, wy + pitch // 2), glass, -1)
        else:
            leaf = [rng.uniform(35, 60), rng.uniform(75, 115), rng.uniform(45, 85)]
            middle = x + span // 2
            cv2.rectangle(picture, (middle - 4, top), (middle + 4, horizon + 6), (45, 60, 80), -1)
            for _ in range(9):
                centre = (middle + int(rng.integers(-span // 3, span // 3 + 1)), top + int(rng.integers(-8, 36)))
                cv2.circle(picture, centre, int(rng.integers(10, 24)), [v * rng.uniform(0.8, 1.2) for v in leaf], -1)
        x += span + int(rng.integers(0, 40))

    for _ in range(int(rng.integers(2, 8))):  # boards and bins: coloured, yet none of the objects
        bx, by = int(rng.integers(0, width)), int(rng.integers(horizon // 2, kerb))
        side = rng.integers(8, 30, 2)
        cv2.rectangle(picture, (bx, by), (bx + int(side[0]), by + int(side[1])),
                      [float(v) for v in rng.uniform(20, 220, 3)], -1)

    cv2.line(picture, (0, kerb), (width, kerb), _muted(rng, 150, 190), 3)
    lane = int(kerb + (height - kerb) * rng.uniform(0.35, 0.6))
    dash = int(rng.integers(30, 60))
    for x in range(int(rng.integers(-40, 0)), width, dash * 2):
        cv2.rectangle(picture, (x, lane), (x + dash, lane + 4), (185, 190, 190), -1)
    picture += rng.normal(0, 5, (height, width, 1)).astype(np.float32)
    return np.clip(picture, 0, 255).astype(np.uint8)


def light_field(rng, height, width):
    """Uneven light: a gain for every pixel and channel, wider than the frame."""
    field = 1 + _cloud(rng, height, width * 2, 8, rng.uniform(0.02, 0.12))
    tint = 1 + rng.uniform(-0.05, 0.05, 3)
    return np.ascontiguousarray((np.clip(field, 0.6, 1.3)[..., None] * tint).astype(np.float32))


def noise_field(rng, height, width):
    """Sensor noise that frames cut at ever new places."""
    sigma = rng.uniform(1, 6)
    grain = rng.standard_normal((height + 64, width + 64, 3), np.float32) * sigma
    return np.clip(np.round(grain), -100, 100).astype(np.int8)
