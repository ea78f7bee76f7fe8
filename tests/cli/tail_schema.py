"""tail_schema.py FILE.json: `perfkit tail --json`, schema 2: every key, every type, every sum."""
import json
import sys

POPULATION = """count threshold_ns selected suspect open unknown idle_hidden idle_hidden_ns
system_hidden idle_hidden_most system_hidden_ns threads processes too_few p50_ns p90_ns p99_ns p999_ns p9999_ns max_ns p999_with_suspect_ns bounds""".split()
EPISODE = """rank name key pid tid end_tid comm start_ns end_ns duration_ns low_ns high_ns run_ns interrupted_ns blocked_ns
runnable_ns preempted_ns throttled_ns unknown_ns blocked_by cause state cpu stack waker corunners
samples chain shares root suspect open missing function holder events verdict reason lock lock_name target disk""".split()
CAUSES = """lock rwlock semaphore cond join barrier futex sleep poll net pipe io fault child signal
throttle preempt runqueue yield stopped exit unknown""".split()
SITE = "shown_as program role cause function verdict reason loop count ns p50_ns max_ns max_open".split()
VERDICTS = "work idle unclear".split()
ROOT = "tid comm process mechanism cause function ns state pid via".split()
LINK = "tid comm state cause ns stack pid via prio next_ns function".split()
VIAS = "self waker owner cpu".split()
ENDS = """ran device timer network interrupt nobody open no_wakeup cycle depth gone others
quota timed_out suspect idle""".split()
STATES = "running blocked runnable preempted unknown".split()

d = json.load(open(sys.argv[1]), parse_constant=lambda c: sys.exit(f"not JSON: {c}"))


def need(cond, what):
    if not cond:
        sys.exit(f"{sys.argv[1]}: {what}")


def keys(o, names, where):
    need(not set(names) - set(o), f"{where} lacks {set(names) - set(o)}")


def texts(v, where):
    need(isinstance(v, list) and all(isinstance(x, str) for x in v), f"{where} is no list of texts")


def beat(b, where):
    if b is not None:
        keys(b, "ns fitting of".split(), where)
        need(0 < b["fitting"] <= b["of"] and b["ns"], where)


def holder(h, where):
    keys(h, "way tid comm function".split(), where)
    need(h["way"] in ("none", "queue", "cpu", "lock", "waker"), where + ": way")
    need((h["tid"] is None) == (h["way"] in ("none", "queue")), where + ": thread")


keys(d, """schema recording by span answer no_kernel_symbols population histogram recurrence slow_cycles group_by groups
unclear sites episodes""".split(), "top")
need(d["schema"] == 2, "schema")
keys(d["recording"], "file host origin_ns clock duration_ns".split(), "recording")
need(isinstance(d["recording"]["origin_ns"], str) and int(d["recording"]["origin_ns"]) > 0, "origin")
need(d["by"] in ("wait", "span", "activation"), "by")
if d["no_kernel_symbols"]:
    keys(d["no_kernel_symbols"], "count of spoils".split(), "no_kernel_symbols")
    need(0 < d["no_kernel_symbols"]["count"] <= d["no_kernel_symbols"]["of"], "no_kernel_symbols")
p = d["population"]
keys(p, POPULATION, "population")
ranks = [p[k] for k in ("p50_ns", "p90_ns", "p99_ns", "p999_ns", "p9999_ns", "max_ns")
         if p[k] is not None]
need(ranks == sorted(ranks), "percentiles are not ascending")
for k, (low, high) in p["bounds"].items():
    need(low <= high and (p[k] is None or low <= p[k] <= high), f"bounds of {k}")
need(sum(b["count"] for b in d["histogram"]) == p["count"], "the histogram does not hold all")
need(all(b["to_ns"] == (b["from_ns"] * 2 or 1) for b in d["histogram"]), "buckets do not double")
keys(d["unclear"], "count ns max_ns with_work".split(), "unclear")
both = d["unclear"]["with_work"]
keys(both, "count p50_ns p90_ns p99_ns p999_ns p9999_ns max_ns".split(), "unclear with work")
need(d["by"] != "wait" or both["count"] >= p["count"], "work and unclear waits are fewer than work")
for s in d["sites"]:
    keys(s, SITE, "site")
    need(s["verdict"] in VERDICTS and s["reason"] and s["cause"] in CAUSES, "site")
    need(s["shown_as"] == {"idle": "hidden"}.get(s["verdict"], s["verdict"]) or s["shown_as"] == "whole life" or (s["shown_as"], s["verdict"]) == ("likely", "unclear"), "site")
    need(s["p50_ns"] <= s["max_ns"] <= s["ns"] <= s["max_ns"] * s["count"], "site sums")
shown_as = lambda kind, what: sum(s[what] for s in d["sites"] if s["shown_as"] == kind)
need(shown_as("unclear", "ns") == d["unclear"]["ns"] and shown_as("hidden", "ns") == p["idle_hidden_ns"], "sites")
need(shown_as("unclear", "count") == d["unclear"]["count"], "sites")
keys(d["recurrence"], "occurrences together every pause held_up_by".split(), "recurrence")
for r in [d["recurrence"]] + d["recurrence"]["held_up_by"]:
    beat(r["every"], "every")
    beat(r["pause"], "pause")
