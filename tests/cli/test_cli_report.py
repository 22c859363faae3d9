import shlex

from helpers.papers import QUICK, contents

OPTIONS = ["--epochs", 2, *QUICK]


def test_the_report_is_shown_and_written(ncgnn, here):
    done = ncgnn("train", "karate", *OPTIONS)
    written = (here / "runs/karate/report.md").read_text()
    assert written.startswith("# karate split 0\n\n## How good\n")
    assert written.removeprefix("# karate split 0\n\n") in done.out
    assert done.out.endswith("Written to runs/karate: the model, its predictions, and the report as report.md\n")


def test_the_command_in_the_report_writes_the_page(ncgnn, tables, here):
    ncgnn("train", *tables, "--label", "topic", *OPTIONS, "--out", "runs/my papers")
    report = (here / "runs/my papers/report.md").read_text()
    program, *arguments = shlex.split(report.split("on one page: `")[1].split("`")[0])
    assert program == "ncgnn"
    assert ncgnn(*arguments).code == 0
    assert (here / "runs/my papers/page.html").stat().st_size > 10_000


def test_several_splits_have_a_report_each(ncgnn, here):
    done = ncgnn("train", "karate", *OPTIONS, "--splits", 2)
    assert "## How good" not in done.out
    assert done.out.endswith(
        "Written to runs/karate/split-*: the model, its predictions, and the report as report.md\n"
    )
    assert (here / "runs/karate/split-1/report.md").read_text().startswith("# karate split 1\n")


def test_names_from_tables_cannot_break_the_report(ncgnn, here):
    (here / "n.csv").write_text("id,f,y\n" + "".join(f'{i},{i % 2},"# a|b\n{i % 2}"\n' for i in range(30)))
    (here / "e.csv").write_text("source,target\n0,1\n")
    assert ncgnn("train", "--nodes", "n.csv", "--edges", "e.csv", "--label", "y", *OPTIONS).code == 0
    report = (here / "runs/n/report.md").read_text()
    assert "| # a\\|b 0 |" in report


def test_epochs_are_logged_for_tensorboard_if_asked(ncgnn, here):
    before = contents(here)
    assert ncgnn("train", "karate", *OPTIONS, "--tensorboard").code == 0
    new = [name for name in contents(here) if name not in before and "tfevents" in name]
    assert len(new) == 1
    assert new[0].startswith("runs/karate/tensorboard/")


def test_without_tensorboard_nothing_is_trained(ncgnn, here, monkeypatch):
    monkeypatch.setattr("ncgnn.train.tensorboard.find_spec", lambda name: None)
    done = ncgnn("train", "karate", *OPTIONS, "--tensorboard")
    assert (done.code, done.out) == (2, "")
    assert "pip install 'tensorboard" in done.err
    assert contents(here) == {}


def test_no_page_is_advised_for_a_model_that_is_not_explained(ncgnn):
    done = ncgnn("train", "karate", *OPTIONS, "--set", "hidden=[[2, 4]]")
    assert done.code == 0
    assert "## Next steps" in done.out
    assert "ncgnn explain" not in done.out
