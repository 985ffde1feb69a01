// Debian's Firefox, driven over WebDriver BiDi, which the browser speaks itself; and what the tests do in its pages.
import { existsSync } from 'node:fs';
import puppeteer from 'puppeteer-core';

/** Time for one thing to happen, in milliseconds: the machine may be busy. */
const patience = 30_000;

const firefoxPath = [process.env.GPUSTRATA_FIREFOX, '/usr/bin/firefox-esr', '/usr/bin/firefox'].find(
  (path) => path !== undefined && existsSync(path),
);

export function startFirefox() {
  if (firefoxPath === undefined) throw new Error('no Firefox: apt-get install firefox-esr');
  return puppeteer.launch({
    browser: 'firefox',
    executablePath: firefoxPath,
    headless: true,
    timeout: 120_000, // starting on a busy machine
    protocolTimeout: 120_000,
    // Nothing of its own goes to the network while a test counts requests.
    extraPrefsFirefox: {
      'network.captive-portal-service.enabled': false,
      'browser.safebrowsing.downloads.enabled': false,
    },
  });
}

/**
 * A page in a context of its own. `wrong` collects what must not happen: errors, what a policy refused, and requests that do
 * not begin with one of `allowed`.
 * @param {import('puppeteer-core').Browser} browser
 * @param {{ width?: number, height?: number, allowed?: string[] }} options
 */
export async function openTab(browser, { width = 1280, height = 800, allowed = [] } = {}) {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  page.setDefaultTimeout(patience);
  await page.setViewport({ width, height });
  const wrong = [];
  page.on('console', (message) => message.type() === 'error' && wrong.push(message.text()));
  page.on('pageerror', (error) => wrong.push(error.message));
  page.on('request', (request) => {
    const url = request.url();
    if (!/^(data|blob):/.test(url) && !allowed.some((start) => url.startsWith(start)))
      wrong.push(`asked for ${url}`);
  });
  return { page, wrong, close: () => context.close() };
}

/** Finds in the page, open shadow roots included. Runs there, therefore it uses nothing from here. */
const finder = `(selector) => {
  const roots = [document];
  for (const root of roots) {
    const found = root.querySelector(selector);
    if (found) return found;
    for (const element of root.querySelectorAll('*')) if (element.shadowRoot) roots.push(element.shadowRoot);
  }
  return null;
}`;

/** The element once it is there, wherever it lies. */
export async function find(page, selector, timeout = patience) {
  const end = Date.now() + timeout;
  for (;;) {
    const handle = await page.evaluateHandle(`(${finder})(${JSON.stringify(selector)})`);
    const element = handle.asElement();
    if (element) return element;
    await handle.dispose();
    if (Date.now() > end) throw new Error(`${selector} did not come`);
    await new Promise((next) => setTimeout(next, 100));
  }
}

export async function click(page, selector) {
  const element = await find(page, selector);
  await element.evaluate((node) => node.scrollIntoView({ block: 'nearest' }));
  await element.click();
}

export const dataOf = async (page, selector) =>
  (await find(page, selector)).evaluate((node) => ({ ...node.dataset }));
export const textOf = async (page, selector) =>
  (await find(page, selector)).evaluate((node) => node.textContent.trim());

/** Until the text of `selector` contains `wanted`; tells it. */
export async function textWith(page, selector, wanted) {
  const end = Date.now() + patience;
  for (;;) {
    const text = await textOf(page, selector);
    if (text.includes(wanted)) return text;
    if (Date.now() > end) throw new Error(`${selector} says ${text}, not ${wanted}`);
    await new Promise((next) => setTimeout(next, 100));
  }
}

/** Until the viewer shows a file with its exact picture. */
export async function shown(page, viewer = 'gpustrata-viewer') {
  await find(page, `${viewer}[data-state=ready]`);
  await find(page, '.plot[data-settled]');
}

/** Different colours among the pixels of the timeline's picture: 1 would be an empty one. */
export const coloursOfPicture = async (page) =>
  (await find(page, '.plot canvas.base')).evaluate((canvas) => {
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    return new Set(new Uint32Array(data.buffer)).size;
  });
