"""Drawn objects of the demo scene: each is a premultiplied BGRA picture.

Sprites are drawn OVERSAMPLE times larger than their nominal size and shrunk to
the size that a frame asks for. Alpha above OPAQUE belongs to the object; a
fainter alpha is its shadow on the ground.
"""
import math

import cv2
import numpy as np

OVERSAMPLE = 3
OPAQUE = 110
SHADOW = 80

CLASSES = ["car", "truck", "person", "bicycle", "ball"]
ATTRIBUTES = ["red", "green", "blue", "yellow", "white"]

# Nominal width and height in pixels of a 640-pixel-wide frame.
SIZES = {
    "car": (132, 60),
    "truck": (190, 98),
    "person": (48, 108),
    "bicycle": (100, 66),
    "ball": (46, 46),
}

# Hue (OpenCV's 0..180), saturation and value, with the spread around each.
_PAINT = {
    "red": ((178, 5), (215, 25), (200, 30)),
    "green": ((62, 7), (200, 30), (160, 30)),
    "blue": ((111, 5), (205, 30), (200, 30)),
    "yellow": ((27, 2), (215, 25), (225, 20)),
    "white": ((100, 60), (8, 7), (232, 14)),
}


def paint(attribute, rng):
    """One shade of a colour attribute, as a BGR tuple."""
    channels = [centre + rng.uniform(-spread, spread) for centre, spread in _PAINT[attribute]]
    pixel = np.array([[[channels[0] % 180, min(channels[1], 255), min(channels[2], 255)]]], np.uint8)
    return tuple(int(v) for v in cv2.cvtColor(pixel, cv2.COLOR_HSV2BGR)[0, 0])


def shade(colour, factor):
    return tuple(min(255, int(v * factor)) for v in colour)


