"""Real pictures of the sizes that a model wants, so that nobody has to scale them, and one that has to be scaled."""

from pathlib import Path

NAMES = ("dog_bike_car.jpg", "people1.jpeg", "ji_city_0.jpg")
SCALED = "pedestrians.jpg"
FOLDER = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "images"


def open_picture(name, size=None):
    """RGB, stretched to a size (width, height)."""
    from PIL import Image

    picture = Image.open(FOLDER / name).convert("RGB")
    return picture.resize(size, Image.Resampling.BICUBIC) if size else picture


def prepared(sizes, folder, mode="RGB"):
    """A picture of each size (width, height), and the one to be scaled, in the colours of a mode. Returns the files."""
    files = []
    for number, (name, size) in enumerate(zip((*NAMES, SCALED), (*sizes, None))):
        files.append(folder / f"picture_{number}.png")
        open_picture(name, size).convert(mode).save(files[-1])
    return files


def pixels(file):
    """[height, width, 3], RGB."""
    import numpy as np
    from PIL import Image

    return np.array(Image.open(file).convert("RGB"))
