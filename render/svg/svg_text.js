// svg_text.js - shared by pictures and reports: numbers and times as text, binary search.

// As units_duration (units.c).
function timeText(ns) {
	const a = Math.round(Math.abs(ns));
	const [unit, name] = a < 1e3 ? [1, "ns"] : a < 999500 ? [1e3, "us"] :
		a < 999500000 ? [1e6, "ms"] : [1e9, "s"];
	const tenths = Math.round(a / (unit / 10));
	const digits = unit > 1 && tenths < 1000 ? 1 : 0;
	return (ns < 0 ? "-" : "") + (digits ? tenths / 10 : Math.round(a / unit)).toFixed(digits) + " " + name;
}

// A time on an axis, with the digits that its steps need.
function tickText(t, step) {
	const units = [[1e9, "s"], [1e6, "ms"], [1e3, "us"], [1, "ns"]];
	const [ns, name] = units.find(([u]) => step >= u / 10) || units[3];
	const text = (Math.abs(t) / ns).toFixed(step < ns ? 1 : 0).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
	return (t < 0 ? "\u2212" : "") + text + " " + name;
}

// The first of low ... high - 1 for which `is` is true, as for all after it; high: none.
function firstWhere(low, high, is) {
	while (low < high) {
		const mid = (low + high) >> 1;
		if (is(mid))
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}
