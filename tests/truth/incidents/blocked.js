// blocked.js LOG: requests to this server wait while it parses a large report for another one.
const fs = require('fs');
const net = require('net');
const text = JSON.stringify(Array.from({ length: 60000 }, (_, i) => ({ id: i, name: 'row' + i })));
function parseReport() { for (let i = 0; i < 2; i++) JSON.parse(text); }
const log = [];
const server = net.createServer((s) => s.on('data', () => s.write('r')));
server.listen(0, '127.0.0.1', () => {
	const { spawn } = require('child_process');
	const child = spawn(process.argv[3], [process.argv[2], String(server.address().port)],
		{ stdio: 'inherit' });
	const timer = setInterval(parseReport, 120);
	child.on('exit', () => { clearInterval(timer); server.close(); process.exit(0); });
});
