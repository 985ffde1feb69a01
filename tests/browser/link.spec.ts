// The view in the address: links, history, what is remembered.
import { readFileSync } from 'node:fs';
import { expect, test, type Page } from '@playwright/test';
import { golden } from '../built.mjs';
import { expectAccessible } from './accessible.ts';
import { pointAt, settledView, viewAfter, textOf, pointOf } from './page.ts';
import { knownSnapshot, MiB } from './pickle.ts';
import { waitForState, openPage, choose, openKnown, openSample } from './support.ts';

const known = { name: 'known.pickle', buffer: knownSnapshot() };
const details = (page: Page) => page.locator('gpustrata-details h2');
const unpin = (page: Page) => page.getByRole('button', { name: 'Unpin' });

test('a link opened without its file asks for it, and shows its place when it is there', async ({ page }) => {
  await openKnown(page);
  await page.getByLabel('Colour by').selectOption('size');
  await page.getByLabel('Search and filter blocks').fill('size>1MiB');
  const at = await pointOf(page, 4.5, 5 * MiB);
  await page.mouse.move(at.x, at.y);
  const all = await settledView(page);
  await page.mouse.wheel(0, -120);
  const near = await viewAfter(page, all);
  const inB = await pointOf(page, 4.5, 5 * MiB);
  await page.mouse.click(inB.x, inB.y);
  await expect(unpin(page)).toBeVisible();
  await expect(page).toHaveURL(/block=1/);
  await expect(page).toHaveURL(/filter=size/);
  await expect(page).toHaveURL(/&x=/);
  const link = page.url();

  const other = await page.context().newPage();
  await other.goto(link);
  await waitForState(other, 'empty');
  const note = other.locator('[data-link-note]');
  await expect(note).toContainText('known.pickle');
  await expectAccessible(other);
  await choose(other, { name: 'renamed.pickle', buffer: knownSnapshot() }); // the content counts
  await waitForState(other, 'ready');
  await expect(note).toBeHidden();
  await expect(details(other)).toHaveAttribute('data-bytes', String(2 * MiB));
  await expect(unpin(other)).toBeVisible();
  await expect(other.getByLabel('Colour by')).toHaveValue('size');
  await expect(other.getByLabel('Search and filter blocks')).toHaveValue('size>1MiB');
  await expect(other.locator('gpustrata-filter [data-count]')).toHaveAttribute('data-count', '2');
  const view = await settledView(other);
  expect(view.x0).toBeCloseTo(near.x0, 6);
  expect(view.x1).toBeCloseTo(near.x1, 6);

  const third = await page.context().newPage();
  await third.goto(link);
  await waitForState(third, 'empty');
  await choose(third, { ...known, buffer: knownSnapshot({ extra: MiB }) });
  await waitForState(third, 'ready');
  await expect(third.locator('[data-link-note]')).toContainText('is not the file of this link');
  await expect(unpin(third)).toBeHidden();
  await third.getByRole('button', { name: 'Dismiss' }).click();
  await expect(third.locator('[data-link-note]')).toBeHidden();
});

test('pinned host memory is a device by name, by key and in the link', async ({ page }) => {
  const content = readFileSync(golden('era8_host_memory_and_annotate'));
  await openPage(page);
  await choose(page, { name: 'host.pickle', buffer: content });
  await waitForState(page, 'ready');
  const device = page.getByLabel('Device', { exact: true });
  await expect(device).toHaveValue('0');
  expect((await device.locator('option').allTextContents()).map((text) => text.trim())).toEqual([
    'Device 0 · 6 events',
    'Host (pinned) · 3 events',
  ]);
  await page.locator('.plot').focus();
  await page.keyboard.press('g');
  await expect(device).toHaveValue('-1');
  await expect(page.locator('[data-stat="events"]')).toHaveAttribute('data-count', '3');
  await expect(page.locator('.plot')).toHaveAttribute(
    'aria-label',
    /^Active memory, Host \(pinned\): 3 events/,
  );
  await expect(page).toHaveURL(/device=-1/);
  const other = await page.context().newPage();
  await other.goto(page.url());
  await waitForState(other, 'empty');
  await choose(other, { name: 'host.pickle', buffer: content });
  await expect(other.getByLabel('Device', { exact: true })).toHaveValue('-1');
  await expect(other.locator('[data-stat="events"]')).toHaveAttribute('data-count', '3');
  await settledView(other);
  await other.locator('.plot').focus();
  await other.keyboard.press('i');
  const coming = other.waitForEvent('download');
  await other.locator('[data-save="png"]').click();
  expect((await coming).suggestedFilename()).toBe('host.pickle-host.png');
  await page.keyboard.press('Shift+G');
  await expect(device).toHaveValue('0');
});

