// How files come in, and what the page says when they cannot be shown.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, type FileChooser } from '@playwright/test';
import { golden, realFiles, samples } from '../built.mjs';
import { bytesOf, settledView, watchErrors } from './page.ts';
import { knownSnapshot, MiB } from './pickle.ts';
import { waitForState, openPage, openOfflinePage, choose } from './support.ts';

const png = Buffer.from('89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489', 'hex');

const refused: [name: string, content: Buffer, says: RegExp][] = [
  ['empty.pickle', Buffer.alloc(0), /empty/i],
  ['picture.png', png, /PNG/],
  ['zeros.pickle', Buffer.alloc(100_000), /zero/i],
  ['letter.txt', Buffer.from('Dear Sir or Madam, '.repeat(100)), /./],
];
for (const [name, content, says] of refused) {
  test(`${name} is refused in words, and there is a way back`, async ({ page }) => {
    const errors = watchErrors(page);
    await openPage(page);
    await choose(page, { name, buffer: content });
    await waitForState(page, 'error');
    const card = page.getByRole('alert');
    await expect(card).toContainText(name);
    await expect(card.locator('.message')).toHaveText(says);
    await page.getByRole('button', { name: 'Back to the start' }).click();
    await waitForState(page, 'empty');
    await choose(page, { name: 'known.pickle', buffer: knownSnapshot() });
    await waitForState(page, 'ready');
    expect(errors).toEqual([]);
  });
}

test('a pickle that is no snapshot is refused with its place', async ({ page }) => {
  const folder = realFiles('snapshots');
  test.skip(folder === undefined, 'no real snapshots beside the repository');
  await openPage(page);
  await choose(page, join(folder!, 'NOT_A_SNAPSHOT_numpy_globals.pickle'));
  await waitForState(page, 'error');
  // PROTO (2 bytes), EMPTY_LIST (1), BINPUT (2), MARK (1): at byte 6 lies the GLOBAL of a deque.
  const card = page.getByRole('alert');
  await expect(card.locator('.message')).toHaveText(
    /not a memory snapshot: the pickle holds a list of 8 items/i,
  );
  await expect(card.locator('.message')).toContainText('collections.deque');
  await expect(card.locator('.where')).toHaveAttribute('data-offset', '6');
  await expect(card.locator('.where')).toHaveText('Found at byte 0x6 (6).');
});

test('a truncated file shows what came before, with a banner', async ({ page }) => {
  await openPage(page);
  const whole = readFileSync(join(samples, 'training_run.pickle'));
  await choose(page, { name: 'cut.pickle', buffer: whole.subarray(0, Math.floor(whole.length * 0.6)) });
  await waitForState(page, 'ready');
  await expect(page.locator('[data-banner="truncated"]')).toContainText(
    /^\s*Truncated at byte [1-9][\d,.\s]*: shown is what came before, and what is missing can make any\s+number too high or too low. Dump again/,
  );
  expect(await bytesOf(page, 'peak')).toBeGreaterThan(0);
  await page.getByRole('button', { name: 'All notes' }).click();
  await expect(page.locator('[data-diagnostic="truncated"]')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.locator('[data-diagnostic="truncated"]')).toBeHidden();
});

test('of an archive the member that could not be read is named, and the rest is shown', async ({ page }) => {
  await openPage(page);
  const archive = golden('zip_broken_member');
  await choose(page, { name: 'ranks.zip', buffer: readFileSync(archive) });
  await waitForState(page, 'ready');
  const banner = page.locator('[data-banner="member_not_read"] p');
  // Three: damaged, encrypted, of another packing.
  await expect(banner).toHaveText(
    '3 files of the archive could not be read, first broken.pickle: invalid block type, nothing of it can be shown. ' +
      'The others are shown. Unpack it by hand, or pack it again.',
  );
  await expect(banner).not.toContainText('byte');
  expect(await bytesOf(page, 'peak')).toBe(1500); // two blocks of 1000 and 500 bytes
});

