"""svg_geometry.py OURS THEIRS - do two flame graphs put the same boxes at the same places?

OURS is perfkit's (boxes below 2 px are strokes of a <path>), THEIRS flamegraph.pl's. Compared
are depth, x and width of every box, and the names of those that carry one.
"""
import re
import sys
import xml.dom.minidom


def rects(path):
    doc = xml.dom.minidom.parse(path)
    out = []
    for g in doc.getElementsByTagName("g"):
        title = [c for c in g.childNodes if c.nodeName == "title"]
        rect = [c for c in g.childNodes if c.nodeName == "rect"]
        if title and rect and rect[0].hasAttribute("x"):
            r = rect[0]
            name = re.sub(r"_\[[kjiw]\]$", "", title[0].firstChild.data.rsplit(" (", 1)[0])
            out.append((float(r.getAttribute("y")), float(r.getAttribute("x")),
                        float(r.getAttribute("width")), name))
    return doc, out


def ours(path):
    doc, out = rects(path)
    for p in doc.getElementsByTagName("path"):
        half = float(p.getAttribute("stroke-width")) / 2
        for x, y, w in re.findall(r"M([\d.]+) ([\d.]+)h([\d.]+)", p.getAttribute("d")):
            out.append((float(y) - half, float(x), float(w), None))
    return out


def rows(boxes, inverted):
    ys = sorted({b[0] for b in boxes}, reverse=not inverted)
    depth = {y: i for i, y in enumerate(ys)}
    return [(depth[y], x, w, name) for y, x, w, name in boxes]


def key(box):
    return box[:3]


def main():
    inverted = "--inverted" in sys.argv
    a = sorted(rows(ours(sys.argv[1]), inverted), key=key)
    b = sorted(rows(rects(sys.argv[2])[1], inverted), key=key)
    if len(a) != len(b):
        print("%d boxes, flamegraph.pl has %d" % (len(a), len(b)))
        return 1
    bad = 0
    # Within a row boxes do not overlap, so they come in the same order; those less than the
    # rounding apart may tie, which the tolerance covers.
    for x, y in zip(a, b):
        same = x[0] == y[0] and abs(x[1] - y[1]) <= 0.11 and abs(x[2] - y[2]) <= 0.11
        if same and x[3] is not None and x[3] != y[3]:
            same = False
        if not same:
            bad += 1
            if bad <= 5:
                print("ours %r\ntheirs %r" % (x, y))
    print("%d boxes compared, %d differ" % (len(a), bad))
    return bad > 0


sys.exit(main())