test('back and forward walk through selections', async ({ page }) => {
  await openKnown(page);
  const pin = async (bytes: number, size: number): Promise<void> => {
    await settledView(page); // the first choice opens the details, which take their width from the plot
    const at = await pointOf(page, 4.5, bytes);
    await page.mouse.click(at.x, at.y, { delay: 400 });
    await expect(details(page)).toHaveAttribute('data-bytes', String(size));
    await expect(unpin(page)).toBeVisible();
  };
  await pin(MiB, 4 * MiB);
  await pin(5 * MiB, 2 * MiB);
  await pin(6.5 * MiB, MiB);
  await page.goBack();
  await expect(details(page)).toHaveAttribute('data-bytes', String(2 * MiB));
  await page.goBack();
  await expect(details(page)).toHaveAttribute('data-bytes', String(4 * MiB));
  await page.goForward();
  await expect(details(page)).toHaveAttribute('data-bytes', String(2 * MiB));
  await page.goBack();
  await page.goBack();
  await expect(unpin(page)).toBeHidden();
  expect(textOf(await settledView(page))).not.toBe('');
});

test('back brings back the filter, the look, the axis and what was seen, and the choices in a panel', async ({
  page,
}) => {
  await openSample(page);
  await expect(page.getByLabel('Colour by')).toHaveValue('category'); // what it opens with
  const whole = await settledView(page);
  const filter = page.getByLabel('Search and filter blocks');
  const apart = (): Promise<void> => page.waitForTimeout(1100); // steps that follow each other at once are one
  const { x, y } = await pointAt(page, 0.6, 0.5);
  await page.mouse.move(x, y);
  await page.mouse.wheel(0, -400);
  await page.mouse.wheel(0, -400);
  const near = await viewAfter(page, whole);
  await apart();
  await filter.pressSequentially('size>1MiB');
  await expect(page).toHaveURL(/filter=size%3E1MiB/);
  await apart();
  await page.getByLabel('Colour by').selectOption('size');
  await apart();
  await page.locator('[role=tab][data-panel=map]').click();
  const order = page.getByLabel('Order of the address ranges');
  await order.selectOption('size');
  await expect(page).toHaveURL(/map\.order=size/);
  await apart();
  await page.locator('[role=tab][data-panel=timeline]').click();
  await apart();
  await page.locator('.plot').focus();
  await page.keyboard.press('e');
  await expect(page).toHaveURL(/axis=time/);

  await page.goBack();
  await expect(page).not.toHaveURL(/axis=time/);
  expect((await settledView(page)).x1).toBeCloseTo(near.x1, 6);
  await page.goBack(); // to the map
  await expect(order).toHaveValue('size');
  await page.goBack();
  await expect(order).toHaveValue('address');
  await page.goBack();
  await expect(order).toBeHidden();
  await expect(page.getByLabel('Colour by')).toHaveValue('size');
  await page.goBack();
  await expect(page.getByLabel('Colour by')).toHaveValue('category');
  await expect(filter).toHaveValue('size>1MiB');
  await page.goBack();
  await expect(filter).toHaveValue('');
  expect((await settledView(page)).x1).toBeCloseTo(near.x1, 6);
  await page.goBack();
  await expect(page.locator('.plot')).toHaveAttribute('data-view', textOf(whole));
  await page.goForward();
  await expect(page).toHaveURL(/&x=/);
});

