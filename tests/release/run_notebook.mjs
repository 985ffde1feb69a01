// Runs the first cell of a notebook in JupyterLab and says the peak that the viewer in the output shows, then what the
// cell printed.
//
//   node run_notebook.mjs ADDRESS CHROMIUM
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const tests = join(dirname(fileURLToPath(import.meta.url)), '..');
const { chromium } = createRequire(join(tests, 'package.json'))('playwright-core');

const [address, executablePath] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
try {
  const page = await browser.newPage({ viewport: { width: 1400, height: 1000 } });
  const foreign = [];
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.protocol.startsWith('http') && url.origin !== new URL(address).origin) foreign.push(url.href);
  });
  await page.goto(address, { timeout: 180_000 });
  await page.locator('.jp-Notebook-cell').first().click({ timeout: 180_000 });
  await page.locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]').waitFor({ timeout: 180_000 });
  await page.keyboard.press('Shift+Enter');
  const frame = page.frameLocator('.jp-OutputArea-output iframe');
  await frame
    .locator('gpustrata-viewer[data-state="ready"], gpustrata-viewer[data-state="error"]')
    .waitFor({ timeout: 180_000 });
  console.log((await frame.locator('[data-stat="peak"]').innerText()).split(/\s+/).join(' '));
  console.log((await page.locator('.jp-OutputArea-output pre').allInnerTexts()).join('\n'));
  if (process.env.GPUSTRATA_PICTURE) await page.screenshot({ path: process.env.GPUSTRATA_PICTURE });
  if (foreign.length > 0) throw new Error(`requests to elsewhere: ${foreign.join(', ')}`);
} catch (error) {
  const page = browser.contexts()[0]?.pages()[0];
  if (page && process.env.GPUSTRATA_PICTURE) await page.screenshot({ path: process.env.GPUSTRATA_PICTURE });
  throw error;
} finally {
  await browser.close();
}
