"""flame_folded.py SEED LINES [MAXDEPTH] - folded stacks of a made-up program: random walks over
a fixed call graph, unique and sorted, as a collapser writes them."""
import random
import sys

random.seed(int(sys.argv[1]))
count = int(sys.argv[2])
deepest = int(sys.argv[3]) if len(sys.argv) > 3 else 26
parts = ["tcp", "ext4", "vfs", "page", "slab", "net", "mm", "rb", "list", "sched", "json", "http",
         "parse", "db", "lru", "hash"]
verbs = ["read", "write", "alloc", "free", "lookup", "insert", "erase", "walk", "lock", "unlock",
         "init", "fini", "get", "put", "send", "recv", "poll", "wait", "copy", "fault"]
names = ["%s_%s%s" % (p, v, s) for p in parts for v in verbs
         for s in ("", "_slow", "_fast", "_locked", "-inl", "_[k]")]
names += ["std::vector_%s::%s" % (p, v) for p in parts for v in verbs]
random.shuffle(names)
calls = [[random.randrange(len(names)) for _ in range(random.choice([1, 2, 2, 3, 3, 4, 6]))]
         for _ in names]
seen = set()
while len(seen) < count:
    at = random.randrange(3)
    stack = ["worker-%d" % random.randrange(8), "_start", "main", names[at]]
    for _ in range(random.randint(4, deepest)):
        at = calls[at][min(int(random.expovariate(1.1)), len(calls[at]) - 1)]
        stack.append(names[at])
    seen.add(";".join(stack))
for stack in sorted(seen):
    print(stack, random.randint(1, 200))
