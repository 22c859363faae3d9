import pytest

from ncgnn.errors import InputError
from ncgnn.text import did_you_mean, several, shortened


def test_a_message_of_usual_length_is_as_it_was():
    message = f"{'folder/' * 20}nodes.csv, column 'size', row 3: 'x' is not a finite number; correct it"
    assert shortened(message) == message


@pytest.mark.parametrize("name", ["x" * 100_000, "x y" * 50_000, "\\'" * 5000, "🙂" * 9000])
def test_long_names_lose_their_middle(name):
    message = shortened(f"nodes.csv, column {name!r}, row 3: {name!r} is not a number; correct it")
    assert len(message) <= 480
    assert message.startswith("nodes.csv, column ")
    assert message.endswith("; correct it")


def test_many_names_are_cut_too():
    assert len(shortened(f"classes {', '.join(map(str, range(10_000)))}")) == 479


def test_errors_are_one_short_line_that_can_be_printed():
    message = str(InputError(f"a\nb\ud800 {'x' * 10_000}"))
    assert len(message.splitlines()) == 1
    assert len(message.encode()) < 500


def test_numbers_of_things():
    assert [several(1, "node"), several(2, "class"), several(3, "category")] == ["1 node", "2 classes", "3 categories"]


def test_a_misspelt_name_is_taken_for_the_closest_ones_in_any_case():
    known = ["department", "Brand", "price", "prices"]
    assert did_you_mean("departmnt", known) == "did you mean 'department'?"
    assert did_you_mean("BRAND", known) == "did you mean 'Brand'?"
    assert did_you_mean("pric", known) == "did you mean 'price' or 'prices'?"


def test_a_name_that_is_like_no_other_gets_something_else():
    assert did_you_mean("shelf", ["department", "price"], "known: ...") == "known: ..."
