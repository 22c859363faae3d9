import pandas as pd

from ncgnn.data import read_graph, role_lines


def test_what_columns_were_taken_for_is_told_line_by_line(write):
    nodes = write("n.csv", "paper,topic,year,venue,when\nA,x,2015,KDD,2020-01-01\nB,,,,\nC,y,2017,KDD,2021-01-01\n")
    edges = write("e.csv", "from,to,times\nA,B,1\nB,A,2\nC,C,1\nB,C,3\nB,C,3\n")
    data = read_graph(nodes, edges, label="topic", weight="times")
    assert role_lines(data.roles) == [
        str(nodes),
        "  paper  id",
        "  topic  label        2 classes, 1 blank",
        "  year   numeric      2015 to 2017, 1 missing",
        "  venue  categorical  1 values, 1 blank",
        "  when   date         2020-01-01 to 2021-01-01, 1 missing",
        str(edges),
        "  from   source  5 rows, 2 edges: 2 repeated, 1 self-loops",
        "  to     target",
        "  times  weight",
    ]


def test_of_very_many_columns_the_rest_is_counted():
    nodes = pd.DataFrame({"id": [1, 2]} | {f"f{i}": [0, 1] for i in range(50)} | {"c": ["a", "b"]})
    lines = role_lines(read_graph(nodes, pd.DataFrame({"source": [1], "target": [2]})).roles)
    assert "  and 21 numeric, 1 categorical" in lines
    assert len(lines) == 1 + 30 + 1 + 3


def test_a_column_that_is_left_out_is_told_too(recwarn):
    nodes = pd.DataFrame({"id": range(30), "key": [f"k{i}" for i in range(30)], "f": range(30)})
    lines = role_lines(read_graph(nodes, pd.DataFrame({"source": [1], "target": [2]})).roles)
    assert "  key  dropped  30 different values in 30 rows look like a key" in lines