test('a link shows the choices in panels, the ruler and the details', async ({ page }) => {
  await openSample(page);
  const open = page.url();
  await page.keyboard.press('l');
  await page.keyboard.press('4');
  const bar = page.locator('gpustrata-flame-bar');
  await bar.locator('[data-choice=by]').selectOption('file');
  await bar.locator('[data-shape=table]').click();
  const memory = page.locator('[role=tab][data-panel=memory]');
  const byFunction = page.locator('gpustrata-holders [data-by=function]');
  await memory.click();
  await byFunction.click();
  await page.getByRole('tab', { name: /^Compare/ }).click();
  await page.locator('[data-side-moment=before]').selectOption('peak');
  await page.locator('[role=tab][data-panel=timeline]').click();
  await settledView(page);
  await page.keyboard.press('m');
  const [from, to] = [await pointAt(page, 0.25, 0.5), await pointAt(page, 0.75, 0.5)];
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move(to.x, to.y, { steps: 3 });
  await page.mouse.up();
  await expect(page).toHaveURL(/ruler=/);
  const said = await page.locator('[data-measured]').getAttribute('data-measured');

  // A reload, and another reader.
  const link = new URL(page.url()).hash;
  await page.goto('about:blank');
  await page.goto(open.split('#')[0] + link);
  await waitForState(page, 'ready');
  await settledView(page);
  await expect(page.locator('gpustrata-details')).toBeVisible();
  await expect(page.locator('[data-side-moment=before]')).toHaveValue('peak');
  const events = (text: string | null): string => /[\d,]+ events/.exec(text ?? '')?.[0] ?? '';
  await expect
    .poll(async () => events(await page.locator('[data-measured]').getAttribute('data-measured')))
    .toBe(events(said));
  expect(events(said)).not.toBe('');
  await memory.click();
  await expect(byFunction).toHaveAttribute('aria-pressed', 'true');
  await page.keyboard.press('4');
  await expect(bar.locator('[data-choice=by]')).toHaveValue('file');
  await expect(page.locator('gpustrata-frame-table')).toBeVisible();
});

test('U copies the link of the view', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await openKnown(page);
  await page.keyboard.press('u');
  await expect(page.locator('gpustrata-toast')).toContainText('Link copied');
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied).toMatch(/#file=known\.pickle&hash=[0-9a-f]{16}&device=0$/);
});

test('the way to colour is remembered, and a page without storage works', async ({ page }) => {
  await openKnown(page);
  await page.keyboard.press('c');
  await expect(page.getByLabel('Colour by')).toHaveValue('stack');
  await openPage(page);
  await choose(page, known);
  await expect(page.getByLabel('Colour by')).toHaveValue('stack');
  await page.addInitScript(() =>
    Object.defineProperty(globalThis, 'localStorage', {
      get: () => {
        throw new Error('forbidden');
      },
    }),
  );
  await openKnown(page);
  await expect(page.getByLabel('Colour by')).toHaveValue('allocation');
  await page.keyboard.press('t');
  await expect(page.locator('gpustrata-viewer')).toHaveAttribute('data-theme', 'dark');
});

test('B tells about the file, as text too', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await openKnown(page);
  await page.keyboard.press('b');
  const about = page.locator('gpustrata-about');
  await expect(about).toContainText('known.pickle');
  await expect(about).toContainText('pickle');
  await expect(page).toHaveURL(/about=1/);
  await about.getByRole('button', { name: 'Copy all' }).click();
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toContain('Content: ');
  await page.keyboard.press('Escape');
  await expect(page).not.toHaveURL(/about=1/);
});
