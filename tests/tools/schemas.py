#!/usr/bin/env python3
"""schemas.py check SCHEMA FILE... - are the JSON files as the schema says? Knows the words of JSON Schema that
docs/schema uses; with the package jsonschema, that is asked, too.
schemas.py make TITLE FILE... - print a schema that all the files follow, to begin a new one from."""
import json, sys

TYPES = {dict: "object", list: "array", str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}


def of(x):
    s = {"type": [TYPES[type(x)]]}
    if isinstance(x, dict):
        s["properties"] = {k: of(v) for k, v in x.items()}
        s["required"] = sorted(x)
    elif isinstance(x, list):
        for e in x:
            s["items"] = merged(s["items"], of(e)) if "items" in s else of(e)
    return s


def merged(a, b):
    s = {"type": sorted(set(a["type"]) | set(b["type"]))}
    if "number" in s["type"] and "integer" in s["type"]:
        s["type"].remove("integer")
    if "properties" in a and "properties" in b:
        keys = list(a["properties"]) + [k for k in b["properties"] if k not in a["properties"]]
        s["required"] = sorted(set(a["required"]) & set(b["required"]))
    elif "properties" in a or "properties" in b:
        o = a if "properties" in a else b
        keys, s["required"] = list(o["properties"]), o["required"]
    else:
        keys = None
    if keys is not None:
        x, y = a.get("properties", {}), b.get("properties", {})
        s["properties"] = {k: merged(x[k], y[k]) if k in x and k in y else x.get(k) or y[k] for k in keys}
    if "items" in a and "items" in b:
        s["items"] = merged(a["items"], b["items"])
    elif "items" in a or "items" in b:
        s["items"] = a.get("items") or b["items"]
    return s


def finished(s):
    if s["type"] == ["null"]: # what else it may be is not known
        return {}
    out = {"type": s["type"][0] if len(s["type"]) == 1 else s["type"]}
    if "properties" in s:
        out["properties"] = {k: finished(v) for k, v in s["properties"].items()}
        out["required"] = s["required"]
        out["additionalProperties"] = False
    if "items" in s:
        out["items"] = finished(s["items"])
    return out


def is_a(x, t):
    return t == TYPES[type(x)] or (t == "number" and type(x) is int)


def wrong(s, x, at="$"):
    if "type" not in s:
        return []
    types = s["type"] if isinstance(s["type"], list) else [s["type"]]
    if not any(is_a(x, t) for t in types):
        return ["%s is %s, not %s" % (at, TYPES[type(x)], types)]
    out = []
    if isinstance(x, dict) and "properties" in s:
        out += ["%s lacks %s" % (at, k) for k in s.get("required", []) if k not in x]
        for k, v in x.items():
            if k in s["properties"]:
                out += wrong(s["properties"][k], v, "%s.%s" % (at, k))
            elif not s.get("additionalProperties", True):
                out.append("%s has %s, which the schema lacks" % (at, k))
    if isinstance(x, list) and "items" in s:
        for i, e in enumerate(x):
            out += wrong(s["items"], e, "%s[%d]" % (at, i))
    return out


def main():
    what, name, files = sys.argv[1], sys.argv[2], sys.argv[3:]
    if what == "make":
        s = None
        for f in files:
            x = of(json.load(open(f)))
            s = merged(s, x) if s else x
        s = finished(s)
        s["properties"]["left_out"] = {"type": "object", "properties": {
            k: {"type": t} for k, t in (("rows", "integer"), ("parts", "integer"), ("all", "boolean"), ("command", "string"))},
            "required": ["command"], "additionalProperties": False}
        print(json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", "title": name, **s}, indent=1))
        return 0
    schema, bad = json.load(open(name)), 0
    try:
        import jsonschema
    except ImportError:
        jsonschema = None
    for f in files:
        x = json.load(open(f))
        if set(x) == {"left_out"}: # all of it was left out
            continue
        errors = wrong(schema, x)
        if jsonschema and not errors:
            jsonschema.Draft202012Validator.check_schema(schema)
            errors = [e.message for e in jsonschema.Draft202012Validator(schema).iter_errors(x)]
        for e in errors[:5]:
            print("%s: %s" % (f, e))
        bad |= bool(errors)
    return bad


sys.exit(main())