test('Ctrl O opens files, with and without one that is shown', async ({ page }) => {
  const choosers: FileChooser[] = [];
  page.on('filechooser', (chooser) => choosers.push(chooser));
  await openPage(page);
  for (const name of ['first.pickle', 'second.pickle']) {
    await page.keyboard.press('Control+o');
    await expect.poll(() => choosers.length).toBe(1);
    const chooser = choosers.pop()!;
    expect(chooser.isMultiple()).toBe(true);
    await chooser.setFiles({ name, mimeType: '', buffer: knownSnapshot() });
    await expect(page.locator('.file-name')).toHaveText(name);
    await waitForState(page, 'ready');
  }
});

test('a checksum that does not fit is told without a place', async ({ page }) => {
  await openPage(page);
  const archive = golden('zip_wrong_checksum');
  await choose(page, { name: 'copied.zip', buffer: readFileSync(archive) });
  await waitForState(page, 'ready');
  await expect(page.locator('[data-banner="checksum_mismatch"] p')).toHaveText(
    /^Damaged file\. .*some of what is shown may be wrong.*a\.pickle: the checksum does not fit/,
  );
  await expect(page.locator('[data-banner="checksum_mismatch"] p')).not.toContainText('byte');
});

test('a refused second file leaves the first one behind it', async ({ page }) => {
  await openPage(page);
  await choose(page, { name: 'known.pickle', buffer: knownSnapshot() });
  await waitForState(page, 'ready');
  await choose(page, { name: 'picture.png', buffer: png });
  await waitForState(page, 'error');
  await page.getByRole('button', { name: 'Back to known.pickle' }).click();
  await waitForState(page, 'ready');
  expect(await bytesOf(page, 'peak')).toBe(7 * MiB);
  await settledView(page);
});

test('opening and exploring a local file causes no request', async ({ page }) => {
  await openPage(page);
  await expect(page.locator('gpustrata-viewer[data-whole]')).toBeVisible();
  await page.waitForLoadState('networkidle');
  const requests: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  for (const name of ['one.pickle', 'two.pickle']) {
    await choose(page, { name, buffer: knownSnapshot() });
    await expect(page.locator('.file-name')).toHaveText(name);
    await waitForState(page, 'ready');
    await settledView(page);
    await page.keyboard.press('p');
    await page.keyboard.press('/');
    await page.keyboard.type('train');
    await page.keyboard.press('Enter');
    await expect(page.locator('gpustrata-filter [data-count]')).toHaveAttribute('data-count', '3');
    await page.keyboard.press('Enter');
    await expect(page.locator('gpustrata-details h2')).toHaveAttribute('data-bytes', /\d+/);
    for (let level = 0; level < 3; level += 1) await page.keyboard.press('Escape');
    for (const key of ['2', '3', '6', '7', '5', '1']) {
      await page.keyboard.press(key);
      await expect(page.getByText('Loading…')).toHaveCount(0);
    }
    await page.locator('.plot').focus();
    for (const key of ['?', 'b', 'i']) {
      await page.keyboard.press(key);
      await expect(page.getByRole('dialog')).toBeVisible();
      await page.keyboard.press('Escape');
      await expect(page.getByRole('dialog')).toBeHidden();
    }
  }
  await choose(page, { name: 'picture.png', buffer: png });
  await waitForState(page, 'error');
  // The next file's worker is made from a Blob that the page already has.
  expect(requests.filter((url) => !url.startsWith('blob:'))).toEqual([]);
});

test('the marks tell when a file was picked and when its picture was there', async ({ page }) => {
  await openPage(page);
  const marks = (): Promise<[string, number][]> =>
    page.evaluate(() => performance.getEntriesByType('mark').map(({ name, startTime }) => [name, startTime]));
  for (let round = 0; round < 2; round += 1) {
    await choose(page, { name: 'known.pickle', buffer: knownSnapshot() });
    await expect
      .poll(async () =>
        (await marks())
          .map(([name]) => name)
          .filter((name) => name !== 'gpustrata:rehearsed') // the machine was quick
          .sort(),
      )
      .toEqual(['gpustrata:first-picture', 'gpustrata:picked']);
    const times = Object.fromEntries(await marks());
    expect(times['gpustrata:first-picture']).toBeGreaterThan(times['gpustrata:picked']!);
  }
});

