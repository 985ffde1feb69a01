// Answers that come late, and what is kept when one goes away and comes back.
import { expect, test, type Page } from '@playwright/test';
import { settledView, viewAfter, pointAt } from './page.ts';
import { pickled, MiB } from './pickle.ts';
import { waitForState, openPage, choose, openSample } from './support.ts';

const chosen = (name: string, buffer: Buffer) => ({ name, buffer });
const deviceChoice = (page: Page) => page.getByRole('combobox', { name: 'Device', exact: true });

/** Of each device, for every of `sizes`: a block that comes and goes, 60 times; the first time it stays. */
function comingAndGoing(...sizes: number[]): Buffer {
  const trace = (size: number, device: number) => {
    const at = 0x7f0000000000 + device * 0x1000000000;
    const event = (action: string, addr: number, bytes: number) => ({
      action,
      addr,
      size: bytes,
      stream: 0,
      frames: [],
    });
    const rounds = Array.from({ length: 60 }, () => [
      event('alloc', at + 10 * MiB, MiB),
      event('free_requested', at + 10 * MiB, MiB),
      event('free_completed', at + 10 * MiB, MiB),
    ]);
    return [event('segment_alloc', at, 20 * MiB), event('alloc', at, size), ...rounds.flat()];
  };
  return pickled({ segments: [], device_traces: sizes.map(trace) });
}

test('the state of another file is asked for, whatever the number of its event', async ({ page }) => {
  await openPage(page);
  await choose(page, chosen('a.pickle', comingAndGoing(4 * MiB)));
  await waitForState(page, 'ready');
  await settledView(page);
  await page.getByRole('tab', { name: /^State/ }).click();
  const active = page.locator('[data-number="allocated"]');
  await expect(active).toHaveAttribute('data-bytes', String(5 * MiB));
  await choose(page, chosen('b.pickle', comingAndGoing(5 * MiB))); // its peak is after the same event
  await waitForState(page, 'ready');
  await expect(active).toHaveAttribute('data-bytes', String(6 * MiB));
  await expect(page.locator('.picture[data-settled]')).toBeVisible();
});

test('what is kept of a device is there when one comes back to it', async ({ page }) => {
  await openPage(page);
  await choose(page, chosen('two.pickle', comingAndGoing(4 * MiB, 5 * MiB)));
  await waitForState(page, 'ready');
  const whole = await settledView(page);
  const first = await deviceChoice(page).inputValue();
  const at = await pointAt(page, 0.3, 0.1);
  await page.mouse.click(at.x, at.y);
  const pinned = page.locator('gpustrata-details [data-name]');
  await expect(page.getByRole('button', { name: 'Unpin' })).toBeVisible();
  const name = await pinned.textContent();
  await page.mouse.wheel(0, -300);
  const zoomed = await viewAfter(page, whole);
  await page.keyboard.press('g');
  await expect(deviceChoice(page)).not.toHaveValue(first);
  await expect(page.getByRole('button', { name: 'Unpin' })).toBeHidden();
  await page.keyboard.press('g');
  await expect(deviceChoice(page)).toHaveValue(first);
  await expect(pinned).toHaveText(name!);
  await expect.poll(async () => (await settledView(page)).x0).toBeCloseTo(zoomed.x0, 6);
});

test('text is copied out of a dialog where the page is not secure', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.addInitScript(() => {
    Object.assign(window, { real: navigator.clipboard });
    Object.defineProperty(navigator, 'clipboard', { value: undefined }); // as on plain http
  });
  await openSample(page, 'out_of_memory.pickle.gz');
  await page.keyboard.press('b');
  const copy = page.locator('gpustrata-about gpustrata-copy button');
  await copy.click();
  await expect
    .poll(() => page.evaluate(() => (window as unknown as { real: Clipboard }).real.readText()))
    .toContain('out_of_memory.pickle');
  await expect(copy).toBeFocused();
});

test('a panel that was closed opens as it was left', async ({ page }) => {
  await openPage(page);
  await choose(page, chosen('a.pickle', comingAndGoing(4 * MiB)));
  await waitForState(page, 'ready');
  await settledView(page);
  await page.getByRole('tab', { name: /^State/ }).click();
  const picture = page.locator('.picture[data-settled]');
  await expect(picture).toBeVisible();
  const whole = (await picture.getAttribute('data-window'))!;
  await page.getByRole('button', { name: 'Zoom into the state' }).click();
  await expect(picture).not.toHaveAttribute('data-window', whole);
  const zoomed = (await picture.getAttribute('data-window'))!;
  await page.getByRole('tab', { name: /^Address map/ }).click();
  await page.getByLabel('Order of the address ranges').selectOption('size');
  await page.getByRole('tab', { name: /^State/ }).click();
  await expect(picture).toHaveAttribute('data-window', zoomed);
  await page.getByRole('tab', { name: /^Address map/ }).click();
  await expect(page.getByLabel('Order of the address ranges')).toHaveValue('size');
});
