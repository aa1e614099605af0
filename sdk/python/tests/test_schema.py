"""Type hints and docstrings as declarations."""

from __future__ import annotations

import dataclasses
import datetime
import enum
from typing import Annotated, Any, Literal, Optional, TypedDict, Union

import pydantic
import pytest

from toolplane import Context, SetupError, Worker
from toolplane.worker import docstring
from toolplane.worker.schema import Schemas, as_json, convert


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclasses.dataclass
class Point:
    x: int
    y: float = 0.5


@dataclasses.dataclass
class Tree:
    name: str
    children: list[Tree] = dataclasses.field(default_factory=list)


class Options(TypedDict, total=False):
    limit: int
    color: Color


class Model(pydantic.BaseModel):
    size: Annotated[int, pydantic.Field(ge=1)]
    when: Optional[datetime.date] = None


CASES: list[tuple[Any, dict[str, Any], Any, Any]] = [
    (str, {"type": "string"}, "a", "a"),
    (int, {"type": "integer"}, 2**70, 2**70),
    (float, {"type": "number"}, 1, 1.0),
    (Optional[int], {"type": ["integer", "null"]}, None, None),
    (Union[int, list[str]], {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "string"}}]}, ["a"], ["a"]),
    (Literal["a", "b"], {"enum": ["a", "b"]}, "a", "a"),
    (Color, {"type": "string", "enum": ["red", "blue"]}, "blue", Color.BLUE),
    (list[Color], {"type": "array", "items": {"type": "string", "enum": ["red", "blue"]}}, ["red"], [Color.RED]),
    (set[int], {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}, [1, 2], {1, 2}),
    (dict[str, float], {"type": "object", "additionalProperties": {"type": "number"}}, {"a": 1}, {"a": 1.0}),
    (
        tuple[int, str],
        {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "minItems": 2, "maxItems": 2},
        [1, "a"],
        (1, "a"),
    ),
    (Annotated[int, "how many"], {"type": "integer", "description": "how many"}, 1, 1),
    (datetime.date, {"type": "string", "format": "date"}, "2026-11-25", datetime.date(2026, 11, 25)),
    (
        Point,
        {
            "type": "object",
            "properties": {"x": {"type": "integer"}, "y": {"type": "number", "default": 0.5}},
            "required": ["x"],
            "additionalProperties": False,
        },
        {"x": 1},
        Point(1, 0.5),
    ),
    (
        Options,
        {
            "type": "object",
            "properties": {"limit": {"type": "integer"}, "color": {"type": "string", "enum": ["red", "blue"]}},
            "required": [],
            "additionalProperties": False,
        },
        {"color": "red"},
        {"color": Color.RED},
    ),
]


@pytest.mark.parametrize(("hint", "schema", "value", "made"), CASES, ids=[str(case[0]) for case in CASES])
def test_a_hint_is_a_schema_and_makes_its_values(hint: Any, schema: dict[str, Any], value: Any, made: Any) -> None:
    assert Schemas().document(hint) == schema
    assert convert(hint, value) == made
    assert type(convert(hint, value)) is type(made)
    back = as_json(made)
    assert back == value or convert(hint, back) == made


def test_a_type_may_refer_to_itself() -> None:
    schema = Schemas().document(Tree)
    assert schema["$ref"] == "#/$defs/Tree"
    assert schema["$defs"]["Tree"]["properties"]["children"]["items"] == {"$ref": "#/$defs/Tree"}
    assert convert(Tree, {"name": "a", "children": [{"name": "b"}]}) == Tree("a", [Tree("b")])


def test_models_of_pydantic_are_what_pydantic_says() -> None:
    schema = Schemas().document(Model)
    assert schema["properties"]["size"]["minimum"] == 1
    assert convert(Model, {"size": 3, "when": "2026-01-02"}) == Model(size=3, when=datetime.date(2026, 1, 2))
    with pytest.raises(ValueError, match="greater than or equal"):
        convert(Model, {"size": 0})
    assert Schemas().document(Annotated[int, pydantic.Field(lt=5, description="few")]) == {
        "type": "integer", "exclusiveMaximum": 5, "description": "few",
    }  # fmt: skip


