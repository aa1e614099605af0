"""Tools and calls in the shapes of model vendors."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace as Made
from typing import Any

import pytest

from toolplane import Toolplane, Worker
from toolplane.formats import shapes

SAFE = {"destructive": False, "open_world": False, "concurrency_safe": True, "idempotent": True}
ARGS = {"city": "Ulm"}
TEXT = json.dumps(ARGS)


def chat(name: str, args: str) -> dict[str, Any]:
    return {"id": "call_1", "type": "function", "function": {"name": name, "arguments": args}}


def objects(value: Any) -> Any:
    """Dicts as the objects a vendor's package has."""
    if isinstance(value, dict):
        return Made(**{key: value if key in ("input", "args") else objects(value) for key, value in value.items()})
    return [objects(one) for one in value] if isinstance(value, list) else value


# A response of each vendor with one call in it.
RESPONSES: dict[str, Any] = {
    "openai": lambda name, args: {
        "output": [
            {"type": "reasoning", "id": "rs_1"},
            {"type": "function_call", "call_id": "call_1", "name": name, "arguments": json.dumps(args)},
        ]
    },
    "openai_chat": lambda name, args: {
        "choices": [{"message": {"role": "assistant", "content": None, "tool_calls": [chat(name, json.dumps(args))]}}]
    },
    "anthropic": lambda name, args: {
        "role": "assistant",
        "content": [{"type": "text", "text": "Let me see."}, {"type": "tool_use", "id": "toolu_1", "name": name, "input": args}],
    },
    "gemini": lambda name, args: {"candidates": [{"content": {"parts": [{"functionCall": {"name": name, "args": args}}]}}]},
}


@pytest.mark.parametrize("vendor", RESPONSES)
@pytest.mark.parametrize("form", [dict, objects], ids=["dict", "object"])
def test_calls_are_found_in_every_response(vendor: str, form: Any) -> None:
    [call], single = shapes.calls(form(RESPONSES[vendor]("weather__now", ARGS)))
    assert not single and call.shape == vendor and call.alias == "weather__now"
    given = shapes.arguments(call)
    assert (json.loads(given) if isinstance(given, bytes) else given) == ARGS


def test_a_single_call_is_one_and_nothing_is_nothing() -> None:
    for call in (
        {"type": "function_call", "call_id": "c", "name": "a", "arguments": "{}"},
        chat("a", "{}"),
        {"type": "tool_use", "id": "t", "name": "a", "input": {}},
        {"functionCall": {"name": "a", "args": {}}},
        {"name": "a", "args": {}},
    ):
        assert shapes.calls(call)[1]
    assert shapes.calls({"output": [{"type": "message"}]}) == ([], False)
    assert shapes.calls({"role": "assistant", "content": [{"type": "text", "text": "hi"}]}) == ([], False)
    with pytest.raises(TypeError):
        shapes.calls("call a tool")


def test_arguments_in_text_keep_their_bytes() -> None:
    text = '{ "n":123456789012345678901234567890 , "f":1.10 }'
    [call], _ = shapes.calls(chat("a", text))
    assert shapes.arguments(call) == text.encode()
    assert shapes.arguments(shapes.calls(chat("a", ""))[0][0]) == {}


# === against a cluster ===


