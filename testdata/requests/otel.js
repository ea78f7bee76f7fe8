// A small service with OpenTelemetry's own SDK: requests one after the other, every fifth of which
// writes a file and waits for the disk. Its exporter sends OTLP/JSON to a receiver that appends a
// line for each message: node otel.js receive FILE & node otel.js serve
'use strict';
const fs = require('fs');
const http = require('http');
const PORT = 14318;

function receive(file) {
	http.createServer((request, response) => {
		const parts = [];
		request.on('data', (part) => parts.push(part));
		request.on('end', () => {
			if (request.url === '/stop') process.exit(0);
			fs.appendFileSync(file, Buffer.concat(parts) + '\n');
			response.end('{}');
		});
	}).listen(PORT);
}

async function serve() {
	const { NodeTracerProvider, BatchSpanProcessor } = require('@opentelemetry/sdk-trace-node');
	const { OTLPTraceExporter } = require('@opentelemetry/exporter-trace-otlp-http');
	const { resourceFromAttributes } = require('@opentelemetry/resources');
	const provider = new NodeTracerProvider({
		resource: resourceFromAttributes({ 'service.name': 'reports', 'process.pid': process.pid }),
		spanProcessors: [new BatchSpanProcessor(
			new OTLPTraceExporter({ url: `http://127.0.0.1:${PORT}/v1/traces` }), { maxQueueSize: 10000 })],
	});
	const tracer = provider.getTracer('otel.js');
	for (let i = 0; i < 41; i++) {
		const route = i % 5 === 2 ? '/report' : '/item';
		tracer.startActiveSpan(`GET ${route}`, { attributes: { 'http.route': route, request: i } }, (span) => {
			if (route === '/report')
				tracer.startActiveSpan('store', (child) => {
					const fd = fs.openSync('report.bin', 'w');
					fs.writeSync(fd, Buffer.alloc(4 << 20, i));
					fs.fsyncSync(fd);
					fs.closeSync(fd);
					child.end();
				});
			for (let k = 0, x = 0; k < 50000; k++) x += k * k;
			span.end();
		});
		await new Promise((done) => setTimeout(done, 2));
	}
	await provider.shutdown();
	fs.unlinkSync('report.bin');
}

process.argv[2] === 'receive' ? receive(process.argv[3]) : serve();
