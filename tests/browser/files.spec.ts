// Several files: a row of bars, the odd one, closing, names, folders, addresses.
import { expect, test, type Page } from '@playwright/test';
import { expectAccessible } from './accessible.ts';
import { bytesOf, settledView, watchErrors } from './page.ts';
import { knownSnapshot, wrapper, MiB, type KnownOptions } from './pickle.ts';
import { picturesAsked, questionsAsked, watchQuestions } from './questions.ts';
import { waitForState, openPage, shot, type MadeFile, choose } from './support.ts';

const file = (name: string, buffer: Buffer = knownSnapshot()): MadeFile => ({ name, buffer });
const entry = (page: Page, name: string) => page.locator(`[data-entry="${name}"]`);
const button = (page: Page, name: string) => entry(page, name).getByRole('button').first();

async function savedName(page: Page): Promise<string> {
  await page.locator('.plot').focus();
  await page.keyboard.press('i');
  const coming = page.waitForEvent('download');
  await page.locator('[data-save="png"]').click();
  return (await coming).suggestedFilename();
}

test('16 ranks open as a row of bars with the odd one marked and said', async ({ page }) => {
  const errors = watchErrors(page);
  await openPage(page);
  const ranks = Array.from({ length: 16 }, (_, rank) =>
    file(`rank${rank}.pickle`, knownSnapshot({ extra: rank === 11 ? 7 * MiB : 0 })),
  );
  await choose(page, ...ranks);
  await expect(page.locator('[data-entry-state="ready"]')).toHaveCount(16);
  await expect(page.locator('[data-odd]')).toHaveCount(1);
  await expect(entry(page, 'rank11.pickle')).toHaveAttribute('data-odd', '1.000');
  await expect(page.locator('[data-odd-words]')).toHaveText(
    'rank11.pickle is the odd one: its peak lies 100 % above the median of 16 files, 7.0 MiB.',
  );
  await expect(page.locator('.file-name')).toHaveText('rank0.pickle');
  await button(page, 'rank11.pickle').click();
  expect(await bytesOf(page, 'peak')).toBe(14 * MiB);
  await settledView(page);
  await page.keyboard.press('.');
  await expect(page.locator('.file-name')).toHaveText('rank12.pickle');
  await page.keyboard.press(',');
  await page.keyboard.press(',');
  await expect(page.locator('.file-name')).toHaveText('rank10.pickle');
  expect(errors).toEqual([]);
});

test('of several ranks that ran out of memory the first is said', async ({ page }) => {
  // Event i comes i * i ms after event 0: at 64 ms, 49 ms and, of a rank that failed twice, 36 ms.
  const oom = { action: 'oom', addr: 0, device_free: 0, size: 30 * MiB };
  const ranks: KnownOptions['changed'][] = [{ 8: oom }, { 7: oom }, { 6: oom, 9: oom }, {}];
  await openPage(page);
  await choose(page, ...ranks.map((changed, rank) => file(`rank${rank}.pickle`, knownSnapshot({ changed }))));
  await expect(page.locator('[data-entry-state="ready"][data-failed]')).toHaveCount(3);
  await expect(page.locator('[data-failed-words]')).toHaveText(
    'rank2.pickle ran out of memory first, 13 ms before rank1.pickle, by the clocks that recorded them.',
  );
  await shot(page, 'ranks-failed-first');

  // One that failed without a time may have been the first.
  await choose(page, file('rank4.pickle', knownSnapshot({ times: false, changed: { 5: oom } })));
  await expect(page.locator('[data-entry-state="ready"][data-failed]')).toHaveCount(4);
  await expect(page.locator('[data-failed-words]')).toHaveCount(0);
});

