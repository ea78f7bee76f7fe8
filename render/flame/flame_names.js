// flame_names.js - shared by graphs and reports: names in narrow places and in links.

// Without the mark of its kind; what has no name in [vdso] is [vdso], too.
function labelOf(name) {
	return name.replace(/_\[[kjiw]\]$/, "").replace(/^\[(\[.*\])\]$/, "$1");
}

// A frame's label in so many characters, as name_fit (simplify.h).
function fitName(frame, room) {
	const label = Array.from(frames.label[frame]), short = label.length <= room ? label : Array.from(frames.short[frame]);
	const own = frames.own[frame], isWhole = own && own < room;
	const last = own + (isWhole && short[short.length - own - 1] === ":" && room > own + 5 ? 2 : 0);
	if (short.length <= room)
		return short.join("");
	return isWhole ? [...short.slice(0, room - last - 1), "\u2026", ...short.slice(-last)].join("") :
		[...short.slice(own ? -own : 0).slice(0, room - 1), "\u2026"].join("");
}

// What stands for a name in links: a long one's hash.
const NAME_IN_LINK = 40;

function nameId(name) {
	if (name.length <= NAME_IN_LINK)
		return name;
	let hash = 0x811c9dc5; // FNV-1a
	for (let i = 0; i < name.length; i++)
		hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193) >>> 0;
	return "~" + hash.toString(36) + "." + name.length;
}

function nameOf(id) {
	const label = id[0] === "~" && frames.label.find((name) => name.length > NAME_IN_LINK && nameId(name) === id);
	return label || id;
}
