"""What the interface answers with, besides explanations, which are :class:`~ncgnn.explain.NodeExplanation`."""

from pydantic import BaseModel, ConfigDict, Field


class Prediction(BaseModel):
    """What is predicted for a node, beside what is known of it."""

    id: str
    title: str | None = Field(description="what to call it, where the graph says so")
    label: str | None = Field(description="known class, if any")
    split: str | None = Field(description="train, val, test or calibration, where the split of the training is known")
    predicted: str = Field(description="class with the highest probability")
    probability: float = Field(description="of that class; calibrated if the model is")
    margin: float = Field(description="distance to the probability of the second class")
    probabilities: dict[str, float] = Field(description="of each class")


class Found(BaseModel):
    """Nodes whose ids or titles contain what was searched for."""

    total: int = Field(description="how many there are")
    nodes: list[Prediction] = Field(description="the first of them")


class Problem(BaseModel):
    """Why there is no answer."""

    detail: str = Field(description="one line")


class Known(BaseModel):
    """A node as the page names it."""

    id: str
    title: str | None
    predicted: str
    probability: float
    second: str
    second_probability: float
    label: str | None
    split: str | None
    group: str | None = Field(
        None, description="group of capsules with the largest part of its score, if there are several"
    )


class NearNode(Known):
    value: float = Field(description="its part of the lead")
    distance: int | None = Field(description="steps along edges; none where there are many")
    features: list[str] = Field(description="names of the features that make most of its part")
    believed: str | None = Field(None, description="class it is taken for, where that is part of its part")


class FeatureBars(BaseModel):
    largest: list[tuple[str, float]]
    rest: float
    bias: float


class View(Known):
    """A node as the page draws it: parts of the lead of the predicted class over the runner-up, to three digits."""

    model_config = ConfigDict(extra="allow")  # the page's own business

    sentence: str = Field(description="why, in one sentence")
    rather: str = Field(description="why this class rather than the runner-up, in shares")
    score: float = Field(description="the lead: the sum of all parts")
    whole: float = Field(description="the magnitudes of all parts of nodes, which shares are of")
    bias: float
    groups: list[tuple[str, float, str]] | None = Field(
        None, description="parts of groups of capsules: name, part, and what it reads in words; none where there is one"
    )
    hops: list[tuple[str, float]] | None
    capsules: list[float]
    features: FeatureBars
    itself: float = Field(description="the part of the node itself")
    neighbours: list[NearNode] = Field(description="other nodes, those that contribute most first")
    rest: float
    links: list[tuple[str, str]] = Field(description="edges among the node and its neighbours")
