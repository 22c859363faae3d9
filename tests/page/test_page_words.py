from typing import Any

from ncgnn.page.words import in_words


def view(**changes: Any) -> dict[str, Any]:
    made = {
        "id": "7",
        "title": None,
        "predicted": "A",
        "probability": 0.8,
        "second": "B",
        "second_probability": 0.1,
        "label": "A",
        "score": 0.5,
        "bias": 0.1,
        "hops": [["1", 0.1], ["2", 0.3]],
        "capsules": [0.1, 0.3],
        "features": {"largest": [["word", 0.05]]},
        "neighbours": [
            {"id": "3", "title": "three", "label": "A", "split": "train", "value": 0.2},
            {"id": "7", "title": None, "label": "A", "split": "test", "value": 0.1},
            {"id": "4", "title": None, "label": "B", "split": "train", "value": -0.05},
        ],
    }
    return made | changes


def test_the_largest_part_of_each_kind_is_said_as_a_share_of_the_score():
    assert in_words(view()) == (
        "Node 7 is predicted A with probability 0.80, ahead of B with 0.10. Largest contributions: by hop, 60 % via 2 "
        "hops; by node, 40 % from 3 “three” (training, A); by feature, 10 % from “word”. The class bias contributes "
        "20 %. Training nodes among the top 3 contributors: 1 of class A (40 %), 1 of class B (-10 %)."
    )


def test_a_title_stands_beside_the_id():
    assert in_words(view(title="Seven & Co")).startswith("Node 7 “Seven & Co” is predicted A")


def test_a_label_that_is_not_the_predicted_one_is_said():
    assert "Its label is B." in in_words(view(label="B"))
    assert "Its label" not in in_words(view(label=None))


def test_nothing_is_said_of_what_there_is_not():
    said = in_words(view(hops=None, neighbours=[], features={"largest": []}, score=0.0))
    assert said.endswith("ahead of B with 0.10. The class bias contributes 0 %.")


def test_little_is_not_called_nothing():
    small = {"id": "3", "title": None, "label": "A", "split": "train", "value": 0.001}
    assert "1 of class A (under 1 %)" in in_words(view(neighbours=[small]))
