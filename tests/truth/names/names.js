// names.js - as native.c, in Node: LOG SECONDS. The first half second, in which code is compiled, is not logged.
'use strict';
const fs = require('fs');
let sink = 0;

function leafOne() {
	for (let i = 0; i < 200000; i++)
		sink = (sink * 31 + i) | 0;
}

function leafTwo() {
	for (let i = 0; i < 200001; i++)
		sink = (sink * 33) ^ i;
}

function outerOne() { leafOne(); sink++; }

function outerTwo() { leafTwo(); sink += 2; }

function phase(one, from) {
	while (process.hrtime.bigint() < from + 20000000n) {
		if (one)
			outerOne();
		else
			outerTwo();
	}
}

const lines = [];
const begin = process.hrtime.bigint(), end = begin + BigInt(Math.round(1e9 * (Number(process.argv[3]) + 0.5)));
for (let i = 0; process.hrtime.bigint() < end; i++) {
	const from = process.hrtime.bigint();
	phase(i % 2 === 0, from);
	if (from > begin + 500000000n)
		lines.push(`${process.pid} ${from} ${process.hrtime.bigint()} phase;${i % 2 ? 'outerTwo;leafTwo' : 'outerOne;leafOne'}\n`);
}
fs.appendFileSync(process.argv[2], lines.join(''));