slow = d["slow_cycles"]
if slow:
    keys(slow, "count alike comm ns run_ns function samples in_function mechanism without_cpu".split(), "slow_cycles")
    need(slow["run_ns"] <= slow["ns"] and slow["in_function"] <= slow["samples"], "slow_cycles: sums")
    need(slow["count"] / 2 < slow["alike"] <= slow["count"], "slow_cycles: alike")
need(d["group_by"] in "root holder stack cause thread comm".split(), "group_by")
for g in d["groups"]:
    keys(g, "root holder name count ns share".split(), "group")
    keys(g["root"], ROOT, "group root")
    holder(g["holder"], "group holder")
need(sum(g["count"] for g in d["groups"]) == len(d["episodes"]), "groups do not hold all episodes")
need(abs(sum(g["share"] for g in d["groups"]) - (1 if d["groups"] else 0)) < 1e-3, "shares")
for i, e in enumerate(d["episodes"]):
    w = f"episode {i + 1}"
    keys(e, EPISODE, w)
    need(e["rank"] == i + 1, w + ": rank")
    need(e["end_ns"] - e["start_ns"] == e["duration_ns"] >= e["low_ns"], w + ": duration")
    need(e["run_ns"] + e["blocked_ns"] + e["runnable_ns"] + e["unknown_ns"] == e["duration_ns"],
         w + ": parts do not sum up")
    need(e["interrupted_ns"] <= e["run_ns"], w + ": interrupted")
    need(e["throttled_ns"] <= e["preempted_ns"] <= e["runnable_ns"], w + ": preempted")
    need(sum(b["ns"] for b in e["blocked_by"]) == e["blocked_ns"], w + ": blocked_by")
    need(all(b["cause"] in CAUSES for b in e["blocked_by"]), w + ": cause names")
    need(e["state"] in STATES and (e["cause"] in CAUSES or e["state"] == "running"), w + ": state")
    need(not i or e["duration_ns"] <= d["episodes"][i - 1]["duration_ns"], w + ": order")
    need(sum(c["ns"] for c in e["corunners"]) <= e["runnable_ns"], w + ": co-runners")
    texts(e["stack"], w)
    need(e["verdict"] is None or e["verdict"] in VERDICTS and e["reason"], w + ": verdict")
    texts(e["missing"], w)
    need(e["chain"], w + ": no chain")
    root = e["root"]
    keys(root, ROOT + "samples parts corunners sentence".split(), w + " root")
    need(e["chain"][-1]["tid"] == root["tid"], w + ": the root is not the chain's end")
    need(root["via"] == e["chain"][-1]["via"] and root["sentence"], w + ": root")
    need(sum(x["ns"] for x in root["parts"]) == root["ns"] == e["chain"][-1]["ns"], w + ": root parts")
    for x in root["parts"]:
        need(x["end"] in ENDS or x["end"] is None and x["actor"], w + ": ends")
        need(not x["actor"] or 0 < x["actor"]["ns"] <= x["ns"], w + ": actors")
    sizes = [x["ns"] for x in root["parts"]]
    need(sizes == sorted(sizes, reverse=True), w + ": the largest part does not lead")
    need(sum(x["ns"] for x in e["shares"]) == e["duration_ns"], w + ": shares")
    need(not any(x["end"] == "suspect" for x in root["parts"][:1]) or e["suspect"], w + ": suspect")
    need(sum(c["ns"] for c in root["corunners"]) <= root["ns"], w + ": the root's co-runners")
    need(len(e["chain"]) > 1 or root["corunners"] == e["corunners"], w + ": co-runners of one")
    holder(e["holder"], w + " holder")
    need((e["holder"]["tid"] is None) == (len(e["chain"]) == 1), w + ": holder")
    need(len(e["chain"]) == 1 or e["holder"]["tid"] == e["chain"][1]["tid"], w + ": holder")
    for x in e["events"]:
        keys(x, "name count ns first_ns text".split(), w + " event")
        need(x["count"] and e["start_ns"] <= x["first_ns"] < e["end_ns"], w + ": event")
    for a, b in zip([{"ns": e["duration_ns"]}] + e["chain"], e["chain"]):
        keys(b, LINK, w + " link")
        need(b["via"] in VIAS and (b["via"] == "self") == (b is e["chain"][0]), w + ": via")
        need(b["ns"] <= a["ns"], w + ": a link explains more than the one before it")
        need(b["state"] in STATES, w + ": link state")
    for a, b in zip(e["chain"], e["chain"][1:] + [{"ns": 0}]):
        need(b["ns"] <= a["next_ns"] <= a["ns"], w + ": what the next link explains")
    if e["waker"]:
        keys(e["waker"], "tid pid comm context stack".split(), w + " waker")
print(len(d["episodes"]), "episodes,", p["count"], "in the population")
