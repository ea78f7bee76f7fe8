# What pictures compute twice, in C and in their scripts, is one formula: tests/prog/formulas.c
# makes the table, and the scripts' functions give each line of it again.
command -v node >/dev/null || { echo "node is not installed"; exit 77; }
"$O/tests/prog/formulas" >want || exit 1
[ "$(wc -l <want)" -gt 500 ] || { echo "a short table"; exit 1; }
{
	echo '"use strict"; const conf = {};'
	cat "$SRC/render/svg/svg_text.js" "$SRC/render/flame/flame_draw.js"
	cat <<'JS'
const one = {
	duration: (ns) => timeText(Number(ns)),
	delta: (i) => deltaColor(i / 48).slice(1),
	ipc: (i) => ipcColor(i / 48).slice(1),
	heat: (rgb, i) => heatColor("#" + rgb, i / 48).slice(1),
	below: (rgb, own) => belowCause("#" + rgb, "#" + own).slice(1),
};
for (const line of require("fs").readFileSync("want", "utf8").split("\n").filter((x) => x)) {
	const [name, ...args] = line.split(" = ")[0].split(" ");
	console.log(name + " " + args.join(" ") + " = " + one[name](...args));
}
JS
} >formulas.js
node formulas.js >got || exit 1
diff want got | head -20
cmp -s want got || exit 1

# Several runs: only what chance does not explain is coloured, by the picture and by its script alike.
for i in 1 2 3 4 5 6; do
	printf 'main;hot %d.5\nmain;noisy %d\nmain;rest 500\ngone;x 40\n' $((300 + i)) $((200 + i * 37 % 50)) >b$i.folded
	printf 'main;hot %d\nmain;noisy %d\nmain;rest 500\n' $((390 + i)) $((205 + i * 31 % 50)) >a$i.folded
done
"$PERFKIT" svg -q --diff b*.folded -- a*.folded -o runs.svg || exit 1
{
	echo '"use strict"; const file = require("fs").readFileSync("runs.svg", "utf8");'
	sed -n '/^function readSettings/,/^}/p; /^function readNumbers/,/^}/p' "$SRC/render/svg/svg_common.js"
	cat "$SRC/render/svg/svg_text.js" "$SRC/render/flame/flame_merge.js" "$SRC/render/flame/flame_tree.js" \
		"$SRC/render/flame/flame_draw.js"
	cat <<'JS'
function element(name) {
	const m = file.match(new RegExp("<" + name + ">([^]*?)</" + name + ">"));
	return m ? m[1] : "";
}
const conf = readConf(), frames = readFrames(), tree = readTree(conf.two);
tree.gone = tree.frame.findIndex((f) => frames.kind[f] === KIND.gone);
const drawn = {}, changed = {}, leaf = fromLeaf(tree, frames);
for (const m of file.matchAll(/<title>([^ <]+|\[only before\]) \(([^<]*)\)[^]*?fill="(#[0-9a-f]+)"/g)) {
	drawn[m[1]] = m[3];
	changed[m[1]] = m[2].includes("; changed;");
}
for (let i = 0; i < tree.n; i++) {
	const name = frames.label[tree.frame[i]];
	if (drawn[name] !== colorOf(tree, i))
		console.log(name + ": " + drawn[name] + " is drawn, the script has " + colorOf(tree, i));
}
const grey = deltaColor(0), want = {hot: 1, rest: 1, x: 1, noisy: 0};
for (const name in want) {
	if (changed[name] !== !!want[name] || (drawn[name] !== grey) !== !!want[name])
		console.log(name + ": " + changed[name] + ", " + drawn[name]);
	const i = leaf.frame.findIndex((f, i) => leaf.depth[i] === 1 && frames.label[f] === name);
	if ((colorOf(leaf, i) !== grey) !== !!want[name])
		console.log(name + " from the leaf: " + colorOf(leaf, i));
}
console.log("done");
JS
} >runs.js
node runs.js >said
[ "$(cat said)" = "done" ] || { cat said; exit 1; }
