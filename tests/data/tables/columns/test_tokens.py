import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from ncgnn.data.tables.columns.tokens import count_spaced_words, tokens


@given(st.lists(st.text(st.sampled_from("abÄ cé,ß_東京1\n-²ÑЖ"), max_size=20), max_size=20))
@settings(max_examples=100, deadline=None)
def test_texts_are_divided_as_scikit_learn_divides_them(texts):
    analyze = CountVectorizer().build_analyzer()
    found = tokens(pd.Series(texts, dtype="str"))
    pairs = [(row, word) for row, text in enumerate(texts) for word in analyze(text)]
    assert list(zip(found.rows.tolist(), found.words.to_pylist(), strict=True)) == pairs


def test_words_without_blanks_between_them_are_one():
    texts = ["three words here", "https://example.org/one", "a b c", "eins, zwei; drei!", ""]
    assert count_spaced_words(pd.Series(texts)).tolist() == [3, 1, 0, 3, 0]


@pytest.mark.parametrize("size", [63, 64, 65, 128])
def test_a_blank_at_the_end_of_all_texts_is_no_letter(size):
    word = "é" * ((size - 2) // 2) + "a" * (1 + size % 2)
    assert tokens(pd.Series([f"{word} "], dtype="str")).words.to_pylist() == [word]
