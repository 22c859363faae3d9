from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from time import sleep

from torch.distributed import HashStore  # type: ignore[attr-defined]

from ncgnn.train.meeting import fresh


def meet(store, order):
    """Several processes that arrive one after another."""

    def one(number, delay):
        sleep(delay)
        return fresh(store, number, len(order))

    with ThreadPoolExecutor(len(order)) as pool:
        return list(pool.map(one, order, [0.1 * place for place in range(len(order))]))


def address(store, number):
    return store.get(f"address {number}").decode()


def test_nothing_is_left_of_processes_that_met_before():
    store = HashStore()
    store.set_timeout(timedelta(seconds=20))
    for attempt, order in enumerate([[0, 1, 2], [2, 1, 0], [1, 0, 2], [1, 0]]):
        met = meet(store, order)
        assert not any(one.check(["address 0"]) for one in met)
        for number, one in zip(order, met, strict=True):
            one.set(f"address {number}", f"{attempt}-{number}")
        for number in order:
            assert {address(one, number) for one in met} == {f"{attempt}-{number}"}


def test_a_single_process_meets_itself():
    assert not fresh(HashStore(), 0, 1).check(["address 0"])
