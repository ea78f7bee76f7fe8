// node web.js LOG [--seconds S] - a web server whose requests wait for a timer (its "database") and
// now and then compute, and a client in a second process. "request": in the server, from a request to
// its answer; "idle": nothing, since requests overlap on one thread and its loop waits inside them.
// Log lines as tests/requests/requests.h says.
"use strict";
const fs = require("fs"), http = require("http"), { fork } = require("child_process");

const seconds = Number(process.argv[process.argv.indexOf("--seconds") + 1]) || 1;
const lines = [];

function burn(ms) {
	for (const until = performance.now() + ms; performance.now() < until;)
		;
}

function ask(port, end) {
	const from = Date.now();
	http.get({ port, host: "127.0.0.1" }, answer => answer.resume().on("end", () => {
		if (Date.now() < end)
			setTimeout(ask, Math.max(0, 4 - (Date.now() - from)), port, end);
		else
			process.exit(0);
	}));
}

if (process.argv[2] === "client") {
	ask(Number(process.argv[3]), Date.now() + Number(process.argv[4]) * 1000);
} else {
	let n = 0;
	const server = http.createServer((question, answer) => {
		const from = process.hrtime.bigint();
		setTimeout(() => {
			if (++n % 16 === 5)
				burn(8);
			answer.end("ok");
			lines.push(`request ${process.pid} ${from} ${process.hrtime.bigint()}`);
		}, 2);
	});
	server.listen(0, "127.0.0.1", () => {
		const client = fork(__filename, ["client", server.address().port, seconds]);
		client.on("exit", () => {
			fs.writeFileSync(process.argv[2], lines.join("\n") + "\n");
			process.exit(0);
		});
	});
}
