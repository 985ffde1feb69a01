// Opens a page of `gpustrata html` in Chromium and says its peak; exit code 1 if it does not get ready.
//
//   node open_page.mjs PAGE.html CHROMIUM
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const tests = join(dirname(fileURLToPath(import.meta.url)), '..');
const { chromium } = createRequire(join(tests, 'package.json'))('playwright-core');

const [page_path, executablePath] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
try {
  const page = await browser.newPage();
  const errors = [];
  page.on('pageerror', (error) => errors.push(error.message));
  await page.goto(pathToFileURL(page_path).href);
  const viewer = page.locator('gpustrata-viewer[data-state="ready"], gpustrata-viewer[data-state="error"]');
  await viewer.waitFor({ timeout: 120_000 });
  const state = await viewer.getAttribute('data-state');
  if (state !== 'ready' || errors.length > 0) throw new Error([`state ${state}`, ...errors].join('; '));
  console.log((await page.locator('[data-stat="peak"]').innerText()).split(/\s+/).join(' '));
} finally {
  await browser.close();
}