test('a dropped file is opened', async ({ page }) => {
  await openPage(page);
  await page.evaluate(
    (bytes) => {
      const data = new DataTransfer();
      data.items.add(new File([new Uint8Array(bytes)], 'dropped.pickle'));
      document.body.dispatchEvent(
        new DragEvent('dragenter', { dataTransfer: data, bubbles: true, cancelable: true }),
      );
      document.body.dispatchEvent(
        new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }),
      );
    },
    [...knownSnapshot()],
  );
  await waitForState(page, 'ready');
  await expect(page.locator('.file-name')).toHaveText('dropped.pickle');
});

test('a pasted file is opened', async ({ page }) => {
  await openPage(page);
  await page.evaluate(
    (bytes) => {
      const data = new DataTransfer();
      data.items.add(new File([new Uint8Array(bytes)], 'pasted.pickle'));
      document.body.dispatchEvent(
        new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }),
      );
    },
    [...knownSnapshot()],
  );
  await waitForState(page, 'ready');
  await expect(page.locator('.file-name')).toHaveText('pasted.pickle');
});

test('?open= opens a file of this site and nothing else', async ({ page }) => {
  await openPage(page, '?open=samples/training_run.pickle');
  await waitForState(page, 'ready');
  await expect(page.locator('.file-name')).toHaveText('training_run.pickle');
  await openPage(page, '?open=https://example.org/x.pickle');
  await waitForState(page, 'error');
  await expect(page.getByRole('alert')).toContainText('only takes files of this site');
  await openPage(page, '?open=%25');
  await waitForState(page, 'error');
  await expect(page.getByRole('alert')).toContainText('cannot be read');
  await openPage(page, '?open=samples/absent.pickle');
  await waitForState(page, 'error');
  await expect(page.getByRole('alert')).toContainText('404');
});

test('the rehearsal before the first file leaves nothing behind', async ({ page }) => {
  const errors = watchErrors(page);
  await openPage(page);
  const address = page.url();
  await page.waitForFunction(() => performance.getEntriesByName('gpustrata:rehearsed').length > 0);
  await waitForState(page, 'empty');
  await expect(page.getByRole('button', { name: 'Open the sample' })).toBeVisible();
  await expect(page.locator('gpustrata-timeline')).toHaveCount(0);
  expect(
    await page.evaluate(() => document.elementsFromPoint(innerWidth / 2, innerHeight / 2)[0]?.tagName),
  ).toBe('GPUSTRATA-VIEWER');
  expect(page.url()).toBe(address);
  expect(await page.title()).toBe('gpustrata');
  await expect.poll(() => page.workers().length).toBe(2); // those that wait for files
  await choose(page, { name: 'known.pickle', buffer: knownSnapshot() });
  await waitForState(page, 'ready');
  await settledView(page);
  expect(await bytesOf(page, 'peak')).toBe(7 * MiB);
  expect(errors).toEqual([]);
});

test('loading can be cancelled, and another file opened', async ({ page }) => {
  // The answer never comes.
  await page.context().route('**/slow.pickle', () => undefined);
  await openPage(page, '?open=slow.pickle');
  await waitForState(page, 'loading');
  await expect(page.getByRole('progressbar')).toBeVisible();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await waitForState(page, 'empty');
  await choose(page, { name: 'known.pickle', buffer: knownSnapshot() });
  await waitForState(page, 'ready');
});

