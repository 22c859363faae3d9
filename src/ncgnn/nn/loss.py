"""The separate margin loss (equation 11)."""

import torch.nn.functional as F
from torch import Tensor


def margin_loss(lengths: Tensor, y: Tensor, m_plus: float = 0.9, m_minus: float = 0.2, lam: float = 0.5) -> Tensor:
    r"""Equation 11, averaged over the nodes given:

    .. math::
        \mathcal{L}_i^{(l)} = T_i^{(l)} \max(0, m^+ - \|\mathbf{v}_i^{(l)}\|)^2
        + \lambda (1 - T_i^{(l)}) \max(0, \|\mathbf{v}_i^{(l)}\| - m^-)^2

    Args:
        lengths: lengths of the class capsules [n, C].
        y: class of each node [n].
        m_plus: minimum length for the capsule of the true class.
        m_minus: maximum length for the others.
        lam: weight of the others, which prevents all capsules from shrinking at the start.
    """
    present = F.one_hot(y, lengths.shape[1]).to(lengths.dtype)
    return soft_margin_loss(lengths, present, m_plus, m_minus, lam)


def soft_margin_loss(lengths: Tensor, q: Tensor, m_plus: float = 0.9, m_minus: float = 0.2, lam: float = 0.5) -> Tensor:
    r"""Equation 11 with shares :math:`q_i^{(l)}` of one in place of :math:`T_i^{(l)}`: how much a node belongs to each
    class [n, C]."""
    loss = q * F.relu(m_plus - lengths) ** 2 + lam * (1 - q) * F.relu(lengths - m_minus) ** 2
    return loss.sum(dim=1).mean()
