"""From type hints to JSON Schema, and from JSON values to what the hints say.

Known are the plain types, `Any`, `None`, `Optional` and unions, `Literal`, enums, `list`, `tuple`, `set`, `dict`, dataclasses,
`TypedDict`, `Annotated` (a text in it is a description), dates, `UUID`, `Path`, `Decimal`, and models and fields of pydantic where
that is installed. Another hint is a `SetupError` that names it: nothing is guessed.
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import pathlib
import types
import typing
import uuid
from typing import Any, Literal, Union

from toolplane.errors import SetupError

try:
    import pydantic
    from pydantic.fields import FieldInfo
except ImportError:
    pydantic = None  # type: ignore[assignment]

_PLAIN: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    None: {"type": "null"},
    type(None): {"type": "null"},
    Any: {},
    object: {},
    list: {"type": "array"},
    tuple: {"type": "array"},
    set: {"type": "array", "uniqueItems": True},
    frozenset: {"type": "array", "uniqueItems": True},
    dict: {"type": "object"},
}
# Types that are texts in JSON: the format, and the way from a text.
_TEXTS: dict[Any, tuple[str, Any]] = {
    datetime.datetime: ("date-time", datetime.datetime.fromisoformat),
    datetime.date: ("date", datetime.date.fromisoformat),
    datetime.time: ("time", datetime.time.fromisoformat),
    uuid.UUID: ("uuid", uuid.UUID),
    pathlib.Path: ("", pathlib.Path),
    decimal.Decimal: ("", decimal.Decimal),
}
_ARRAYS = (list, tuple, set, frozenset)


def split(hint: Any) -> tuple[Any, list[Any]]:
    """A hint without its `Annotated`, and what was said there."""
    said: list[Any] = []
    while typing.get_origin(hint) is typing.Annotated:
        hint, *more = typing.get_args(hint)
        said = [*more, *said]
    return hint, said


class Schemas:
    """Makes the schemas of one document: types that refer to themselves go to its `$defs`."""

    def __init__(self) -> None:
        self._open: list[Any] = []
        self._recursive: set[Any] = set()
        self.defs: dict[str, Any] = {}

    def document(self, hint: Any) -> dict[str, Any]:
        """The whole schema of a hint."""
        schema = self.of(hint)
        return {**schema, "$defs": self.defs} if self.defs else schema

    def of(self, hint: Any) -> dict[str, Any]:
        """The schema of a hint. `SetupError` for one that has none."""
        inner, said = split(hint)
        if _is_pydantic(inner, said):
            return self._pydantic(hint)
        schema = self._plain(inner)
        notes = _notes(said)
        return {**schema, **notes} if notes else schema

    def _plain(self, hint: Any) -> dict[str, Any]:
        try:
            if hint in _PLAIN:
                return dict(_PLAIN[hint])
            if hint in _TEXTS:
                form = _TEXTS[hint][0]
                return {"type": "string", "format": form} if form else {"type": "string"}
        except TypeError:
            pass
        origin, args = typing.get_origin(hint), typing.get_args(hint)
        if origin is Literal:
            return {"enum": [value.value if isinstance(value, enum.Enum) else value for value in args]}
        if origin in (Union, types.UnionType):
            return _either([self.of(arg) for arg in args])
        if origin in _ARRAYS or origin in (typing.get_origin(typing.Sequence[int]), typing.get_origin(typing.Iterable[int])):
            return self._array(origin, args)
        if origin is dict or origin is typing.get_origin(typing.Mapping[str, int]):
            return {"type": "object", "additionalProperties": self.of(args[1])}
        if isinstance(hint, type) and issubclass(hint, enum.Enum):
            return _typed_enum([member.value for member in hint])
        if isinstance(hint, type) and (dataclasses.is_dataclass(hint) or typing.is_typeddict(hint)):
            return self._object(hint)
        raise SetupError(f"the type `{getattr(hint, '__name__', hint)}` has no JSON Schema; see toolplane.worker.schema")

    def _array(self, origin: Any, args: tuple[Any, ...]) -> dict[str, Any]:
        if origin is tuple and not (len(args) == 2 and args[1] is ...):
            items = [self.of(arg) for arg in args]
            return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
        schema = {"type": "array", "items": self.of(args[0])}
        return {**schema, "uniqueItems": True} if origin in (set, frozenset) else schema

    def _object(self, hint: Any) -> dict[str, Any]:
        name = hint.__name__
        if hint in self._open:
            self._recursive.add(hint)
            return {"$ref": f"#/$defs/{name}"}
        if name in self.defs and hint in self._recursive:
            return {"$ref": f"#/$defs/{name}"}
        self._open.append(hint)
        properties, required = {}, []
        for key, inner, is_required, default in members(hint):
            schema = self.of(inner)
            properties[key] = {**schema, "default": default} if default is not None else schema
            if is_required:
                required.append(key)
        self._open.pop()
        schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
        if hint in self._recursive:
            self.defs[name] = schema
            return {"$ref": f"#/$defs/{name}"}
        return schema

    def _pydantic(self, hint: Any) -> dict[str, Any]:
        schema = pydantic.TypeAdapter(hint).json_schema()
        self.defs.update(schema.pop("$defs", {}))
        return schema


def members(hint: Any) -> list[tuple[str, Any, bool, Any]]:
    """Name, hint, whether it is required, and the default as JSON, of each member of a dataclass or `TypedDict`."""
    hints = typing.get_type_hints(hint, include_extras=True)
    if typing.is_typeddict(hint):
        required = hint.__required_keys__
        return [(key, _unwrapped(inner), key in required, None) for key, inner in hints.items()]
    found = []
    for item in dataclasses.fields(hint):
        if item.init:
            is_required = item.default is dataclasses.MISSING and item.default_factory is dataclasses.MISSING
            default = as_json(item.default) if item.default is not dataclasses.MISSING else None
            found.append((item.name, hints[item.name], is_required, default))
    return found


def convert(hint: Any, value: Any) -> Any:
    """A JSON value as the hint says. `ValueError` or `TypeError` for one that cannot be that."""
    inner, said = split(hint)
    if _is_pydantic(inner, said):
        return pydantic.TypeAdapter(hint).validate_python(value)
    try:
        if inner in _TEXTS:
            return _TEXTS[inner][1](value)
    except TypeError:
        pass
    origin, args = typing.get_origin(inner), typing.get_args(inner)
    if origin in (Union, types.UnionType):
        return _first_that_fits(args, value)
    if origin is tuple and isinstance(value, list):
        kinds = [args[0]] * len(value) if len(args) == 2 and args[1] is ... else list(args)
        return tuple(convert(kind, one) for kind, one in zip(kinds, value, strict=True))
    if isinstance(value, list) and args and origin is not Literal:
        made = [convert(args[0], one) for one in value]
        return origin(made) if origin in (set, frozenset) else made
    if inner in (set, frozenset, tuple) and isinstance(value, list):
        return inner(value)
    if isinstance(value, dict) and len(args) == 2:
        return {key: convert(args[1], one) for key, one in value.items()}
    if inner is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if isinstance(inner, type) and issubclass(inner, enum.Enum):
        return inner(value)
    if isinstance(inner, type) and isinstance(value, dict) and (dataclasses.is_dataclass(inner) or typing.is_typeddict(inner)):
        kinds_of = {key: kind for key, kind, _, _ in members(inner)}
        return inner(**{key: convert(kinds_of[key], one) for key, one in value.items()})
    return value


def as_json(value: Any) -> Any:
    """A value of Python as JSON has it: dataclasses, models, enums, dates and the like included."""
    if value is None or isinstance(value, (str, bool, int, float)) and not isinstance(value, enum.Enum):
        return value
    if isinstance(value, enum.Enum):
        return as_json(value.value)
    if isinstance(value, (list, tuple, set, frozenset)):
        return [as_json(one) for one in value]
    if isinstance(value, dict):
        return {str(as_json(key)): as_json(one) for key, one in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {item.name: as_json(getattr(value, item.name)) for item in dataclasses.fields(value)}
    if pydantic is not None and isinstance(value, pydantic.BaseModel):
        return value.model_dump(mode="json", by_alias=True)
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, (uuid.UUID, pathlib.PurePath, decimal.Decimal)):
        return str(value)
    raise TypeError(f"a {type(value).__name__} has no form in JSON")


def _first_that_fits(kinds: tuple[Any, ...], value: Any) -> Any:
    for kind in kinds:
        if _could_be(split(kind)[0], value):
            try:
                return convert(kind, value)
            except (TypeError, ValueError):
                continue
    raise ValueError("fits none of the types it may have")


def _could_be(kind: Any, value: Any) -> bool:
    """Whether a JSON value has the type a hint wants at its top."""
    if kind in (None, type(None)):
        return value is None
    if kind is bool or isinstance(value, bool):
        return kind in (bool, Any) and isinstance(value, bool)
    if kind in (int, str):
        return isinstance(value, kind)
    if kind is float:
        return isinstance(value, (int, float))
    origin = typing.get_origin(kind)
    if origin is Literal:
        return value in typing.get_args(kind)
    if kind in _ARRAYS or origin in _ARRAYS:
        return isinstance(value, list)
    if kind in _TEXTS:
        return isinstance(value, str)
    if isinstance(kind, type) and (dataclasses.is_dataclass(kind) or typing.is_typeddict(kind)):
        return isinstance(value, dict) and {key for key, _, required, _ in members(kind) if required} <= value.keys()
    return value is not None


def _is_pydantic(hint: Any, said: list[Any]) -> bool:
    if pydantic is None:
        return False
    is_model = isinstance(hint, type) and issubclass(hint, pydantic.BaseModel)
    return is_model or any(isinstance(note, FieldInfo) for note in said)


# What packages for annotations call their bounds, and what JSON Schema does.
_BOUNDS = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum", "multiple_of": "multipleOf"}


def _notes(said: list[Any]) -> dict[str, Any]:
    """What the extras of an `Annotated` say: a text describes, a dict is schema, bounds are bounds."""
    notes: dict[str, Any] = {}
    for note in said:
        if isinstance(note, str):
            notes["description"] = note
        elif isinstance(note, dict):
            notes.update(note)
        for name, word in _BOUNDS.items():
            if (bound := getattr(note, name, None)) is not None:
                notes[word] = bound
    return notes


def _either(schemas: list[dict[str, Any]]) -> dict[str, Any]:
    simple = [schema["type"] for schema in schemas if set(schema) == {"type"}]
    return {"type": simple} if len(simple) == len(schemas) else {"anyOf": schemas}


def _typed_enum(values: list[Any]) -> dict[str, Any]:
    return {"type": "string", "enum": values} if all(isinstance(value, str) for value in values) else {"enum": values}


def _unwrapped(hint: Any) -> Any:
    """Without `Required` and `NotRequired`."""
    origin = typing.get_origin(hint)
    return typing.get_args(hint)[0] if getattr(origin, "_name", "") in ("Required", "NotRequired") else hint