test('when the engine stops the page says so and can open the file again', async ({ page }) => {
  await openPage(page);
  await choose(page, { name: 'known.pickle', buffer: knownSnapshot() });
  await waitForState(page, 'ready');
  await settledView(page);
  await page.workers()[0]!.evaluate(
    () =>
      void setTimeout(() => {
        throw new Error('out of luck');
      }),
  );
  await expect(page.locator('[data-banner="died"]')).toContainText(/defect of gpustrata.*out of luck/);
  await waitForState(page, 'ready');
  await page.getByRole('button', { name: 'Open the file again' }).click();
  await expect(page.locator('[data-banner="died"]')).toBeHidden();
  await waitForState(page, 'ready');
  await settledView(page);
});

for (const [message, says] of [
  ['memory access out of bounds', 'defect of gpustrata'],
  ['gpustrata: out of memory', 'no more memory'],
] as const) {
  test(`an engine that stops with "${message}" is explained`, async ({ page }) => {
    await openPage(page);
    await choose(page, { name: 'known.pickle', buffer: knownSnapshot() });
    await waitForState(page, 'ready');
    await settledView(page);
    await page.workers()[0]!.evaluate((text) => {
      const data = {
        kind: 'read',
        get source(): never {
          throw new Error(text);
        },
      };
      (globalThis as unknown as Window).onmessage?.({ data } as MessageEvent);
    }, message);
    await expect(page.locator('[data-banner="died"]')).toContainText(says);
    await expect(page.locator('[data-banner="died"]')).toContainText(message);
  });
}

test('the one-file page opens a snapshot from the disk', async ({ page }) => {
  const errors = watchErrors(page);
  await openOfflinePage(page);
  await expect(page.getByRole('button', { name: 'Open the sample' })).toBeHidden();
  await choose(page, { name: 'known.pickle', buffer: knownSnapshot() });
  await waitForState(page, 'ready');
  await settledView(page);
  expect(await bytesOf(page, 'peak')).toBe(7 * MiB);
  expect(errors).toEqual([]);
});

test("the engine and the worker's script are fetched with the page, once", async ({ page }) => {
  const asked: string[] = [];
  let letGo = (): void => undefined;
  const held = new Promise<void>((resolve) => (letGo = resolve));
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  await page.route('**/main.js', async (route) => {
    await held;
    await route.continue();
  });
  const opening = openPage(page, '?open=samples/training_run.pickle');
  const needed = ['/engine.wasm', '/worker.js'];
  const soFar = (): string[] => asked.filter((path) => needed.includes(path)).sort();
  await expect.poll(soFar).toEqual(needed); // the page's script is not there yet
  letGo();
  await opening;
  await waitForState(page, 'ready');
  expect(soFar()).toEqual(needed);
});

test('a first picture does not wait for what panels need; a panel waits for it', async ({ page }) => {
  let letGo = (): void => undefined;
  const held = new Promise<void>((resolve) => (letGo = resolve));
  let asked = 0;
  await page.route('**/engine_rest.wasm', async (route) => {
    asked += 1;
    await held;
    await route.continue();
  });
  await openPage(page, '?url=samples/training_run.pickle');
  await waitForState(page, 'ready');
  await expect(page.locator('.plot[data-settled]')).toBeVisible();
  await expect.poll(() => asked).toBeGreaterThan(0);
  await expect(page.locator('gpustrata-viewer')).not.toHaveAttribute('data-whole');
  await page.keyboard.press('2');
  letGo();
  await expect(page.locator('.picture[data-settled]')).toBeVisible();
  await expect(page.locator('gpustrata-viewer')).toHaveAttribute('data-whole');
});

test('what panels need is fetched again when it could not be had', async ({ page }) => {
  let asked = 0;
  await page.route('**/engine_rest.wasm', (route) => {
    asked += 1;
    return asked === 1 ? route.abort() : route.continue();
  });
  await openPage(page, '?url=samples/training_run.pickle');
  await waitForState(page, 'ready');
  await page.keyboard.press('2');
  await expect(page.locator('.picture[data-settled]')).toBeVisible();
  expect(asked).toBeGreaterThan(1);
});
