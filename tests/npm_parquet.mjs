// npm_parquet.mjs FOLDER FILE FROM TO... - rows [FROM, TO) of a Parquet file as npm's hyparquet reads them, one JSON
// array a line: numbers as text, times in ns. FOLDER has node_modules (make readers).
import path from 'path';
import {pathToFileURL} from 'url';
const [folder, file, ...ranges] = process.argv.slice(2);
const from = name => import(pathToFileURL(path.join(folder, 'node_modules', name, 'src/index.js')));
const {parquetMetadataAsync, parquetReadObjects} = await from('hyparquet');
const {asyncBufferFromFile} = await import(pathToFileURL(path.join(folder, 'node_modules/hyparquet/src/node.js')));
const {compressors} = await from('hyparquet-compressors');
const plain = v => typeof v === 'bigint' || typeof v === 'number' ? String(v) : Array.isArray(v) ? v.map(plain) : v ?? null;
const buffer = await asyncBufferFromFile(file);
const metadata = await parquetMetadataAsync(buffer);
console.log(String(metadata.num_rows));
const parsers = {timestampFromNanoseconds: v => v};
for (let i = 0; i < ranges.length; i += 2)
	for (const row of await parquetReadObjects({file: buffer, metadata, compressors, parsers, rowStart: +ranges[i], rowEnd: +ranges[i + 1]}))
		console.log(JSON.stringify(Object.values(row).map(plain)));
