// Serves a folder on 127.0.0.1, for site/run.sh and the browser tests.
//
//   node site/serve.mjs [--folder build/site] [--port N] [--snapshot FILE | --sample NAME]
//
// Without --port a free one is taken. --snapshot serves FILE as open/<name>, streamed from where it lies, and
// the printed address opens it: the page loads the same-origin address in its query parameter `open`.
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { basename, dirname, extname, join, resolve, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

const types = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.webmanifest': 'application/manifest+json',
  '.wasm': 'application/wasm',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
};

/** A name of anybody may lead here; its pages would then be of one origin with the files. @param {string | undefined} host */
const isOwn = (host) => /^(localhost|127\.0\.0\.1)(:\d+)?$/.test(host ?? '');

/**
 * Starts a server; resolves to its address (ends in a slash) and a function that stops it.
 * @param {{ folder: string, port?: number, snapshot?: string, below?: string }} options `below`: a path under which the folder lies
 */
export async function serve({ folder, port = 0, snapshot, below = '' }) {
  const base = resolve(folder);
  const openPath = snapshot && `/open/${basename(snapshot)}`;
  const fileOf = (path) => {
    if (path === openPath) return resolve(snapshot);
    if (below && !path.startsWith(`/${below}/`)) return undefined;
    const inside = below ? path.slice(below.length + 1) : path;
    const file = join(base, inside.endsWith('/') ? `${inside}index.html` : inside);
    return file.startsWith(base + sep) ? file : undefined;
  };
  const server = createServer(async (request, response) => {
    try {
      if (!isOwn(request.headers.host)) return response.writeHead(403).end('not this host\n');
      if (request.method !== 'GET' && request.method !== 'HEAD') return response.writeHead(405).end();
      const file = fileOf(decodeURIComponent(new URL(request.url, 'http://localhost').pathname));
      const info = file && (await stat(file));
      if (!info?.isFile()) return response.writeHead(404).end('not found\n');
      response.writeHead(200, {
        'content-type': types[extname(file)] ?? 'application/octet-stream',
        'content-length': info.size,
        'cache-control': 'no-cache',
        'x-content-type-options': 'nosniff',
      });
      if (request.method === 'HEAD') return response.end();
      createReadStream(file)
        .on('error', () => response.destroy())
        .pipe(response);
    } catch (error) {
      response
        .writeHead(error instanceof URIError || error instanceof TypeError ? 400 : 404)
        .end('not found\n');
    }
  });
  await new Promise((done, fail) => server.once('error', fail).listen(port, '127.0.0.1', done));
  const close = () => new Promise((done) => (server.close(done), server.closeAllConnections()));
  return { url: `http://127.0.0.1:${server.address().port}/`, close };
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { values: options } = parseArgs({
    options: {
      folder: { type: 'string', default: join(dirname(fileURLToPath(import.meta.url)), '../build/site') },
      port: { type: 'string', default: '0' },
      snapshot: { type: 'string' },
      sample: { type: 'string' },
    },
  });
  const { url } = await serve({ ...options, port: Number(options.port) });
  let open = '';
  if (options.snapshot) open = `open/${encodeURIComponent(basename(options.snapshot))}`;
  else if (options.sample) open = `samples/${encodeURIComponent(options.sample)}`;
  // Encoded twice: the parameter's value is itself an address. Its slash may stay readable.
  const query = open && `?open=${encodeURIComponent(open).replaceAll('%2F', '/')}`;
  console.log(`\n  ${url}${query}\n\nStop with Ctrl C.`);
}
