// Native = WebAssembly = any chunking, for all golden cases and, where they are present, all real files.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';

import { realFiles, root, tool } from '../built.mjs';
import { casesFolder, loadEngine, open, summaryText } from './engine.mjs';

const snapshots = realFiles('snapshots');
const journals = join(root, 'tests', 'data', 'journals');
const cases = readdirSync(casesFolder).map((name) => join(casesFolder, name, 'input.pickle'));
const caseFiles = [...cases, ...readdirSync(journals).map((name) => join(journals, name))];
const reals = (snapshots ? readdirSync(snapshots) : []).map((name) => join(snapshots, name));

/** The tool's text per file. */
function nativeLines(files) {
  return new Promise((resolve) => {
    execFile(tool, ['summary', '--json', ...files], { maxBuffer: 1 << 28 }, (_, stdout) =>
      resolve(
        new Map(
          stdout
            .trimEnd()
            .split('\n')
            .map((line) => [JSON.parse(line).file, line]),
        ),
      ),
    );
  });
}

/** The same text from the module: summary() or an error as the tool writes it. */
function moduleLine(engine, file, chunk) {
  const { session, error } = open(engine, readFileSync(file), chunk);
  try {
    if (error === undefined) return summaryText(session, file);
    const { code, message, offset, ...inside } = error;
    return JSON.stringify({ file, error: { code, message, offset: offset < 0 ? null : offset, ...inside } });
  } finally {
    session.delete();
  }
}

test('golden cases: the module says what the case expects', async (t) => {
  const engine = await loadEngine();
  for (const file of cases) {
    await t.test(file.split('/').at(-2), () => {
      const expected = JSON.parse(readFileSync(file.replace('input.pickle', 'expected.json'), 'utf8'));
      const got = JSON.parse(moduleLine(engine, file));
      if (expected.error !== undefined) return assert.equal(got.error?.code, expected.error);
      delete expected.about;
      delete got.file;
      got.diagnostics = Object.fromEntries(got.diagnostics.map(({ name, count }) => [name, count]));
      assert.deepEqual(got, expected);
    });
  }
});

for (const chunk of [1, 7, 64]) {
  test(`golden cases in chunks of ${chunk} bytes give the same text`, async () => {
    const engine = await loadEngine();
    for (const file of caseFiles)
      assert.equal(moduleLine(engine, file, chunk), moduleLine(engine, file), file);
  });
}

for (const [what, files] of [
  ['golden cases', caseFiles],
  ['real files', reals],
]) {
  const skip = files === reals && snapshots === undefined && 'no real snapshots beside the repository';
  test(`${what}: native and WebAssembly give identical text`, { skip }, async () => {
    const engine = await loadEngine();
    const native = await nativeLines(files);
    for (const file of files) assert.equal(moduleLine(engine, file), native.get(file), file);
  });
}

test('cut anywhere, native and WebAssembly see the same', async () => {
  const { mkdtempSync, rmSync, writeFileSync } = await import('node:fs');
  const { tmpdir } = await import('node:os');
  const engine = await loadEngine();
  const folder = mkdtempSync(join(tmpdir(), 'gpustrata-'));
  try {
    const files = [];
    for (const name of ['cpp_writer', 'era8_host_memory_and_annotate', 'protocol0']) {
      const data = readFileSync(join(casesFolder, name, 'input.pickle'));
      for (let part = 0; part < 40; ++part) {
        files.push(join(folder, `${name}-${part}`));
        writeFileSync(files.at(-1), data.subarray(0, Math.floor((data.length * part) / 40)));
      }
    }
    const native = await nativeLines(files);
    for (const file of files) {
      assert.equal(moduleLine(engine, file), native.get(file), file);
      assert.equal(moduleLine(engine, file, 7), native.get(file), file);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});
