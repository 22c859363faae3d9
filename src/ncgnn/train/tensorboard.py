"""TensorBoard logs of a run."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from ncgnn.errors import InputError
from ncgnn.extras import install
from ncgnn.train.epoch import Epoch


def check_tensorboard() -> None:
    """Check that TensorBoard is installed; call this before training."""
    if find_spec("tensorboard") is None:
        raise InputError(f"TensorBoard logs require the package tensorboard: {install('log')}")


@contextmanager
def tensorboard(folder: str | Path) -> Iterator[Callable[[Epoch], None]]:
    """A callback for ``on_epoch`` of :meth:`ncgnn.NodeClassifier.fit` that writes losses and accuracy to an event file
    in ``folder``. Files of an earlier run are removed once this one has finished."""
    check_tensorboard()
    from torch.utils.tensorboard import SummaryWriter

    earlier = list(Path(folder).glob("events.out.tfevents.*"))
    with SummaryWriter(str(folder)) as writer:

        def log(epoch: Epoch) -> None:
            writer.add_scalar("loss/train", epoch.train_loss, epoch.epoch)
            writer.add_scalar("loss/validation", epoch.val_loss, epoch.epoch)
            writer.add_scalar("accuracy/validation", epoch.val_accuracy, epoch.epoch)

        yield log
    for old in earlier:
        old.unlink(missing_ok=True)
