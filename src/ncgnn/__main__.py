"""``python -m ncgnn VERB``, and with it ``torchrun -m ncgnn VERB``."""

from ncgnn.cli.app import main

if __name__ == "__main__":
    main()
