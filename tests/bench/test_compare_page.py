from pathlib import Path

from benchmarks import compare, table

PAGE = compare.PAGE.read_text("utf-8")


def test_the_page_is_the_one_that_the_results_give():
    assert compare.fill(PAGE, table.read(compare.RESULTS)) == PAGE, "run: python -m benchmarks.compare --report"


def test_what_is_not_measured_is_not_made_up(tmp_path: Path):
    assert compare.fill(PAGE, table.read(tmp_path / "none.csv")).count("Not measured yet.") == 1


def test_a_row_of_the_table_is_the_mean_of_its_splits():
    def rows(split: int, accuracy: float) -> list[dict]:
        shared = {"graph": "texas", "split": split, "val_accuracy": 0.5, "seconds": 1.0, "judged": 37}
        stamp = dict.fromkeys(("date", "cpu", "load", "python", "torch", "torch_geometric", "numba", "commit"), "x")
        models = [("NCGNN", "both", accuracy, 0), ("MLP", "features", accuracy / 2, 30)]
        return [
            shared
            | stamp
            | {"cores": 2, "threads": 1, "model": name, "knows": knows, "test_accuracy": test}
            | {"better": better, "worse": 0}
            for name, knows, test, better in models
        ]

    text = compare.fill(PAGE, rows(0, 0.6) + rows(1, 0.8))
    assert "| texas | 2 | 35.0 | 70.0 | NCGNN is 35.0 points ahead of the best other, MLP, on 74 test nodes" in text
