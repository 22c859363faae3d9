import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

from ncgnn.data import read_graph
from ncgnn.data.tables.columns.text import count_spaced_words, learn_words, tf_idf, tokens
from ncgnn.errors import InputError

EDGES = pd.DataFrame({"source": [0], "target": [1]})
TITLES = ["Graphs of graphs", "capsules for GRAPHS", "capsules of trees", "trees, trees", "a word alone", ""]


def learnt(titles=TITLES):
    column = pd.Series(titles, name="title")
    return column, learn_words(column)


def test_text_becomes_what_scikit_learn_makes_of_it():
    column, spec = learnt()
    peer = TfidfVectorizer(min_df=2, max_df=0.5).fit(TITLES[:-1])
    assert list(spec.words) == peer.get_feature_names_out().tolist() == ["capsules", "graphs", "of", "trees"]
    assert np.allclose(tf_idf(column, spec)[0].toarray(), peer.transform(TITLES).toarray(), atol=1e-7)


def test_words_are_the_names_of_features():
    frame = pd.DataFrame({"id": range(6), "title": TITLES})
    data = read_graph(frame, EDGES, text=["title"])
    assert data.feature_names == ["title:capsules", "title:graphs", "title:of", "title:trees"]
    assert data.x.to_dense()[5].tolist() == [0, 0, 0, 0]


def test_how_much_of_a_text_is_known_is_counted():
    column, spec = learnt()
    assert spec.known == pytest.approx(10 / 13)  # all words of two letters or more but for, word and alone
    _, known, strange = tf_idf(column, spec)
    assert (known, strange) == (spec.known, 1)


def test_a_later_table_with_other_words_is_reported():
    first = read_graph(pd.DataFrame({"id": range(6), "title": TITLES}), EDGES, text=["title"])
    later = pd.DataFrame({"id": range(2), "title": ["graphs and unheard words", "nothing known"]})
    with pytest.warns(UserWarning, match=r"'title': 16.7% of the words are known .* 76.9%\); .* no known word: 1"):
        again = read_graph(later, EDGES, encoding=first.encoding)
    assert again.x.to_dense().tolist() == [[0, 1, 0, 0], [0, 0, 0, 0]]


def test_no_more_than_the_5000_most_frequent_words_are_kept():
    texts = [f"w{i} w{i} w{i + 1}" for i in range(6000)]
    spec = learnt(texts)[1]
    assert spec.width == 5000
    assert len(learnt([*texts, *texts, "w7777 w7777"])[1].words) == 5000


def test_text_without_common_words_is_left_out():
    nodes = pd.DataFrame({"id": range(3), "f": [1, 0, 1], "t": ["one two three", "four five six", "seven eight nine"]})
    with pytest.warns(UserWarning, match="column 't': all words are too rare or too common; dropped"):
        assert read_graph(nodes, EDGES).feature_names == ["f"]


def test_words_weighed_by_other_tables_are_refused():
    from ncgnn.data import with_encoding

    first, second = (
        read_graph(pd.DataFrame({"id": range(len(titles)), "t": titles, "n": range(len(titles))}), EDGES, text=["t"])
        for titles in (TITLES, [*TITLES[:-1], "graphs trees"])
    )
    assert first.feature_names == second.feature_names
    with pytest.raises(InputError, match="column 't' was encoded differently in training"):
        with_encoding(first, second.encoding)


def test_a_column_that_was_put_together_is_read_like_any_other():
    parts = [pd.Series(TITLES[:3], dtype="str"), pd.Series(TITLES[3:], dtype="str")]
    column = pd.concat(parts).rename("title")
    assert learn_words(column) == learnt()[1]
    assert np.array_equal(tf_idf(column, learnt()[1])[0].toarray(), tf_idf(*learnt())[0].toarray())


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