@pytest.fixture(scope="module")
def served(endpoint: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    worker = Worker(f"pytest.{uuid.uuid4().hex[:8]}", data_dir=tmp_path_factory.mktemp("w"))

    @worker.tool(**SAFE)
    def now(city: str) -> dict[str, str]:
        """Tells the weather of a city."""
        return {"city": city, "sky": "blue"}

    @worker.tool(**SAFE)
    def fails(city: str = "") -> str:
        """Fails."""
        raise RuntimeError("no weather today")

    with worker:
        yield worker


@pytest.fixture
def inside(served: Worker, tools: Toolplane) -> Toolplane:
    """A client that sees only these tools."""
    return tools.surface(namespaces=[served.namespace])


def offered(tools: Toolplane, vendor: str, **settings: Any) -> list[str]:
    found = getattr(tools, f"for_{vendor}")(**settings)
    if vendor == "gemini":
        found = found[0]["functionDeclarations"]
    return [(one.get("function") or one)["name"] for one in found]


@pytest.mark.parametrize("vendor", RESPONSES)
def test_a_loop_with_every_vendor(served: Worker, inside: Toolplane, vendor: str) -> None:
    aliases = offered(inside, vendor)
    assert len(aliases) == 2 and all(re.fullmatch("[a-zA-Z_][a-zA-Z0-9_-]{0,63}", alias) for alias in aliases)
    now = next(alias for alias in aliases if alias.endswith("__now"))
    fails = next(alias for alias in aliases if alias.endswith("__fails"))
    [good] = inside.answer(RESPONSES[vendor](now, ARGS))
    [bad] = inside.answer(RESPONSES[vendor](fails, ARGS))
    [wrong] = inside.answer(RESPONSES[vendor](now, {"town": "Ulm"}))
    if vendor == "openai":
        assert good["type"] == "function_call_output" and good["call_id"] == "call_1"
        said, failed, refused = good["output"], bad["output"], wrong["output"]
    elif vendor == "openai_chat":
        assert good["role"] == "tool" and good["tool_call_id"] == "call_1"
        said, failed, refused = good["content"], bad["content"], wrong["content"]
    elif vendor == "anthropic":
        [good], [bad], [wrong] = good["content"], bad["content"], wrong["content"]
        assert good["tool_use_id"] == "toolu_1" and "is_error" not in good and bad["is_error"] and wrong["is_error"]
        said, failed, refused = good["content"], bad["content"], wrong["content"]
    else:
        [good], [bad], [wrong] = good["parts"], bad["parts"], wrong["parts"]
        assert good["functionResponse"]["name"] == now
        assert good["functionResponse"]["response"] == {"output": {"city": "Ulm", "sky": "blue"}}
        said = json.dumps(good["functionResponse"]["response"]["output"])
        failed, refused = (one["functionResponse"]["response"]["error"] for one in (bad, wrong))
    assert json.loads(said) == {"city": "Ulm", "sky": "blue"}
    assert "no weather today" in failed and "`/town`" in refused


def test_a_name_the_model_made_up_is_told_to_it(inside: Toolplane) -> None:
    item = inside.answer({"type": "tool_use", "id": "t", "name": "no__such", "input": {}})
    assert item["is_error"] and item["content"].count("no tool of this surface has that name") == 1


def test_a_failure_is_told_once_with_its_code_once(served: Worker, inside: Toolplane) -> None:
    fails = next(alias for alias in offered(inside, "anthropic") if alias.endswith("__fails"))
    item = inside.answer({"type": "tool_use", "id": "t", "name": fails, "input": {}})
    assert item["content"] == "RuntimeError: no weather today [exec.unspecified]"
    item = inside.answer({"type": "tool_use", "id": "t", "name": fails, "input": ["no", "object"]})
    assert item["content"].count("[input.schema_violation]") == item["content"].count("`model_input` must be of type `object`") == 1
    assert "``" not in item["content"]


def test_many_tools_hide_behind_a_search(served: Worker, tools: Toolplane) -> None:
    inside = tools.surface(namespaces=[served.namespace], defer="all")
    assert offered(inside, "anthropic", most=1) == ["tool_search"]
    assert {tool.search_hint for tool in inside.list()} == {"Tells the weather of a city", "Fails"}
    found = inside.answer({"type": "tool_use", "id": "t", "name": "tool_search", "input": {"query": "weather of a city"}})
    assert "is_error" not in found
    told = [tool["name"] for tool in json.loads(found["content"])["tools"]]
    now = next(name for name in told if name.endswith("__now"))
    assert set(offered(inside, "anthropic", most=1)) >= {"tool_search", now}
    good = inside.answer({"type": "tool_use", "id": "t", "name": now, "input": ARGS})
    assert json.loads(good["content"])["sky"] == "blue"
    assert inside.answer({"type": "tool_use", "id": "t", "name": "tool_search", "input": {}})["is_error"]
    refused = inside.answer({"type": "tool_use", "id": "t", "name": "tool_search", "input": {"query": "kind:nonsense"}})
    assert refused["is_error"] and "nonsense" in refused["content"]


def test_tools_are_exported_and_strict_calls_come_back(served: Worker, inside: Toolplane) -> None:
    made = inside.export("openai-responses", strict=True)
    [city] = [one for one in made.tools if one["name"].endswith("__fails")]
    assert city["strict"] and city["parameters"]["required"] == ["city"]
    assert [detail.alias for detail in made.details] == [one["name"] for one in made.tools]
    call = {"type": "function_call", "call_id": "c1", "name": city["name"], "arguments": '{"city":null}'}
    [mapped] = inside.map_calls({"output": [call]}, strict=True)
    assert (mapped.call_id, json.loads(mapped.args), mapped.name) == ("c1", {}, f"{served.namespace}.fails")
    [refused] = inside.map_calls({**call, "name": city["name"] + "x"})
    assert refused.refusal is not None and city["name"] in refused.refusal.similar_aliases
    assert [card.alias for card in inside.cards()] == [one["name"] for one in made.tools]
    assert inside.cards(max_tokens=1) == []
    inside.for_openai(strict=True)
    assert "no weather today" in inside.answer(call)["output"]


def test_langchain_takes_the_tools(inside: Toolplane) -> None:
    pytest.importorskip("langchain_core", reason="langchain-core is not installed")
    made = {tool.name.rsplit("__", 1)[1]: tool for tool in inside.for_langchain()}
    assert json.loads(made["now"].invoke(ARGS)) == {"city": "Ulm", "sky": "blue"}
    assert made["now"].args == {"city": {"type": "string"}}
    assert "no weather today" in made["fails"].invoke({})


def test_openai_agents_takes_the_tools(inside: Toolplane) -> None:
    pytest.importorskip("agents", reason="openai-agents is not installed")
    import asyncio

    made = {tool.name.rsplit("__", 1)[1]: tool for tool in inside.for_openai_agents()}
    assert made["now"].params_json_schema["required"] == ["city"]
    assert json.loads(asyncio.run(made["now"].on_invoke_tool(None, TEXT))) == {"city": "Ulm", "sky": "blue"}


SHARED = Path(__file__).resolve().parents[3] / "crates/toolplane-forms/tests/golden/shared"


@pytest.mark.parametrize(("shape", "view"), shapes.WORDS.items())
def test_answers_are_those_the_server_writes(shape: str, view: str) -> None:
    told = json.loads((SHARED / f"{view}.json").read_text("utf-8"))
    contracts = json.loads((SHARED / "tool-result.json").read_text("utf-8"))
    assert told.keys() == contracts.keys()
    compared = 0
    for name, theirs in told.items():
        body = said_in(theirs)
        if not isinstance(body, (str, dict)) or "parts" in theirs.get("functionResponse", {}):
            continue  # Pictures and files beside the text: a package gives texts alone.
        is_error = contracts[name]["status"] == "error"
        alias = theirs["functionResponse"]["name"] if shape == "gemini" else "any"
        text, value = (body, None) if isinstance(body, str) else ("", body)
        assert shapes.item(shapes.ModelCall(shape, "call_7", alias, TEXT), text, value, is_error) == theirs, name
        compared += 1
    assert compared > 8, compared


def said_in(told: dict[str, Any]) -> Any:
    """What a model is given, in any shape."""
    for key in ("output", "content"):
        if key in told:
            return told[key]
    [said] = told["functionResponse"]["response"].values()
    return said
