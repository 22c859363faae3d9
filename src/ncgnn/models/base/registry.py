"""Registry of models by name: modules of ``ncgnn.models``, entry points, and the user's own."""

import pkgutil
import re
from functools import cache
from importlib import import_module, resources
from importlib.metadata import EntryPoint, entry_points
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from ncgnn.errors import InputError
from ncgnn.text import did_you_mean

if TYPE_CHECKING:
    from ncgnn.models.base.model import AnyModel

ENTRY_POINTS = "ncgnn.models"
_NO_MODEL = ("base", "presets")
_OWN: dict[str, "AnyModel"] = {}
_PATHS: dict[str, str] = {}  # where models that were imported come from


def model_names() -> list[str]:
    """The names of all models, without loading any."""
    return sorted({*_packaged(), *_installed(), *_OWN})


def find_model(name: str) -> "AnyModel":
    """The :class:`~ncgnn.models.Model` with this name."""
    if name in _OWN:
        return _OWN[name]
    if name in _packaged():
        return _instance(import_module(f"ncgnn.models.{_packaged()[name]}").MODEL, name)
    if name in _installed():
        return _loaded(_installed()[name])
    known = f"known: {', '.join(model_names())}"
    raise InputError(f"unknown model {name!r}; {did_you_mean(name, model_names(), known)}", "model")


def register(model: Any) -> Any:
    """Register your own model by name in this process. Returns the model; also works as a class decorator."""
    found = _instance(model, str(model))
    if found.name in _packaged():
        raise InputError(f"{found.name!r} is a model of ncgnn: choose another name")
    _OWN[found.name] = found
    _PATHS[found.name] = f"{type(found).__module__}:{type(found).__qualname__}"
    return model


def import_model(path: str) -> "AnyModel":
    """Register the model at ``package.module:Name``, a class or an instance, and return it. Runs the module's code."""
    module, _, name = path.partition(":")
    try:
        found = attrgetter(name)(import_module(module))
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError(f"{path}: no such model ({error}); write package.module:Name") from None
    except Exception as error:  # whatever the user's module does when it is imported
        raise InputError(f"{path}: importing {module} failed ({type(error).__name__}: {error})") from error
    model = _instance(found, path)
    register(model)
    _PATHS[model.name] = path
    return model


def reference(name: str) -> str:
    """What :func:`resolve` takes in another process: the name, or the path of a model that was imported."""
    return _PATHS.get(name, name)


def resolve(reference: str) -> "AnyModel":
    """The model of a name or of a path ``package.module:Name``; one that is registered is not imported again."""
    known = next((name for name, path in _PATHS.items() if path == reference and name in _OWN), reference)
    return import_model(known) if ":" in known else find_model(known)


def all_models() -> list["AnyModel"]:
    return [find_model(name) for name in model_names()]


@cache
def _packaged() -> dict[str, str]:
    """Names and modules."""
    folder = [str(resources.files("ncgnn.models"))]
    modules = [module.name for module in pkgutil.iter_modules(folder) if module.name not in _NO_MODEL]
    return {name.replace("_", "-"): name for name in modules}


@cache
def _installed() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=ENTRY_POINTS)}


def _loaded(point: EntryPoint) -> "AnyModel":
    try:
        model = _instance(point.load(), point.value)
    except Exception as error:  # whatever another package does when it is imported
        raise InputError(f"entry point {point.name}: {error}") from error
    if model.name != point.name:
        raise InputError(f"entry point {point.name}: its model is called {model.name!r}: name both alike")
    return model


def _instance(found: Any, path: str) -> "AnyModel":
    from ncgnn.models.base.model import Model

    is_class = isinstance(found, type) and issubclass(found, Model)
    kind = found if is_class else type(found)
    if not issubclass(kind, Model):
        raise InputError(f"{path}: not a model: derive it from ncgnn.models.Model")
    missing = [key for key in ("name", "title", "settings_class") if not hasattr(kind, key)]
    missing += sorted(kind.__abstractmethods__)
    if missing:
        raise InputError(f"{path}: the model lacks {', '.join(missing)}")
    if not re.fullmatch(r"[\w.-]+", kind.name):
        raise InputError(f"{path}: a model's name has letters, digits, dots and hyphens, not {kind.name!r}")
    model: Model[Any] = found() if is_class else found
    return model
