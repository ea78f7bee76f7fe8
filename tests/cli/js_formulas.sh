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
cmp -s want got
