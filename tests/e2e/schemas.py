"""JSON that sml-run has written, held against packaging/schemas.

For programs those leave room for keys that come later. Here each key must be known, so that none is written that no schema, and
so no program's author, knows of."""
import functools
import json

from harness import REPO

FOLDER = REPO / "packaging/schemas"


def schema(name):
    return json.loads((FOLDER / f"{name}.schema.json").read_text())


def closed(value):
    """The same schema without room for other keys."""
    if isinstance(value, list):
        return [closed(one) for one in value]
    if not isinstance(value, dict):
        return value
    out = {key: closed(inner) for key, inner in value.items()}
    if "object" in out.get("type", ()) and "properties" in out:
        out["additionalProperties"] = False
    return out


def of_event(whole, event):
    """The schema of an event is what all have, and what those of its name have."""
    rest, = (row["then"] for row in whole["allOf"] if row["if"]["properties"]["event"]["const"] == event)
    return {**{key: inner for key, inner in whole.items() if key != "allOf"}, "properties": whole["properties"] | rest["properties"],
            "required": whole["required"] + rest["required"]}


@functools.cache
def validator(name, event=None):
    import jsonschema
    whole = schema(name)
    return jsonschema.Draft202012Validator(closed(of_event(whole, event) if event else whole))


def checked(name, text):
    """The object that a text holds; an AssertionError tells where it is not as that schema says."""
    value = json.loads(text)
    try:
        found = list(validator(name, value["event"] if name == "event" else None).iter_errors(value))
    except ValueError:
        raise AssertionError(f"{name}: no event is called {value['event']}") from None
    if found:
        raise AssertionError(f"{name}: " + "; ".join(f"{error.json_path}: {error.message}" for error in found))
    return value


def checked_lines(name, text):
    return [checked(name, line) for line in text.splitlines()]
