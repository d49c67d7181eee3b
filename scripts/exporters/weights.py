"""Random weights that make a network worth comparing."""

import torch

SEED = 20261125


def seed(number=SEED):
    torch.manual_seed(number)


def shown(number, size):
    """A picture, [size, size, 3], of those that quantisers see."""
    import numpy as np

    return np.random.default_rng(number).integers(0, 256, (size, size, 3), dtype=np.uint8)


@torch.no_grad()
def settle(model, *examples, rounds=3):
    """Gives every BatchNorm the mean and variance that its input has, as training would; else a deep network with
    weights drawn at random ends in constants or in infinities."""
    norms = [m for m in model.modules() if isinstance(m, torch.nn.modules.batchnorm._BatchNorm)]
    momenta = [norm.momentum for norm in norms]
    was_training = [norm.training for norm in norms]
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None
        norm.train()
    generator = torch.Generator().manual_seed(SEED)
    for _ in range(rounds if norms else 0):
        model(*[torch.rand(e.shape, generator=generator) if e.is_floating_point() else e for e in examples])
    for norm, momentum, training in zip(norms, momenta, was_training):
        norm.momentum = momentum
        norm.train(training)
    return model


@torch.no_grad()
def sharpen(model, *parts, factor=8.0):
    """Multiplies the weights of the layers whose name holds one of `parts`: scores of a head that was never trained
    lie so near to each other that none passes a threshold and rounding decides their order."""
    for name, parameter in model.named_parameters():
        if any(part in name for part in parts) and name.endswith("weight"):
            parameter.mul_(factor)
    return model
