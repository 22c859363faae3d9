"""``ncgnn serve``: serve predictions and explanations over HTTP."""

from importlib.util import find_spec
from typing import Annotated

import typer

from ncgnn.cli import graph as g
from ncgnn.cli.model import Model, ModelClass, load_run, with_split
from ncgnn.cli.notes import note
from ncgnn.cli.remembered import with_run
from ncgnn.errors import InputError
from ncgnn.extras import install

Host = Annotated[str, typer.Option(help="Address to listen on; the default accepts local connections only.")]
Port = Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 picks a free one.")]


@g.takes_graph
def serve(
    model: Model,
    graph: g.GraphOptions,
    host: Host = "127.0.0.1",
    port: Port = 8000,
    model_class: ModelClass = None,
) -> None:
    """Serve predictions and explanations over HTTP, as a web page and a JSON API. Press Ctrl-C to stop.

    Explanations are computed on request, so this also works for graphs too large for a single HTML file.

    Example: `ncgnn serve runs/karate`
    """
    if find_spec("fastapi") is None or find_spec("uvicorn") is None:
        raise InputError(f"ncgnn serve requires fastapi and uvicorn: {install('serve')}")
    from ncgnn.serve import Answers, allowed_hosts, listen, make_app, run_server

    with listen(host, port) as listener:  # before the work, which would be lost where the port is taken
        classifier, split = load_run(model, model_class)
        found = with_run(graph, model).find_for(classifier)
        scored = classifier.scored(with_split(found, split), whole=True)
        answers, hosts = Answers(scored), allowed_hosts(host, listener)
        if "*" in hosts:
            note(f"with --host {host}, anyone who can reach this machine can read the graph")
        run_server(make_app(answers, hosts), listener, lambda at: print(f"serving {answers.name} at {at}", flush=True))
