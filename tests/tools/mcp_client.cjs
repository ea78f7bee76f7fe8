// mcp_client.cjs FOLDER PERFKIT DIR FILE - drive `perfkit mcp` with the protocol's client library of npm, below FOLDER (make
// readers). Prints ok; exits with 77 without the library.
'use strict';
const assert = require('assert'), path = require('path');
const [folder, perfkit, dir, file] = process.argv.slice(2);
const sdk = path.join(folder, 'node_modules/@modelcontextprotocol/sdk/dist/cjs/client');
let Client, StdioClientTransport;
try {
	({Client} = require(path.join(sdk, 'index.js')));
	({StdioClientTransport} = require(path.join(sdk, 'stdio.js')));
} catch (e) {
	console.log('no @modelcontextprotocol/sdk (make readers)');
	process.exit(77);
}

async function main() {
	const client = new Client({name: 'test', version: '1'});
	await client.connect(new StdioClientTransport({command: perfkit, args: ['mcp', '--budget', '4k', dir]}));
	const {tools} = await client.listTools();
	assert.deepStrictEqual(tools.map(t => t.name), ['files', 'brief', 'doctor', 'tail', 'report', 'source', 'compare']);
	const ask = async (name, args) => {
		const r = await client.callTool({name, arguments: args});
		return [r.content.map(c => c.text).join('\n'), r.isError === true];
	};
	assert((await ask('files', {}))[0].includes(file));
	const brief = JSON.parse((await ask('brief', {file, json: true}))[0]);
	// the ids of one answer are the arguments of the next
	const [site] = brief.sites, [fn] = brief.functions;
	for (const [name, args, want] of [['tail', {file, details: 1}, 'root cause'], ['tail', {file, episode: brief.episode}, '1 episode has that id'],
		['report', {file, by: 'site', filter: ['site=' + site.id], format: 'json'}, site.id],
		['report', {file, by: 'function', filter: ['function=' + fn.id], format: 'json'}, fn.id],
		['source', {file, function: fn.id}, fn.name.split(',')[0]],
		['compare', {before: [file], after: [file], 'fail-on': [`function ${fn.id} self more 5%`]}, 'the same recording']]) {
		const [text, failed] = await ask(name, args);
		assert(failed === (name === 'compare') && text.includes(want), JSON.stringify([name, args, text]));
		assert(Buffer.byteLength(text) <= 4400);
	}
	assert((await ask('brief', {file: '/etc/passwd'}))[1]);
	await client.close();
	console.log('ok');
}

main().catch(e => {
	console.log(e);
	process.exit(1);
});
