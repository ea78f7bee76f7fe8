"""tail_schema.py FILE.json: `perfkit tail --json`, schema 1: every key, every type, every sum."""
import json
import sys

POPULATION = """count threshold_ns selected suspect open unknown idle_hidden idle_hidden_ns
system_hidden p50_ns p90_ns p99_ns p999_ns p9999_ns max_ns p999_with_suspect_ns""".split()
EPISODE = """rank name key pid tid end_tid comm start_ns end_ns duration_ns run_ns blocked_ns
runnable_ns preempted_ns unknown_ns blocked_by cause state cpu stack waker corunners samples chain
root suspect open missing""".split()
CAUSES = """lock rwlock semaphore cond join barrier futex sleep poll net pipe io fault child signal
throttle preempt runqueue yield stopped exit unknown""".split()
STATES = "running blocked runnable preempted unknown".split()

d = json.load(open(sys.argv[1]), parse_constant=lambda c: sys.exit(f"not JSON: {c}"))


def need(cond, what):
    if not cond:
        sys.exit(f"{sys.argv[1]}: {what}")


def keys(o, names, where):
    need(not set(names) - set(o), f"{where} lacks {set(names) - set(o)}")


def texts(v, where):
    need(isinstance(v, list) and all(isinstance(x, str) for x in v), f"{where} is no list of texts")


keys(d, "schema recording by span population groups episodes".split(), "top")
need(d["schema"] == 1, "schema")
keys(d["recording"], "file host origin_ns clock duration_ns".split(), "recording")
need(isinstance(d["recording"]["origin_ns"], str) and int(d["recording"]["origin_ns"]) > 0, "origin")
need(d["by"] in ("wait", "span", "activation"), "by")
p = d["population"]
keys(p, POPULATION, "population")
ranks = [p[k] for k in ("p50_ns", "p90_ns", "p99_ns", "p999_ns", "p9999_ns", "max_ns")
         if p[k] is not None]
need(ranks == sorted(ranks), "percentiles are not ascending")
need(sum(g["count"] for g in d["groups"]) == len(d["episodes"]), "groups do not hold all episodes")
need(abs(sum(g["share"] for g in d["groups"]) - (1 if d["groups"] else 0)) < 1e-3, "shares")
for i, e in enumerate(d["episodes"]):
    w = f"episode {i + 1}"
    keys(e, EPISODE, w)
    need(e["rank"] == i + 1, w + ": rank")
    need(e["end_ns"] - e["start_ns"] == e["duration_ns"], w + ": duration")
    need(e["run_ns"] + e["blocked_ns"] + e["runnable_ns"] + e["unknown_ns"] == e["duration_ns"],
         w + ": parts do not sum up")
    need(e["preempted_ns"] <= e["runnable_ns"], w + ": preempted")
    need(sum(b["ns"] for b in e["blocked_by"]) == e["blocked_ns"], w + ": blocked_by")
    need(all(b["cause"] in CAUSES for b in e["blocked_by"]), w + ": cause names")
    need(e["state"] in STATES and (e["cause"] in CAUSES or e["state"] == "running"), w + ": state")
    need(not i or e["duration_ns"] <= d["episodes"][i - 1]["duration_ns"], w + ": order")
    need(sum(c["ns"] for c in e["corunners"]) <= e["runnable_ns"], w + ": co-runners")
    texts(e["stack"], w)
    texts(e["missing"], w)
    need(e["chain"], w + ": no chain")
    keys(e["root"], "tid comm cause function ns".split(), w + " root")
    need(e["chain"][-1]["tid"] == e["root"]["tid"], w + ": the root is not the chain's end")
    for a, b in zip([{"ns": e["duration_ns"]}] + e["chain"], e["chain"]):
        keys(b, "tid comm state cause ns stack".split(), w + " link")
        need(b["ns"] <= a["ns"], w + ": a link explains more than the one before it")
        need(b["state"] in STATES, w + ": link state")
    if e["waker"]:
        keys(e["waker"], "tid pid comm context stack".split(), w + " waker")
print(len(d["episodes"]), "episodes,", p["count"], "in the population")
