// web/engine in Node: its TypeScript bundled, the engine in this thread or behind an address.
import { createRequire } from 'node:module';
import { createServer } from 'node:http';
import { join } from 'node:path';

import { loadEngine, root } from './engine.mjs';

const require = createRequire(join(root, 'web', 'package.json'));
let room;
/** The exports of web/engine/index.ts. */
export const loadRoom = () =>
  (room ??= require('esbuild')
    .build({
      entryPoints: [join(root, 'web/engine/index.ts')],
      bundle: true,
      write: false,
      format: 'esm',
      target: 'es2022',
      logLevel: 'error',
    })
    .then(
      ({ outputFiles }) =>
        import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`),
    ));

export const budget = 2 ** 30;

/** An engine with a file, in this thread. */
export async function openDirect(data) {
  const { DirectTransport, Engine } = await loadRoom();
  const engine = new Engine(new DirectTransport(await loadEngine()));
  const contents = await engine.open({ file: new Blob([data]) }, budget);
  return { engine, contents };
}

/** Frames of questions answered one after another by any transport. */
export async function answersOf(transport, frames) {
  const answers = [];
  let next;
  transport.listen(
    (answer) => next.resolve(answer.slice()),
    (why) => next.reject(new Error(why.message)),
  );
  for (const frame of frames) {
    answers.push(
      await new Promise((resolve, reject) => {
        next = { resolve, reject };
        transport.send(frame.slice());
      }),
    );
  }
  return answers;
}

/** A server for one engine, as HttpTransport wants it; a direct transport answers behind it. */
export async function startServer() {
  const { DirectTransport, EngineFailure, encodeQuestion, protocolVersion } = await loadRoom();
  const transport = new DirectTransport(await loadEngine());
  const waiting = [];
  transport.listen(
    (answer) => waiting.shift().resolve(answer),
    (why) => waiting.shift()?.reject(new Error(why.message)),
  );
  const ask = (frame) =>
    new Promise((resolve, reject) => {
      waiting.push({ resolve, reject });
      transport.send(frame);
    });
  const server = createServer((request, response) => {
    // The engine holds up this thread for seconds, in which both ends take a kept connection for dead.
    response.setHeader('Connection', 'close');
    const parts = [];
    request.on('data', (part) => parts.push(part));
    request.on('end', () => {
      const body = new Uint8Array(Buffer.concat(parts));
      const { pathname, searchParams } = new URL(request.url, 'http://here');
      const answer =
        pathname === '/ask'
          ? ask(body)
          : transport
              .read({ file: new Blob([body]) }, Number(searchParams.get('budget')), () => undefined)
              .then(() => ask(encodeQuestion(0, { ask: 'contents', args: {} })))
              .catch((error) => {
                if (!(error instanceof EngineFailure)) throw error;
                return refusal(error.reason, protocolVersion);
              });
      answer.then(
        (bytes) => response.end(bytes),
        () => response.writeHead(500).end(),
      );
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    address: `http://127.0.0.1:${server.address().port}/`,
    close: () => {
      transport.close();
      server.closeAllConnections();
      server.close();
    },
  };
}

function refusal(error, version) {
  const text = JSON.stringify({ error });
  const head = new TextEncoder().encode(text.padEnd(Math.ceil(text.length / 8) * 8));
  const frame = new Uint8Array(24 + head.length);
  new Uint32Array(frame.buffer, 0, 6).set([0x4154534d, version, 0, head.length, 0, 0]);
  frame.set(head, 24);
  return frame;
}
