"""Where the processes of torchrun meet: a key-value store that nobody has written to.

torchrun keeps the store of processes that it restarts, and with it the addresses of those that have ended. A process
that is started sooner than the others would read them and wait for an answer.
"""

from time import sleep
from typing import Any
from uuid import uuid4

from torch.distributed import PrefixStore  # type: ignore[attr-defined]

_PAUSE = 0.05


def fresh(store: Any, number: int, count: int) -> Any:
    """An empty part of a store for these ``count`` processes alone.

    Each of the others says under which key it waits, and the first one answers there with the name of the new store.
    Answers from before a restart have other keys, so nobody reads them.
    """
    own = uuid4().hex
    if number:
        store.set(f"waiting {number}", own)
        name = store.get(own).decode()
        store.set(f"{name} {number}", "")
        return PrefixStore(name, store)
    others = range(1, count)
    while not all(store.check([f"{own} {other}"]) for other in others):
        for other in others:
            store.set(store.get(f"waiting {other}").decode(), own)
        sleep(_PAUSE)
    return PrefixStore(own, store)