test('16 ranks in one file are a row of bars, too', async ({ page }) => {
  const errors = watchErrors(page);
  await openPage(page);
  const ranks = Array.from(
    { length: 16 },
    (_, rank) => [`rank${rank}`, { extra: rank === 11 ? 7 * MiB : 0 }] as const,
  );
  await choose(page, file('job.pickle', wrapper(Object.fromEntries(ranks))));
  await waitForState(page, 'ready');
  const bar = (name: string) => page.locator(`[data-snapshot="${name}"]`);
  await expect(page.locator('[data-snapshot]')).toHaveCount(16);
  await expect(page.locator('[data-odd]')).toHaveCount(1);
  await expect(bar('rank11')).toHaveAttribute('data-odd', '1.000');
  await expect(page.locator('[data-odd-words]')).toHaveText(
    'rank11 is the odd one: its peak lies 100 % above the median of 16 snapshots, 7.0 MiB.',
  );
  await expect(bar('rank3').getByRole('button')).toHaveAccessibleName('rank3, 7.0 MiB');
  await bar('rank11').getByRole('button').first().click();
  await expect(page.locator('[data-stat="peak"]')).toHaveAttribute('data-bytes', String(14 * MiB));
  await expect(bar('rank11').getByRole('button').first()).toHaveAttribute('aria-current', 'true');
  await expect(page.getByLabel('Snapshot', { exact: true })).toHaveValue('11');
  await settledView(page);
  await expectAccessible(page);

  await page.setViewportSize({ width: 320, height: 640 });
  await page.locator('.plot').focus();
  for (let rank = 12; rank < 16; rank += 1) {
    await page.keyboard.press('r');
    await expect(bar(`rank${rank}`).getByRole('button').first()).toHaveAttribute('aria-current', 'true');
  }
  await expect(async () => {
    const [row, last] = await Promise.all(
      [page.locator('gpustrata-peak-row ul'), bar('rank15')].map((one) => one.boundingBox()),
    );
    expect(last!.y).toBeGreaterThanOrEqual(row!.y); // scrolled into view
    expect(last!.y + last!.height).toBeLessThanOrEqual(row!.y + row!.height);
  }).toPass({ timeout: 5000 }); // the page itself scrolls, too
  expect(errors).toEqual([]);
});

test('snapshots of one file: chosen by name or key, in the link, and apart when saved', async ({ page }) => {
  await openPage(page);
  const wrap = file('wrap.pkl', wrapper({ before: {}, 'after all': { extra: 2 * MiB } }));
  await choose(page, wrap);
  await waitForState(page, 'ready');
  await settledView(page);
  const choice = page.getByLabel('Snapshot', { exact: true });
  expect(await choice.locator('option').allTextContents()).toEqual(['before', 'after all']);
  const peak = page.locator('[data-stat="peak"]');
  await expect(peak).toHaveAttribute('data-bytes', String(9 * MiB)); // the highest peak is shown first
  await expect(choice).toHaveValue('1');
  await choice.selectOption('before');
  await expect(peak).toHaveAttribute('data-bytes', String(7 * MiB));
  await settledView(page);
  expect(await savedName(page)).toBe('wrap.pkl-before-device0.png');
  await choice.selectOption('after all');
  await expect(peak).toHaveAttribute('data-bytes', String(9 * MiB));
  await settledView(page);
  expect(await savedName(page)).toBe('wrap.pkl-after_all-device0.png');
  await expect(page).toHaveURL(/snapshot=1/);

  const other = await page.context().newPage();
  await other.goto(page.url());
  await waitForState(other, 'empty');
  await choose(other, wrap);
  await expect(other.locator('[data-stat="peak"]')).toHaveAttribute('data-bytes', String(9 * MiB));
  await expect(other.getByLabel('Snapshot', { exact: true })).toHaveValue('1');
  await expect(other).toHaveURL(/snapshot=1/);

  await page.locator('.plot').focus();
  await page.keyboard.press('r'); // round
  await expect(peak).toHaveAttribute('data-bytes', String(7 * MiB));
  await page.keyboard.press('Shift+R');
  await expect(peak).toHaveAttribute('data-bytes', String(9 * MiB));
});

