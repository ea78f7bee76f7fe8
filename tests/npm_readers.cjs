// npm_readers.cjs FOLDER FORMAT FILE - what npm's readers count in an export: "pprof-format" decodes pprof,
// speedscope's own importer the other formats. Prints "samples ns", or "-" for what a format does not have.
// FOLDER has node_modules (make readers). speedscope is published as a page alone: its importer is taken out of the
// page's script, whose other half, which needs a browser, is let fail.
'use strict';
const fs = require('fs'), path = require('path'), zlib = require('zlib');
const [folder, format, file] = process.argv.slice(2);

function readPprof(bytes) {
	const {Profile} = require(path.join(folder, 'node_modules/pprof-format'));
	const p = Profile.decode(zlib.gunzipSync(bytes));
	const text = i => p.stringTable.strings[Number(i)];
	const types = p.sampleType.map(t => [text(t.type), text(t.unit)]);
	const column = name => types.findIndex(t => t[0] === name);
	const sum = i => p.sample.reduce((n, s) => n + BigInt(s.value[i]), 0n);
	return [sum(types.findIndex(t => t[0].startsWith('cpu') && t[0].endsWith(':samples'))), sum(column('cpu'))];
}

async function readSpeedscope(bytes, name) {
	const dir = path.join(folder, 'node_modules/speedscope/dist/release');
	const page = fs.readdirSync(dir).find(f => /^speedscope-.*\.js$/.test(f));
	const script = fs.readFileSync(path.join(dir, page), 'utf8');
	const importer = /async function ([\w$]+)\(([\w$]+)\)\{let [\w$]+=await \2\.name\(\),[\w$]+=await \2\.readAsArrayBuffer\(\)/.exec(script);
	if (!importer)
		throw new Error('this speedscope has another importer');
	const log = console.log;
	console.log = () => {};
	const any = new Proxy(function () {}, {get: (t, k) => k === Symbol.toPrimitive ? () => '' : any, apply: () => any, construct: () => any, set: () => true});
	globalThis.window = globalThis.document = globalThis.location = globalThis.localStorage = globalThis.matchMedia = any;
	try {
		new Function(script.replace('(()=>{', `(()=>{globalThis.importProfile=x=>${importer[1]}(x);`))();
	} catch (e) {
		if (!globalThis.importProfile)
			throw e;
	}
	const text = bytes.toString();
	const group = await globalThis.importProfile({
		name: async () => name,
		readAsArrayBuffer: async () => bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length),
		readAsText: async () => ({parseAsJSON: () => JSON.parse(text), splitLines: () => text.split('\n'), firstChunk: () => text}),
	});
	console.log = log;
	let ns = 0;
	for (const p of group.profiles)
		ns += p.getWeightUnit() === 'nanoseconds' ? p.getTotalNonIdleWeight() : 0;
	return ['-', ns];
}

const bytes = fs.readFileSync(file);
Promise.resolve(format === 'pprof' ? readPprof(bytes) : readSpeedscope(bytes, path.basename(file))).then(
	r => console.log(r.join(' ')), e => { console.error(e.message); process.exit(1); });
