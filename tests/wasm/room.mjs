// web/engine in Node: its TypeScript bundled, the engine in this thread or behind an address.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { join } from 'node:path';

import { root, tool } from '../built.mjs';
import { casesFolder, loadEngine } from './engine.mjs';

const require = createRequire(join(root, 'web', 'package.json'));
let room;
/** The exports of web/engine/index.ts. */
export const loadRoom = () =>
  (room ??= require('esbuild')
    .build({
      stdin: {
        contents: `export * from './index.ts'; export { HttpTransport } from './transport/http.ts';`,
        resolveDir: join(root, 'web/engine'),
      },
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
  const contents = await engine.read({ file: new Blob([data]) }, budget, 'contents', {});
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

/** `gpustrata serve` for all golden cases, each called `NAME/input.pickle`. */
export async function startServer() {
  const server = spawn(tool, ['serve', casesFolder, '--sessions', '1000'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  server.stdout.setEncoding('utf8');
  const [line] = await once(server.stdout, 'data');
  return { address: line.trim(), close: () => server.kill() };
}