test('closing a file ends its engine, and the next one is shown', async ({ page }) => {
  await openPage(page);
  await choose(page, file('a.pickle'), file('b.pickle', knownSnapshot({ extra: MiB })), file('c.pickle'));
  await expect(page.locator('[data-entry-state="ready"]')).toHaveCount(3);
  await settledView(page);
  const before = page.workers().length;
  await page.getByRole('button', { name: 'Close c.pickle' }).click();
  await expect.poll(() => page.workers().length).toBe(before - 1);
  await page.getByRole('button', { name: 'Close a.pickle' }).click();
  await expect(page.locator('.file-name')).toHaveText('b.pickle');
  expect(await bytesOf(page, 'peak')).toBe(8 * MiB);
  await page.locator('.plot').focus();
  await page.keyboard.press('Shift+X');
  await waitForState(page, 'empty');
  await expect.poll(() => page.workers().length).toBeLessThanOrEqual(2); // those that wait for the next file
});

test('two files of one name stay apart', async ({ page }) => {
  await openPage(page);
  await choose(page, file('snapshot.pickle'));
  await waitForState(page, 'ready');
  await choose(page, file('snapshot.pickle', knownSnapshot({ extra: 3 * MiB })));
  await expect(page.locator('.file-name')).toHaveText('snapshot.pickle (2)');
  await waitForState(page, 'ready');
  expect(await bytesOf(page, 'peak')).toBe(10 * MiB);
  await button(page, 'snapshot.pickle').click();
  await expect(page.locator('.file-name')).toHaveText('snapshot.pickle');
  expect(await bytesOf(page, 'peak')).toBe(7 * MiB);
});

test('a broken file among others keeps its error and hides none', async ({ page }) => {
  await openPage(page);
  await choose(page, file('broken.pickle', Buffer.alloc(0)), file('good.pickle'), file('also.pickle'));
  await expect(page.locator('[data-entry-state="ready"]')).toHaveCount(2);
  await expect(entry(page, 'broken.pickle')).toHaveAttribute('data-entry-state', 'broken');
  await waitForState(page, 'ready'); // not the card of the broken one
  await expect(page.locator('.file-name')).toHaveText(/good|also/);
  await button(page, 'broken.pickle').click();
  await expect(page.getByRole('alert')).toContainText(/empty/i);
  await button(page, 'also.pickle').click();
  await waitForState(page, 'ready');
  await expect(page.locator('.file-name')).toHaveText('also.pickle');
  await page.getByRole('button', { name: 'Close broken.pickle' }).click();
  await expect(page.locator('[data-entry]')).toHaveCount(2);
});

test('a pin belongs to its file', async ({ page }) => {
  await openPage(page);
  await choose(page, file('a.pickle'), file('b.pickle'));
  await expect(page.locator('[data-entry-state="ready"]')).toHaveCount(2);
  await settledView(page);
  await page.keyboard.press('/');
  await page.keyboard.type('7f0000400000');
  await expect(page.locator('[data-count="1"]').first()).toBeVisible();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('button', { name: 'Unpin' })).toBeVisible();
  await page.locator('.plot').focus();
  await page.keyboard.press('.');
  await expect(page.getByRole('button', { name: 'Unpin' })).toBeHidden();
  await page.keyboard.press(',');
  await expect(page.getByRole('button', { name: 'Unpin' })).toBeVisible();
});

test('a dropped folder opens what may be snapshots, in the order people count', async ({ page }) => {
  await openPage(page);
  await page.evaluate(
    (bytes) => {
      const data = new DataTransfer();
      data.items.add(new File(['x'], 'run'));
      const names = ['rank10.pickle', 'rank2.pickle', 'train.log', 'rank1.pickle'];
      const entries = names.map((name) => ({
        isDirectory: false,
        isFile: true,
        name,
        file: (done: (file: File) => void) => done(new File([new Uint8Array(bytes)], name)),
      }));
      // A real folder cannot be made here: its entry is replaced by one that tells the same.
      DataTransferItem.prototype.webkitGetAsEntry = () =>
        ({
          isDirectory: true,
          isFile: false,
          name: 'run',
          createReader: () => ({
            readEntries: (done: (batch: unknown[]) => void) => done(entries.splice(0, 3)),
          }),
        }) as unknown as FileSystemEntry;
      document.body.dispatchEvent(
        new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }),
      );
    },
    [...knownSnapshot()],
  );
  await expect(page.locator('[data-entry-state="ready"]')).toHaveCount(3);
  const names = await page
    .locator('[data-entry]')
    .evaluateAll((all) => all.map((one) => one.getAttribute('data-entry')));
  expect(names).toEqual(['rank1.pickle', 'rank2.pickle', 'rank10.pickle']);
});

