"""The library's model beside the references: the same parameters, scores and gradients."""

import torch

import ncgnn
from helpers import reference_numpy, reference_torch
from helpers.filter_cases import (
    CLASS,
    FEATURES,
    PRIMARY,
    TOLERANCE,
    C,
    K,
    as_numpy,
    assert_agree,
    features,
    graph,
    prepare,
)
from ncgnn.nn import CapsuleGraphLayer


def random_model(case, dtype=torch.float64, **options):
    """A model all of whose parameters are random numbers; its first primary capsule is zero at some nodes."""
    options = {"num_capsules": K, "primary_channels": PRIMARY, "class_channels": CLASS, "dropout": 0.0} | options
    model = ncgnn.NCGNN(FEATURES, C, case.build(), **options)
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator))
        for layer in model.layers:
            assert isinstance(layer, CapsuleGraphLayer)
            layer.bias.mul_(0.3)
        model.primary.bias[0].sub_(1.5)
    return model.to(dtype)


def filter_of(model):
    kinds = (ncgnn.AttentionFilter, ncgnn.DiffusionFilter)
    (found,) = [module for module in model.modules() if isinstance(module, kinds)]
    return found


def parameters_of(model):
    """Copies of the model's parameters that a reference's `forward` takes, and the originals beside them in a list."""
    pairs = []

    def leaf(parameter):
        pairs.append((parameter, parameter.detach().double().clone().requires_grad_()))
        return pairs[-1][1]

    zeta = getattr(filter_of(model), "zeta", None)
    zeta = None if zeta is None else leaf(zeta)
    primary = (leaf(model.primary.weight), leaf(model.primary.bias))
    layers = [(leaf(layer.weight), leaf(layer.bias)) for layer in model.layers]
    return (zeta, primary, layers), pairs


def assert_forward_agrees(library, loops, hop_weights, dtype):
    (scores, routing), (expected_scores, expected) = library, loops
    assert scores.dtype == dtype
    for name, actual, reference in [
        ("scores", scores, expected_scores),
        ("couplings", routing.couplings, expected.couplings),
        ("u", routing.u, expected.u),
        ("v", routing.capsules, expected.capsules),
    ]:
        assert_agree(actual, reference, TOLERANCE[dtype], name)
    if hop_weights is None:
        assert routing.hop_weights is None
    else:
        assert_agree(routing.hop_weights, hop_weights, TOLERANCE[dtype], "hop weights")


def assert_library_is_reference(case, dtype, weighted=False, prior=None, feature_layout=torch.Tensor.clone, **options):
    """Forward numbers are those of the loops, and every parameter's gradient that of autograd through plain torch."""
    options = {"iterations": 3, "beta": 1.0} | options
    adjacency, x = graph(weighted), features()
    model = random_model(case, dtype, **options)
    (zeta, primary, layers), pairs = parameters_of(model)
    assert {id(parameter) for parameter, _ in pairs} == {id(parameter) for parameter in model.parameters()}
    call = {"iterations": options["iterations"], "beta": options["beta"], "prior": prior}

    library_prior = None if prior is None else prior.to(dtype)
    operator = prepare(filter_of(model), adjacency, dtype)
    library = model(feature_layout(x.to(dtype)), operator, prior=library_prior, return_routing=True)
    a_bar = case.reference(reference_numpy, adjacency, as_numpy(zeta))
    loops_call = call | {"prior": as_numpy(prior)}
    loops = reference_numpy.forward(as_numpy(x), a_bar, as_numpy(primary), as_numpy(layers), **loops_call)
    assert_forward_agrees(library, loops, case.hop_weights(as_numpy(zeta)), dtype)

    scores, _ = reference_torch.forward(x, case.reference(reference_torch, adjacency, zeta), primary, layers, **call)
    direction = torch.randn(scores.shape, generator=torch.Generator().manual_seed(11))
    (library[0] * direction.to(dtype)).sum().backward()
    (scores * direction.double()).sum().backward()
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    for parameter, leaf in pairs:
        assert_agree(parameter.grad, leaf.grad, TOLERANCE[dtype], f"gradient of {names[id(parameter)]}")


def random_reference_arguments(capsules=(K, C), channels=(PRIMARY, CLASS)):
    """(weight, bias) of the primary capsules and of each layer, without the library."""
    generator = torch.Generator().manual_seed(5)

    def draw(*shape):
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    primary = (draw(capsules[0], channels[0], FEATURES), draw(capsules[0], channels[0]))
    primary[1][0] -= 1.5
    steps = range(len(capsules) - 1)
    layers = [
        (draw(capsules[i], channels[i], capsules[i + 1], channels[i + 1]), draw(capsules[i + 1], channels[i + 1]))
        for i in steps
    ]
    return primary, layers
