// Device memory as the bands of the timeline: numbers of segmentSnapshot(), worked out by hand there.
import { expect, test, type Page } from '@playwright/test';
import { expectAccessible } from './accessible.ts';
import { bytesOf, countOf, settledView, pointOf, watchErrors } from './page.ts';
import { MiB } from './pickle.ts';
import { segmentSnapshot } from './pool_snapshot.ts';
import { openSnapshot } from './support.ts';

const view = (page: Page) => page.getByRole('combobox', { name: 'View' });
const details = (page: Page) => page.locator('gpustrata-details');

async function openSegments(page: Page): Promise<void> {
  await page.emulateMedia({ colorScheme: 'light' });
  await openSnapshot(page, segmentSnapshot(), 'segments.pickle');
  await settledView(page);
  await view(page).selectOption('segments');
  await expect(view(page)).toHaveAttribute('data-bands', 'segments');
  await settledView(page);
}

test('maps and unmaps are bands, and their levels right', async ({ page }) => {
  const errors = watchErrors(page);
  await openSegments(page);
  expect(await bytesOf(page, 'peak')).toBe(34 * MiB);
  expect(await page.locator('[data-stat="peak"]').getAttribute('data-event')).toBe('4');
  expect(await bytesOf(page, 'initial')).toBe(10 * MiB);
  expect(await bytesOf(page, 'final')).toBe(14 * MiB);
  expect(await countOf(page, 'blocks')).toBe(5); // 10 from before, 2 + 2 + 2 mapped, 20
  for (const [event, level] of [12, 14, 16, 14, 34, 14].entries()) {
    const at = await pointOf(page, event + 0.5, 1 * MiB);
    await page.mouse.move(at.x, at.y);
    await expect(page.locator('[data-readout="event"]')).toHaveText(`event ${event}`);
    await expect(page.locator('[data-readout="reserved"]')).toHaveAttribute(
      'data-bytes',
      String(level * MiB),
    );
  }
  await expect(page.locator('[data-readout="allocated"]')).toHaveCount(0);
  expect(errors).toEqual([]);
});

test('the details are those of the segment', async ({ page }) => {
  await openSegments(page);
  const third = await pointOf(page, 2.5, 15 * MiB); // 10, 2, 2 below it
  await page.mouse.click(third.x, third.y);
  await expect(details(page).locator('[data-name]')).toHaveText(/^s'7f2000000000_0$/); // one with its neighbours
  await expect(details(page)).toContainText('segment_map');
  await expect(details(page)).toContainText('segment_unmap');
  await expect(details(page)).toContainText('expandable');
  await expect(details(page)).toContainText('third');
  const first = await pointOf(page, 2.5, 5 * MiB);
  await page.mouse.click(first.x, first.y);
  await expect(details(page).locator('[data-name]')).toHaveText(/^s'7f0000000000_0$/);
  await expect(details(page).locator('h2')).toHaveAttribute('data-bytes', String(10 * MiB));
  await expect(details(page)).toContainText('from before the first event');
  await expect(details(page)).toContainText('No stack is recorded');
});

test('filters and colours work on segments', async ({ page }) => {
  await openSegments(page);
  const count = page.locator('gpustrata-filter [data-count]');
  const filter = page.getByLabel('Search and filter blocks');
  await filter.fill('size<=2MiB');
  await expect(count).toHaveAttribute('data-count', '3');
  await filter.fill('stack:second');
  await expect(count).toHaveAttribute('data-count', '1');
  await filter.fill("address:s'7f1000000000");
  await expect(count).toHaveAttribute('data-count', '1');
  await filter.fill('alive@peak');
  await expect(count).toHaveAttribute('data-bytes', String(34 * MiB));
  await filter.fill('');
  await page.getByLabel('Colour by').selectOption('stack');
  await expect(page.locator('[data-kind="large train.py:20"]')).toHaveAttribute(
    'data-bytes',
    String(20 * MiB),
  );
  await expect(page.locator('[data-kind="no stack"]')).toHaveAttribute('data-bytes', String(10 * MiB));
});

test('readable by all, on a phone at night', async ({ page }) => {
  await openSegments(page);
  await page.setViewportSize({ width: 320, height: 800 });
  await page.emulateMedia({ colorScheme: 'dark' });
  await settledView(page);
  await expectAccessible(page);
});
