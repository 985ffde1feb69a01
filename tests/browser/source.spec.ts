// Frames open in an editor; lines of source with their bytes.
import { mkdir, writeFile } from 'node:fs/promises';
import { expect, test, type Page } from '@playwright/test';
import { expectAccessible } from './accessible.ts';
import { openSample } from './support.ts';

async function openTraining(page: Page): Promise<void> {
  await openSample(page);
  await page.getByRole('tab', { name: /^Source/ }).click();
  await expect(page.locator('gpustrata-source [data-answered]')).toBeVisible();
}

test('lines of the file with most, with the text of a chosen folder; the same text in the details', async ({
  page,
}, info) => {
  await openTraining(page);
  // 786 MiB by train.py:88 alone, the largest block of the peak.
  await page.locator('[data-source-file$="train.py"]').getByRole('button').click();
  const line = page.locator('tr[data-line="88"]');
  await expect(line).toHaveAttribute('data-own', '824180736');
  const folder = info.outputPath('tiny-lm');
  await mkdir(folder, { recursive: true });
  const text = Array.from({ length: 120 }, (_, i) =>
    i === 87 ? '    loss = loss_of(logits)' : `# line ${i + 1}`,
  );
  await writeFile(`${folder}/train.py`, text.join('\n'));
  await page.getByLabel('Folder of source').setInputFiles(folder);
  await expect(page.locator('[data-source-folder="1"]')).toBeVisible();
  await expect(line).toContainText('loss = loss_of(logits)');
  await expect(page.locator('tr:has-text("# line 86")')).toBeVisible(); // around it
  await expect(page.locator('tr:has-text("# line 40")')).toHaveCount(0);
  await expectAccessible(page);
  await line.getByRole('button').click();
  await page.locator('[data-part^="loss_of"]').getByRole('button').click();
  await expect(page.locator('gpustrata-details [data-source-text]').first()).toContainText(
    'loss = loss_of(logits)',
  );
});

test('the choice of an editor makes links of frames, and is remembered', async ({ page }) => {
  await openTraining(page);
  await page.locator('[data-editor-choice]').selectOption('vscode');
  await page.locator('[data-editor-field=from]').fill('/home/dev/');
  await page.locator('[data-editor-field=to]').fill('/home/me/code/');
  await page.locator('[data-editor-field=to]').press('Tab');
  const link = page.locator('gpustrata-source a[data-editor]').first();
  await expect(link).toHaveAttribute('href', /^vscode:\/\/file\/home\/me\/code\/tiny-lm\/.*:\d+$/);
  await openTraining(page);
  await expect(page.locator('gpustrata-source a[data-editor]').first()).toHaveAttribute(
    'href',
    /home\/me\/code/,
  );
  await page.locator('[data-part]').first().getByRole('button').click();
  await expect(page.locator('gpustrata-details a[data-editor]').first()).toHaveAttribute('href', /^vscode:/);
});
