"""The command line: ``ncgnn VERB``, one file a verb."""

import sys

import typer

from ncgnn.cli.datasets import datasets
from ncgnn.cli.predict import predict
from ncgnn.cli.train import train
from ncgnn.errors import InputError

app = typer.Typer(
    help="Node classification whose predictions come with their reasons.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(datasets)
app.command()(train)
app.command()(predict)


@app.callback(invoke_without_command=True)
def _options(version: bool = typer.Option(False, "--version", help="Print the version and exit.")) -> None:
    if version:
        from ncgnn import __version__

        print(__version__)
        raise typer.Exit


def main() -> None:
    """Run the command line. A user's mistake ends with one line and exit code 2, Ctrl-C with 130."""
    try:
        app()
    except InputError as error:
        sys.exit(_fail(str(error), 2))
    except KeyboardInterrupt:
        sys.exit(_fail("stopped", 130))


def _fail(message: str, code: int) -> int:
    print(f"ncgnn: {message}", file=sys.stderr)
    return code