def test_docstrings_of_both_styles() -> None:
    def google(a: int, b: str) -> None:
        """Does a thing.

        More about it.

        Args:
            a: The first,
                on two lines.
            b (str): The second.

        Returns:
            Nothing.
        """

    def fields(a: int) -> None:
        """Does a thing.

        :param a: the first
        :returns: nothing
        """

    assert docstring.read(google) == (
        "Does a thing.\n\nMore about it.", {"a": "The first, on two lines.", "b": "The second."},
    )  # fmt: skip
    assert docstring.read(fields) == ("Does a thing.", {"a": "the first"})


def worker() -> Worker:
    return Worker("acme", endpoint="http://127.0.0.1:1")


def test_a_function_is_declared_as_its_hints_and_words_say() -> None:
    made = worker()

    @dataclasses.dataclass
    class Local:
        n: int

    @made.tool(read_only=True, idempotent=True, risk="low", timeout=1.5, sensitive=["/key"])
    def find(text: str, where: Local, ctx: Context, key: str = "", limit: Annotated[int, "most"] = 3) -> list[Point]:
        """Finds things.

        Args:
            text: What to find.
        """
        return []

    [tool] = made.tools
    assert tool.full_name == "acme.find" and tool.description == "Finds things." and tool.supports_cancel
    assert list(tool.input_schema["properties"]) == ["text", "where", "key", "limit"]
    assert tool.input_schema["required"] == ["text", "where"]
    assert tool.input_schema["properties"]["text"] == {"type": "string", "description": "What to find."}
    assert tool.input_schema["properties"]["limit"] == {"type": "integer", "description": "most", "default": 3}
    assert tool.output_schema == Schemas().document(list[Point])
    document = tool.document()
    # What nobody said stays unknown.
    assert {key for key in document["interface"] if key.startswith("is_")} == {"is_read_only", "is_idempotent"}
    assert document["execution_profile"]["timeout_ms"] == 1500
    message = tool.registration()
    assert message.interface.is_read_only.known and not message.interface.HasField("is_destructive")
    assert message.declaration.input_contract.sensitive_fields == ["/key"]


def test_what_cannot_be_declared_is_refused_by_name() -> None:
    made = worker()
    with pytest.raises(SetupError, match="`thing`"):

        @made.tool
        def bad(thing: threading_lock) -> None:
            """Is bad."""

    with pytest.raises(SetupError, match="docstring"):

        @made.tool
        def silent(a: int) -> None: ...

    with pytest.raises(SetupError, match="`args`"):

        @made.tool
        def many(*args: int) -> None:
            """Takes many."""

    @made.tool
    def twice() -> None:
        """Is there."""

    with pytest.raises(SetupError, match="already"):
        made.tool(twice)


class threading_lock:  # noqa: N801
    """A type without a schema."""


@pytest.mark.parametrize(
    ("description", "hint"),
    [
        ("Finds things.", "Finds things"),
        ("Finds things, e.g. keys. Fast!", "Finds things, e.g. keys"),
        ("Finds\n   things\n\nand more", "Finds things"),
        ("Is version 1.5 done? Yes.", "Is version 1.5 done"),
        ("word " * 100, "word " * 38 + "word..."),
    ],
)
def test_the_first_sentence_is_what_a_search_shows(description: str, hint: str) -> None:
    made = worker()
    made.tool(lambda: None, name="one", description=description)
    [tool] = made.tools
    assert tool.registration().declaration.search_hint == tool.document()["declaration"]["search_hint"] == hint and len(hint) <= 200


def test_a_search_hint_may_be_said_otherwise() -> None:
    made = worker()
    made.tool(lambda: None, name="one", description="Finds things.", search_hint="look for keys and wallets")
    made.tool(lambda: None, name="two", description="Finds things.", search_hint="")
    assert [tool.search_hint for tool in made.tools] == ["look for keys and wallets", ""]


def test_a_word_of_a_section_may_be_what_a_tool_does() -> None:
    made = worker()

    @made.tool
    def raises(n: int) -> None:
        """Raises

        Args:
            n: How far.

        Raises
            Nothing.
        """

    @made.tool(description="Has a section first.")
    def first(n: int) -> None:
        """Args:
            n: How far.
        Returns:
            Nothing.
        """

    assert made.tools[0].description == "Raises"
    for tool in made.tools:
        assert tool.input_schema["properties"]["n"]["description"] == "How far."
