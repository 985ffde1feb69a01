// site/serve.mjs, which serves the page for trying it and for the tests.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';

import { serve } from '../../site/serve.mjs';

/** The path goes out as it is written, which fetch() would not do. */
const asked = (url, path, method = 'GET', headers = {}) =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    request({ hostname, port, path, method, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (more) => (text += more));
      response.on('end', () => resolve([response.statusCode, response.headers['content-type'], text]));
    })
      .on('error', reject)
      .end();
  });

test('files of its folder are served, and nothing else', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gpustrata-serve-'));
  mkdirSync(join(folder, 'site', 'guide'), { recursive: true });
  writeFileSync(join(folder, 'site', 'index.html'), 'page');
  writeFileSync(join(folder, 'site', 'guide', 'index.html'), 'guide');
  writeFileSync(join(folder, 'run.pickle'), 'snapshot');
  const { url, close } = await serve({ folder: join(folder, 'site'), snapshot: join(folder, 'run.pickle') });
  try {
    assert.deepEqual(await asked(url, '/'), [200, 'text/html; charset=utf-8', 'page']);
    assert.deepEqual(await asked(url, '/guide/'), [200, 'text/html; charset=utf-8', 'guide']);
    assert.deepEqual(await asked(url, '/', 'HEAD'), [200, 'text/html; charset=utf-8', '']);
    assert.deepEqual(await asked(url, '/open/run.pickle'), [200, 'application/octet-stream', 'snapshot']);
    for (const path of ['/nothing', '/guide', '/run.pickle', '/..%2frun.pickle'])
      assert.deepEqual(await asked(url, path), [404, undefined, 'not found\n'], path);
    assert.deepEqual(await asked(url, '/%ff'), [400, undefined, 'not found\n']);
    assert.equal((await asked(url, '/', 'POST'))[0], 405);
    // A name that its owner has lead to 127.0.0.1 is no name of this server.
    const { port } = new URL(url);
    for (const host of ['evil.example', `evil.example:${port}`, 'localhost.evil.example'])
      assert.equal((await asked(url, '/', 'GET', { host }))[0], 403, host);
    assert.equal((await asked(url, '/', 'GET', { host: `localhost:${port}` }))[0], 200);
  } finally {
    await close();
    rmSync(folder, { recursive: true });
  }
});
