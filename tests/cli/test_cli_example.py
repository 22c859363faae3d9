import pandas as pd

from helpers.papers import contents


def test_the_tables_are_written_and_named(ncgnn, here):
    done = ncgnn("example", "a/shop")
    assert (done.code, done.err) == (0, "")
    names = ["products.csv", "bought-together.csv", "june-products.csv", "june-bought-together.csv"]
    assert [line.partition(":")[0] for line in done.out.splitlines()] == [f"a/shop/{name}" for name in names]
    assert sorted(path.name for path in (here / "a/shop").iterdir()) == sorted(names)
    assert len(pd.read_csv(here / "a/shop/products.csv")) == 800


def test_nothing_is_overwritten(ncgnn, here):
    (here / "shop").mkdir()
    (here / "shop/june-products.csv").write_text("mine")
    before = contents(here)
    done = ncgnn("example")
    assert done.code == 2
    assert done.err == "ncgnn: shop/june-products.csv: already exists with other contents: choose another folder\n"
    assert contents(here) == before


def test_a_file_in_the_place_of_the_folder_is_named(ncgnn, here):
    (here / "shop").write_text("mine")
    done = ncgnn("example")
    assert (done.code, done.err) == (2, "ncgnn: shop: File exists\n")


def test_what_a_killed_run_left_out_is_written(ncgnn, here):
    first = ncgnn("example")
    before = contents(here)
    (here / "shop/june-products.csv").unlink()
    (here / "shop/bought-together.csv").unlink()
    assert ncgnn("example") == first
    assert contents(here) == before
