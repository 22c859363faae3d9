from datetime import UTC, datetime

import pytest

from ncgnn.provenance import origin, short_name


@pytest.mark.parametrize(
    ("cpu", "short"),
    [
        ("Intel(R) Xeon(R) Processor @ 2.60GHz", "Intel Xeon"),
        ("Intel(R) Core(TM) i7-8650U CPU @ 1.90GHz", "Intel Core i7-8650U"),
        ("AMD EPYC 7763 64-Core Processor", "AMD EPYC 7763 64-Core"),
        ("arm64", "arm64"),
    ],
)
def test_a_processor_has_a_short_name(cpu, short):
    assert short_name(cpu) == short


def test_a_row_says_where_and_when():
    found = origin()
    assert set(found) == {"ncgnn", "torch", "pyg", "numpy", "commit", "cpu", "date"}
    assert abs(datetime.now(UTC).date() - datetime.fromisoformat(found["date"]).date()).days <= 1
    assert found["cpu"]