class Canvas:
    """Draws antialiased shapes, in nominal pixels, on a premultiplied picture."""

    def __init__(self, size):
        self.width, self.height = size
        shape = (size[1] * OVERSAMPLE, size[0] * OVERSAMPLE)
        self.colour = np.zeros(shape + (3,), np.uint8)
        self.alpha = np.zeros(shape, np.uint8)

    @staticmethod
    def _points(points):
        return np.round(np.array(points, np.float64) * OVERSAMPLE).astype(np.int32)

    def polygon(self, points, colour):
        corners = [self._points(points)]
        cv2.fillPoly(self.colour, corners, colour, cv2.LINE_AA)
        cv2.fillPoly(self.alpha, corners, 255, cv2.LINE_AA)

    def box(self, left, top, right, bottom, colour):
        self.polygon([(left, top), (right, top), (right, bottom), (left, bottom)], colour)

    def ellipse(self, centre, radii, colour, start=0, end=360, thickness=-1):
        middle, axes = (tuple(int(v) for v in self._points(p)) for p in (centre, radii))
        width = thickness if thickness < 0 else max(1, round(thickness * OVERSAMPLE))
        cv2.ellipse(self.colour, middle, axes, 0, start, end, colour, width, cv2.LINE_AA)
        cv2.ellipse(self.alpha, middle, axes, 0, start, end, 255, width, cv2.LINE_AA)

    def disc(self, centre, radius, colour):
        self.ellipse(centre, (radius, radius), colour)

    def stroke(self, points, colour, thickness):
        path = [self._points(points)]
        width = max(1, round(thickness * OVERSAMPLE))
        cv2.polylines(self.colour, path, False, colour, width, cv2.LINE_AA)
        cv2.polylines(self.alpha, path, False, 255, width, cv2.LINE_AA)

    def sprite(self, shadow=True):
        """BGRA, with the shadow under the object where asked for."""
        if shadow:
            ground = np.zeros_like(self.alpha)
            height, width = ground.shape
            cv2.ellipse(ground, (width // 2, int(height * 0.95)), (int(width * 0.46), int(height * 0.045)),
                        0, 0, 360, SHADOW, -1)
            ground = cv2.blur(ground, (13, 13))
            self.alpha = np.maximum(self.alpha, ground)
        return np.dstack([self.colour, self.alpha])


def _wheel(canvas, centre, radius, hub):
    canvas.disc(centre, radius, (28, 28, 30))
    canvas.disc(centre, radius * 0.5, hub)
    canvas.disc(centre, radius * 0.18, (60, 60, 60))


def draw_car(colour, rng, _phase):
    canvas = Canvas(SIZES["car"])
    roof = rng.uniform(4, 9)
    back, front = rng.uniform(22, 32), rng.uniform(80, 90)
    glass = shade((150, 130, 110), rng.uniform(0.5, 0.9))
    canvas.polygon([(4, 30), (back - 6, 28), (back + 8, roof), (front - 10, roof), (front + 12, 28),
                    (122, 32), (129, 40), (129, 50), (3, 50)], colour)
    canvas.polygon([(back + 1, 27), (back + 11, roof + 4), (54, roof + 4), (54, 27)], glass)
    canvas.polygon([(58, 27), (58, roof + 4), (front - 12, roof + 4), (front + 5, 27)], glass)
    canvas.box(3, 44, 129, 50, shade(colour, 0.6))
    canvas.stroke([(56, 30), (56, 44)], shade(colour, 0.6), 1)
    canvas.box(122, 34, 129, 39, (190, 245, 250))
    canvas.box(3, 33, 8, 39, (30, 30, 170))
    hub = shade((200, 200, 200), rng.uniform(0.6, 1.0))
    _wheel(canvas, (30, 48), 10.5, hub)
    _wheel(canvas, (102, 48), 10.5, hub)
    return canvas.sprite()


def draw_truck(colour, rng, _phase):
    canvas = Canvas(SIZES["truck"])
    top = rng.uniform(3, 10)
    canvas.box(4, 78, 184, 86, (45, 45, 48))
    canvas.box(3, top, 132, 80, colour)
    for x in np.arange(14, 130, rng.uniform(12, 26)):
        canvas.stroke([(x, top + 3), (x, 77)], shade(colour, 0.75), 1.5)
    canvas.box(3, 70, 132, 80, shade(colour, 0.6))
    cab = shade(colour, 0.85)
    canvas.polygon([(138, 24), (168, 24), (180, 50), (187, 54), (187, 84), (138, 84)], cab)
    canvas.polygon([(150, 30), (166, 30), (175, 50), (150, 50)], shade((150, 130, 110), rng.uniform(0.5, 0.9)))
    canvas.box(180, 64, 187, 71, (190, 245, 250))
    hub = shade((190, 190, 190), rng.uniform(0.6, 1.0))
    for x in (26, 50, 162):
        _wheel(canvas, (x, 84), 11, hub)
    return canvas.sprite()


def draw_person(colour, rng, phase):
    canvas = Canvas(SIZES["person"])
    swing = math.sin(phase * 2 * math.pi)
    skin = [(150, 180, 225), (110, 150, 205), (70, 105, 160), (45, 65, 100)][rng.integers(4)]
    trousers = [(60, 55, 50), (45, 50, 60), (85, 85, 88), (40, 40, 42)][rng.integers(4)]
    hair = [(30, 35, 45), (25, 25, 28), (50, 80, 110), (90, 90, 95)][rng.integers(4)]
    for side in (-1, 1):
        foot = 24 + side * swing * 11
        canvas.stroke([(24, 62), (24 + side * swing * 7, 82), (foot, 101)], trousers, 9)
        canvas.stroke([(foot - 2, 104), (foot + 6, 104)], (25, 25, 28), 4)
    canvas.stroke([(24, 32), (24 - swing * 11, 46), (24 - swing * 13 + 3, 60)], shade(colour, 0.7), 7)
    canvas.polygon([(13, 28), (35, 28), (36, 40), (33, 66), (15, 66), (12, 40)], colour)
    canvas.stroke([(24, 33), (24 + swing * 11, 47), (24 + swing * 13 + 3, 60)], shade(colour, 0.85), 7)
    canvas.disc((24 + swing * 13 + 3, 62), 3.5, skin)
    canvas.box(21, 20, 27, 29, skin)
    canvas.ellipse((24, 14), (8.5, 10.5), skin)
    canvas.ellipse((23, 12), (9.5, 10), hair, 180, 340)
    return canvas.sprite()


def draw_bicycle(colour, rng, _phase):
    canvas = Canvas(SIZES["bicycle"])
    rear, front, crank = (22, 43), (78, 43), (45, 44)
    seat, head = (38, 18), (68, 16)
    for hub in (rear, front):
        canvas.ellipse(hub, (19, 19), (30, 30, 32), thickness=3.5)
        for angle in range(0, 180, 45):
            dx, dy = 18 * math.cos(math.radians(angle)), 18 * math.sin(math.radians(angle))
            canvas.stroke([(hub[0] - dx, hub[1] - dy), (hub[0] + dx, hub[1] + dy)], (150, 150, 150), 0.7)
    canvas.polygon([(41, 22), (65, 21), (47, 39)], shade(colour, 0.85))
    canvas.stroke([rear, crank, seat, rear], colour, 4.5)
    canvas.stroke([seat, head, crank], colour, 5)
    canvas.stroke([head, front], colour, 4.5)
    canvas.ellipse(rear, (22, 22), colour, 200, 300, 3)
    canvas.stroke([head, (66, 7), (77, 6)], (50, 50, 55), 3.5)
    canvas.stroke([seat, (36, 12)], (60, 60, 60), 3)
    canvas.stroke([(28, 11), (43, 11)], (35, 35, 50) if rng.integers(2) else (40, 60, 90), 5)
    canvas.disc(crank, 4.5, (80, 80, 82))
    return canvas.sprite(shadow=False)


def draw_ball(colour, rng, phase):
    canvas = Canvas(SIZES["ball"])
    canvas.disc((23, 23), 21, shade(colour, 0.75))
    canvas.disc((22, 21.5), 18.5, colour)
    turn = phase * 2 * math.pi
    for arm in range(3):
        angle = turn + arm * 2 * math.pi / 3
        dx, dy = math.cos(angle), math.sin(angle)
        canvas.stroke([(23 - 3 * dx, 23 - 3 * dy), (23 + 10 * dx - 4 * dy, 23 + 10 * dy + 4 * dx),
                       (23 + 20 * dx, 23 + 20 * dy)], (38, 36, 40), 2.5)
    canvas.disc((23, 23), 5, (38, 36, 40))
    canvas.disc((16, 13), 3.5, shade(colour, 1.5))
    return canvas.sprite(shadow=False)


_DRAW = {
    "car": (draw_car, 1),
    "truck": (draw_truck, 1),
    "person": (draw_person, 8),
    "bicycle": (draw_bicycle, 1),
    "ball": (draw_ball, 12),
}


def poses(label, attribute, rng):
    """Every pose of one object: a list of BGRA pictures that all look right."""
    draw, count = _DRAW[label]
    colour = paint(attribute, rng)
    seed = int(rng.integers(1 << 31))
    return [draw(colour, np.random.default_rng(seed), step / count) for step in range(count)]