test('?url= takes files by address, several too; the policy of the page has the last word', async ({
  page,
}) => {
  await page.context().route('**/one.pickle', (route) => route.fulfill({ body: knownSnapshot() }));
  await page
    .context()
    .route('**/two.pickle', (route) => route.fulfill({ body: knownSnapshot({ extra: MiB }) }));
  await openPage(page, '?url=one.pickle&url=two.pickle');
  await expect(page.locator('[data-entry-state="ready"]')).toHaveCount(2);
  await expect(page.locator('.file-name')).toHaveText('one.pickle');
  await openPage(page, '?url=javascript:alert(1)');
  await waitForState(page, 'error');
  await expect(page.getByRole('alert')).toContainText('begin with http: or https:');
  await openPage(page, '?url=https://example.org/x.pickle');
  await waitForState(page, 'error');
  await expect(page.getByRole('alert')).toContainText(/could not be fetched/);
});

test('the host page may name files in the attribute src', async ({ page }) => {
  await page.context().route('**/one.pickle', (route) => route.fulfill({ body: knownSnapshot() }));
  const body = '<script type="module" src="viewer.js"></script><gpustrata-viewer src="one.pickle">';
  await page.context().route('**/host.html', (route) => route.fulfill({ body, contentType: 'text/html' }));
  await page.goto(`${process.env.GPUSTRATA_URL}host.html`);
  await waitForState(page, 'ready');
  expect(await bytesOf(page, 'peak')).toBe(7 * MiB);
});

test('going to another file needs no new picture: it is there in the frame', async ({ page }) => {
  await watchQuestions(page);
  await openPage(page);
  await page.waitForFunction(() => performance.getEntriesByName('gpustrata:rehearsed').length > 0);
  const rehearsed = (await questionsAsked(page)).length;
  await choose(page, file('a.pickle'), file('b.pickle', knownSnapshot({ extra: MiB })));
  await expect(page.locator('[data-entry-state="ready"]')).toHaveCount(2);
  await settledView(page);
  // The other one is prepared in the background, by its own engine.
  const prepared = await picturesAsked(page, rehearsed, 2);
  const before = (await questionsAsked(page)).length;
  const pixel = await page.evaluate(async () => {
    const viewer = document.querySelector('gpustrata-viewer')!.shadowRoot!;
    const timeline = viewer.querySelector('gpustrata-timeline')!.shadowRoot!;
    const bars = viewer
      .querySelector('gpustrata-peak-row')!
      .shadowRoot!.querySelectorAll<HTMLElement>('.bar');
    bars[1]!.click();
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    const canvas = timeline.querySelector<HTMLCanvasElement>('canvas.base')!;
    return [...canvas.getContext('2d')!.getImageData(canvas.width / 2, canvas.height - 60, 1, 1).data];
  });
  expect(pixel.slice(0, 3)).not.toEqual([255, 255, 255]);
  await expect(page.locator('.file-name')).toHaveText('b.pickle');
  await settledView(page);
  // At most the coarse picture of everything, of half as many rows, which the minimap and fast movement want.
  const half = Math.ceil(Math.max(...prepared.map(({ args }) => args.rows.count)) / 2);
  const asked = await picturesAsked(page, before, 0);
  expect(asked.filter(({ args }) => args.rows.count > half)).toEqual([]);
});
