"""The HTTP interface: the page, and what scripts ask for."""

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse
from starlette.middleware.trustedhost import TrustedHostMiddleware

from ncgnn import __version__
from ncgnn.errors import InputError
from ncgnn.explain import Counterfactual, NodeExplanation
from ncgnn.explain.counterfactual import MOST, What
from ncgnn.serve.answers import Answers, UnknownNode
from ncgnn.serve.schema import Found, Prediction, Problem, View

Node = Annotated[str, Query(description="id of a node")]
Class = Annotated[str | None, Query(alias="class", description="class to explain; default: the predicted one")]
Against = Annotated[str | None, Query(description="class to compare with, runner-up or others")]
Features = Annotated[bool, Query(description="split by feature too, which takes longer")]
Top = Annotated[int, Query(ge=1, le=1000, description="how many neighbours and features are named")]
Removed = Annotated[What, Query(description="what is taken away")]
Fewest = Annotated[int, Query(ge=1, le=50, description="how many are taken away at most")]
Gone = Annotated[list[str] | None, Query(description="ids of nodes, or names of features; repeatable")]
Search = Annotated[str, Query(description="part of an id or title; nothing: all nodes")]
Limit = Annotated[int, Query(ge=1, le=1000, description="how many nodes are named")]

_BAD: dict[int | str, dict[str, Any]] = {422: {"model": Problem, "description": "Bad input"}}
_UNKNOWN: dict[int | str, dict[str, Any]] = {404: {"model": Problem, "description": "No such node"}}


def make_app(answers: Answers, hosts: Sequence[str]) -> FastAPI:
    """The interface of one model and graph, for requests to these host names alone: a page from elsewhere whose name
    is made to lead here names itself."""
    # FastAPI's own pages about the interface load scripts from elsewhere
    app = FastAPI(title=f"ncgnn: {answers.name}", version=__version__, docs_url=None, redoc_url=None)
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=list(hosts), www_redirect=False)
    app.add_exception_handler(UnknownNode, _unknown_node)
    app.add_exception_handler(InputError, _bad_input)
    app.add_exception_handler(RequestValidationError, _invalid)
    _add_routes(app, answers)
    return app


def _add_routes(app: FastAPI, answers: Answers) -> None:
    api = APIRouter(prefix="/api", dependencies=[Depends(_check_parameters)], responses=_BAD)

    @app.get("/", include_in_schema=False)
    def page() -> HTMLResponse:
        return HTMLResponse(answers.page)

    @api.get("/predict", responses=_UNKNOWN)
    def predict(node: Node) -> Prediction:
        """The prediction for a node."""
        return answers.predict(node)

    @api.get("/explain", responses=_UNKNOWN)
    def explain(
        node: Node, target: Class = None, against: Against = None, features: Features = False, top: Top = 16
    ) -> NodeExplanation:
        """Why a node is predicted as it is: parts that add up to the score."""
        return answers.explain(node, target, against, features, top)

    @api.get("/view", responses=_UNKNOWN)
    def view(node: Node) -> View:
        """A node as the page draws it."""
        return View.model_validate(answers.view(node))

    @api.get("/what-if", responses=_UNKNOWN)
    def what_if(node: Node, what: Removed = "neighbours", most: Fewest = MOST) -> Counterfactual:
        """The fewest neighbours, links or features without which a node's class would be another."""
        return answers.what_if(node, what, most)

    @api.get("/without", responses=_UNKNOWN)
    def without(node: Node, neighbours: Gone = None, features: Gone = None) -> Prediction:
        """The prediction for a node if these neighbours, or features of its own, were not there."""
        return answers.without(node, neighbours or [], features or [])

    @api.get("/nodes")
    def nodes(search: Search = "", limit: Limit = 20) -> Found:
        """Nodes whose ids or titles contain a text, with their predictions."""
        return answers.search(search, limit)

    app.include_router(api)


_REPEATED = ("neighbours", "features")


def _check_parameters(request: Request) -> None:
    """A parameter that is misspelt or given twice would be ignored without a word."""
    known = [parameter.alias for parameter in request.scope["route"].dependant.query_params]
    for name in request.query_params:
        if name not in known:
            raise InputError(f"unknown parameter {name!r}; known: {', '.join(known)}")
        if name not in _REPEATED and len(request.query_params.getlist(name)) > 1:
            raise InputError(f"parameter {name!r} is given more than once")


def _unknown_node(request: Request, error: Exception) -> JSONResponse:
    return _problem(404, str(error))


def _bad_input(request: Request, error: Exception) -> JSONResponse:
    return _problem(422, str(error))


def _invalid(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    return _problem(422, f"{first['loc'][-1]}: {first['msg']}")


def _problem(status: int, detail: str) -> JSONResponse:
    return JSONResponse(Problem(detail=detail).model_dump(), status)
