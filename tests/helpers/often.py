"""The command line with a checkpoint after every epoch."""

from ncgnn.cli.app import main
from ncgnn.train import checkpoint

if __name__ == "__main__":
    checkpoint.PAUSE, checkpoint.SHARE = 0.0, float("inf")
    main()
