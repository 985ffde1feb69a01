// The page starts, served and from the disk.
import { expect, test } from '@playwright/test';
import { watchErrors } from './page.ts';
import { openOfflinePage, openPage } from './support.ts';

test('the served page starts empty and without errors', async ({ page }) => {
  const errors = watchErrors(page);
  await openPage(page);
  expect(errors).toEqual([]);
});

test('the one-file page starts from the disk without errors', async ({ page }) => {
  const errors = watchErrors(page);
  await openOfflinePage(page);
  expect(errors).toEqual([]);
});
