import { expect, test } from '@playwright/test';
import { openPage, openOfflinePage } from './support.ts';

test('the served page starts empty and without errors', async ({ page }) => {
  const errors: string[] = [];
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  page.on('pageerror', (error) => errors.push(error.message));
  await openPage(page);
  expect(errors).toEqual([]);
});

test('the one-file page starts from the disk without errors', async ({ page }) => {
  const errors: string[] = [];
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  page.on('pageerror', (error) => errors.push(error.message));
  await openOfflinePage(page);
  expect(errors).toEqual([]);
});
