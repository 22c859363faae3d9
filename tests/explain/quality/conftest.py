import pytest
import torch

import ncgnn
from helpers.small_models import small_model
from ncgnn.explain import trace_model
from ncgnn.explain.quality import Subject


@pytest.fixture
def subject(edges) -> Subject:
    """A small model on five nodes, with two classes."""
    model = small_model(ncgnn.AttentionFilter([0, 1, 2]))
    x = torch.rand(5, 6, generator=torch.Generator().manual_seed(1))
    return Subject(trace_model(model, x, model.filter.prepare(edges, 5)), edges)
