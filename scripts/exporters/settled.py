"""Weights settled on the pictures that are shown later: a network that has seen noise alone is sure of everything on real pictures."""

import itertools

import weights
from pictures import NAMES, SCALED, open_picture

# Of ImageNet: what most models' pictures are normalised with.
MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def picture(name, shape, normalised):
    import numpy as np
    import torch

    values = np.asarray(open_picture(name, (shape[3], shape[2])), np.float32).transpose(2, 0, 1) / 255
    if normalised:
        values = (values - np.reshape(MEAN, (3, 1, 1))) / np.reshape(DEVIATION, (3, 1, 1))
    return torch.from_numpy(values).float()


def settle_on_pictures(normalised, spread=None):
    """weights.settle() shows real pictures from now on, in 0..1 or normalised, and then calls `spread(model, *pictures)` instead of what
    weights.sharpen() does; quantisers see them, too."""
    import numpy as np
    import torch

    plain = weights.settle

    def settle(model, *examples, rounds=3):
        names = itertools.cycle((*NAMES, SCALED))

        def shown(inputs):
            return tuple(torch.stack([picture(next(names), i.shape, normalised) for _ in i]) if i.ndim == 4 and i.shape[1] == 3 else i for i in inputs)

        hook = model.register_forward_pre_hook(lambda _, inputs: shown(inputs))
        try:
            plain(model, *examples, rounds=rounds)
            if spread:
                spread(model, *examples)
            return model
        finally:
            hook.remove()

    weights.settle = settle
    weights.shown = lambda number, size: np.asarray(open_picture((*NAMES, SCALED)[number % (1 + len(NAMES))], (size, size)))
    if spread:
        weights.sharpen = lambda model, *parts, factor=1.0: model


def scale_layers(model, examples, layers):
    """Gives layers such weights and biases that each channel of what they give has a given mean, and differs from it by a given number at
    most. `layers` are (layer, most, means); a mean of None leaves it."""
    import torch

    given = {}
    # A layer may be called several times, such as for each size of objects.
    hooks = [layer.register_forward_hook(lambda layer, _, output: given.setdefault(layer, []).append(output)) for layer, _, _ in layers]
    with torch.no_grad():
        model(*examples)
        for layer, most, means in layers:
            if layer not in given:
                continue
            outputs = [o.movedim(1, -1) if isinstance(layer, torch.nn.Conv2d) else o for o in given[layer]]
            output = torch.cat([o.reshape(-1, o.shape[-1]) for o in outputs])
            before = output.mean(0)
            factor = most / (output - before).abs().max().clamp(min=1e-9)
            layer.weight.mul_(factor)
            layer.bias.copy_((before if means is None else means) - factor * (before - layer.bias))
    for hook in hooks:
        hook.remove()
