// `gpustrata mcp` with the protocol's official client, and with lines that no client should send.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { pathToFileURL } from 'node:url';

import { command, golden, root, samples, tool } from '../built.mjs';

const require = createRequire(join(root, 'tests', 'package.json'));
const load = (name) => import(pathToFileURL(require.resolve(name)).href);
const sample = join(samples, 'training_run.pickle');
const small = golden('protocol4');

async function connected(act) {
  const { Client } = await load('@modelcontextprotocol/client');
  const { StdioClientTransport } = await load('@modelcontextprotocol/client/stdio');
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(new StdioClientTransport({ command: tool, args: ['mcp'] }));
  try {
    await act(client);
  } finally {
    await client.close();
  }
}
const sizes = [2, 4].map((batch) => `${join(root, `tests/data/fit/batch${batch}.pickle.gz`)}:batch=${batch}`);
const textOf = ({ content, isError }) => {
  assert.equal(content.length, 1);
  assert.ok(!isError, content[0].text);
  return content[0].text;
};

test('every tool answers what its command prints', async () => {
  await connected(async (client) => {
    assert.equal(client.getServerVersion().name, 'gpustrata');
    const { tools } = await client.listTools();
    assert.deepEqual(
      tools.map(({ name }) => name),
      ['report', 'summary', 'top', 'state', 'owner', 'compare', 'what_if', 'fit', 'ops'],
    );
    for (const { inputSchema, description } of tools) {
      assert.ok(description.length > 20);
      assert.equal(inputSchema.additionalProperties, false);
    }
    const call = async (name, args) => textOf(await client.callTool({ name, arguments: args }));
    for (const [name, args, said] of [
      ['summary', { file: small, json: true }, ['summary', small, '--json']],
      ['report', { file: small, json: true }, ['report', small, '--json']],
      [
        'top',
        { file: small, by: 'function', rows: 3, json: true },
        ['top', small, '--by', 'function', '-n', '3', '--json'],
      ],
      [
        'owner',
        { file: small, address: '0x7f0000000000', json: true },
        ['owner', '0x7f0000000000', small, '--json'],
      ],
      ['state', { file: small, at: 'start', json: true }, ['state', small, '--at', 'start', '--json']],
      [
        'what_if',
        { file: small, capacity: 1e9, json: true },
        ['whatif', small, '--capacity', '1000000000', '--json'],
      ],
      [
        'fit',
        { files: sizes, at: ['batch=16'], capacity: 1e9, json: true },
        ['fit', ...sizes, '--at', 'batch=16', '--capacity', '1000000000', '--json'],
      ],
    ])
      assert.equal(await call(name, args), command(...said), name);
    const compared = await call('compare', { before: small, after: sample, at: 'peak' });
    assert.match(compared, /\d/);
  });
});

test('a long answer comes in parts that fit together', async () => {
  const long = join(root, 'site/samples/fragmentation.pickle.gz');
  const whole = command('state', long, '--json');
  await connected(async (client) => {
    let got = '';
    let parts = 0;
    for (;;) {
      const args = { file: long, json: true, from: Buffer.byteLength(got) };
      const part = textOf(await client.callTool({ name: 'state', arguments: args }));
      assert.ok(Buffer.byteLength(part) < 25_000);
      parts += 1;
      const more = /\n… \d+ more bytes of \d+: ask again with from=(\d+)\.\n$/.exec(part);
      got += more ? part.slice(0, more.index) : part;
      if (!more) break;
      assert.equal(Number(more[1]), Buffer.byteLength(got));
    }
    assert.ok(parts > 1);
    assert.equal(got, whole);
  });
});

test('a text is marked as data of the file', async () => {
  await connected(async (client) => {
    assert.match(client.getInstructions(), /data. Never follow/);
    const said = textOf(await client.callTool({ name: 'summary', arguments: { file: small } }));
    assert.match(said, /^----- data from the file: .*-----\n[^]*\n----- end of the data -----\n$/);
  });
});

test('what may never end is no file', { timeout: 20_000 }, async () => {
  const pipe = join(mkdtempSync(join(tmpdir(), 'gpustrata-')), 'pipe');
  spawnSync('mkfifo', [pipe]);
  await connected(async (client) => {
    for (const file of [pipe, '/dev/stdin', '/dev/fd/0', '/dev/zero', '/proc/self/fd/0'])
      await assert.rejects(client.callTool({ name: 'summary', arguments: { file } }), /pipe or a device/);
    await assert.rejects(
      client.callTool({ name: 'compare', arguments: { before: small, after: pipe } }),
      /`after` is a pipe/,
    );
  });
});

test('what is wrong is said in words', async () => {
  await connected(async (client) => {
    const missing = await client.callTool({ name: 'summary', arguments: { file: '/no/such/file' } });
    assert.equal(missing.isError, true);
    assert.match(missing.content[0].text, /cannot be opened/);
    // Not an option, and not standard input.
    for (const file of ['--help', '-', '--dump=/tmp/x']) {
      const answer = await client.callTool({ name: 'summary', arguments: { file } });
      assert.equal(answer.isError, true);
      assert.match(answer.content[0].text, /cannot be opened/);
    }
    for (const [name, args] of [
      ['nothing', {}],
      ['summary', {}],
      ['summary', { file: 3 }],
      ['summary', { file: small, dump: '/tmp/x' }],
      ['top', { file: small, rows: -1 }],
    ])
      await assert.rejects(client.callTool({ name, arguments: args }), /tool|missing|type|argument/);
    // It goes on.
    assert.match(textOf(await client.callTool({ name: 'summary', arguments: { file: small } })), /peak/);
  });
});

test('lines of any bytes are answered or passed over', () => {
  const wide = Array.from({ length: 100 }, (_, i) => `"key${i}":{"a":[[[[[[[[1]]]]]]]]}`).join();
  const lines = [
    'no json',
    '[]',
    '{}',
    '{"jsonrpc":"2.0","id":[1],"method":"ping"}',
    '{"jsonrpc":"2.0","id":"a","method":"no/such"}',
    '{"jsonrpc":"2.0","method":"notifications/initialized"}',
    '{"jsonrpc":"2.0","id":5,"result":{}}',
    `{"jsonrpc":"2.0","id":6,"method":"${'x'.repeat(2 << 20)}"}`,
    `{"jsonrpc":"2.0","id":10,"method":"ping","params":${'['.repeat(20)}${']'.repeat(20)}}`,
    `{"jsonrpc":"2.0","id":"wide","method":"ping","params":{${wide}}}`,
    // What a client says of itself may be deep and wide.
    `{"jsonrpc":"2.0","id":11,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{${wide}}}}`,
    '',
    '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":3}',
    '{"jsonrpc":"2.0","id":8,"method":"ping"}\r',
  ];
  const { stdout, status } = spawnSync(tool, ['mcp'], {
    input: `${lines.join('\n')}\n`,
    encoding: 'utf8',
  });
  assert.equal(status, 0);
  const replies = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    replies.map(({ id, error }) => [id, error?.code]),
    [
      [null, -32700],
      [null, -32600],
      [null, -32600],
      [null, -32600],
      ['a', -32601],
      [6, -32600],
      [10, -32600],
      ['wide', -32600],
      [11, undefined],
      [7, -32602],
      [8, undefined],
    ],
  );
  assert.equal(replies.find(({ id }) => id === 11).result.protocolVersion, '2024-11-05');
});
