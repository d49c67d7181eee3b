"""anomalib: its models with what its exporter puts around them, normalisation before and scores by thresholds behind."""

from catalogue import Input, add

# Name of the class -> arguments, side of the picture. Large backbones are replaced by small ones; Cfa, Csflow, Draem and
# UniNet cannot be made without weights from the network.
MODELS = {
    "Padim": ({"pre_trained": False}, 128),
    "Patchcore": ({"pre_trained": False, "backbone": "resnet18", "coreset_sampling_ratio": 0.02}, 128),
    "Stfpm": ({}, 128),
    "Fastflow": ({"pre_trained": False}, 256),
    "ReverseDistillation": ({"pre_trained": False, "backbone": "resnet18"}, 128),
    "Cflow": ({"pre_trained": False, "backbone": "resnet18", "layers": ("layer1", "layer2")}, 64),
    "Dfm": ({"pre_trained": False, "backbone": "resnet18"}, 128),
    "Dfkde": ({"pre_trained": False}, 128),
    "Dsr": ({}, 128),
    "EfficientAd": ({}, 256),
    "Fre": ({"pre_trained": False, "backbone": "resnet18", "input_dim": 16384}, 128),
    "Ganomaly": ({}, 64),
    "Supersimplenet": ({"backbone": "resnet18"}, 128),
    "Uflow": ({"backbone": "resnet18"}, 256),
}
# These learn without gradients, from features of so many pictures.
FITTED = {"Padim": 8, "Patchcore": 3, "Dfm": 8, "Dfkde": 20}


def prepared(name, arguments, size):
    import timm
    import torch
    import weights

    create = timm.create_model
    timm.create_model = lambda *positional, **named: create(*positional, **{**named, "pretrained": False})
    try:
        from anomalib import models

        weights.seed()
        model = getattr(models, name)(**arguments)
    finally:
        timm.create_model = create
    pictures = model.pre_processor(torch.rand(FITTED.get(name, 2), 3, size, size))
    network = model.model
    network.train(name in FITTED)
    weights.settle(network, pictures[:2])
    if name in FITTED:
        store = getattr(network, "embedding_store", None)
        (network.memory_bank if store is None else store).clear()
        with torch.no_grad():
            network(pictures)
            model.fit()
    # What validation would have found.
    post = model.post_processor
    post._image_threshold.fill_(0.5)
    post._pixel_threshold.fill_(0.5)
    for least, most in ((post.image_min, post.image_max), (post.pixel_min, post.pixel_max)):
        least.fill_(0.0)
        most.fill_(4.0)
    return model.eval()


def make(name, how):
    arguments, size = MODELS[name]

    def export(folder):
        model = prepared(name, arguments, size)
        write = model.to_openvino if how == "openvino" else model.to_onnx
        written = write(folder, input_size=(size, size))
        for file in written.parent.iterdir():  # in a folder of its own, weights beside it
            file.rename(folder / file.name)
        return folder / written.name

    return export


def list_exports():
    for name, (_, size) in MODELS.items():
        for how in ("onnx", "openvino"):
            add("anomalib", "anomaly", name, {"onnx": "", "openvino": "IR"}[how], make(name, how),
                inputs={"": Input((1, 3, size, size))}, is_small=name in ("Padim", "Stfpm", "Dfkde"))
