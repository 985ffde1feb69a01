// What the page shows of itself, and where its buttons and keys lead.
import { expect, test, type Page } from '@playwright/test';
import { settledView } from './page.ts';
import { knownSnapshot } from './pickle.ts';
import { openPage, openSnapshot, waitForState } from './support.ts';

async function openOom(page: Page): Promise<void> {
  await openPage(page, '?open=samples/out_of_memory.pickle.gz');
  await waitForState(page, 'ready');
  await settledView(page);
}

for (const [way, act] of [
  ['key', (page: Page) => page.keyboard.press('o')],
  ['number', (page: Page) => page.locator('[data-stat=oom]').click()],
] as const)
  test(`out of memory by ${way} shows the event, not a block`, async ({ page }) => {
    await openOom(page);
    await act(page);
    await expect(page.locator('memstrata-details [data-title]')).toHaveText('Out of memory');
  });

test('a wrong filter takes the count and the dimming of the one before away', async ({ page }) => {
  await openSnapshot(page, knownSnapshot());
  const field = page.getByLabel('Search and filter blocks');
  const filter = page.locator('memstrata-filter');
  await field.fill('size>3MiB');
  await expect(filter.locator('[data-count]')).toHaveAttribute('data-count', '1');
  await field.fill('size>x');
  await field.press('Enter');
  await expect(filter.locator('[role=alert]')).toBeVisible();
  await expect(filter.locator('[data-count]')).toHaveCount(0);
});

test('a link made at the peak shows the peak', async ({ page }) => {
  await openSnapshot(page, knownSnapshot());
  await page.keyboard.press('p');
  await expect(page).toHaveURL(/event=4/);
});
