// Every panel, on every screen: readable by all, nothing wider than the page, no word cut off that cannot be read otherwise.
import { expect, test, type Page } from '@playwright/test';
import { expectAccessible } from './accessible.ts';
import { fleetOf, openFleet } from './fleets.ts';
import { shownBy } from './panels.mjs';
import { watchErrors } from './page.ts';
import { waitForState, openPage, openSample, shot } from './support.ts';

/** Of a run that went out of memory: all but those of profilers have something to say. */
const ofSnapshot =
  'state map flame overview oom leaks fragmentation compare events memory whatif source settings'.split(' ');
const screens = [
  { name: 'a phone', width: 320, height: 640, scale: 2, axe: true },
  { name: 'a laptop at 200 %', width: 640, height: 400, scale: 2, axe: false },
  { name: 'a desk', width: 1440, height: 900, scale: 1, axe: true },
  { name: '4K', width: 3840, height: 2160, scale: 1, axe: false },
] as const;

async function openPanel(page: Page, id: string): Promise<void> {
  const tab = page.locator(`[role=tab][data-panel="${id}"]`);
  if ((await tab.getAttribute('aria-selected')) !== 'true') await tab.click();
  await expect(tab).toHaveAttribute('aria-selected', 'true');
  await expect(page.getByRole('tabpanel').locator(shownBy(id)).first()).toBeAttached();
}

/** Buttons, headings and cells whose text is cut without a title that has it. */
async function cutOff(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const found: string[] = [];
    const walk = (root: Document | ShadowRoot): void => {
      for (const element of root.querySelectorAll<HTMLElement>('*')) {
        if (element.shadowRoot) walk(element.shadowRoot);
        if (!element.matches('button, h1, h2, h3, th, label, legend, summary, [role=tab]')) continue;
        if (!element.checkVisibility() || element.closest('[aria-hidden=true], .visually-hidden')) continue;
        const style = getComputedStyle(element);
        const isCut = element.scrollWidth > element.clientWidth + 1 && style.overflowX !== 'visible';
        const says = [element, ...element.querySelectorAll('*')].some((one) => one.hasAttribute('title'));
        if (isCut && !says && !element.closest('[title]'))
          found.push(`${element.localName} ${element.textContent?.trim().slice(0, 60)}`);
      }
    };
    walk(document);
    return found;
  });
}

/** With `axe` also what a machine knows of being readable by all. */
async function check(page: Page, what: string, axe: boolean): Promise<void> {
  if (axe) await expectAccessible(page, what);
  const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  expect(wider, what).toBeLessThanOrEqual(0);
  expect(await cutOff(page), what).toEqual([]);
}

for (const { name, width, height, scale, axe } of screens) {
  test.describe(name, () => {
    test.use({ viewport: { width, height }, deviceScaleFactor: scale });
    test('every panel of a snapshot', async ({ page }) => {
      const errors = watchErrors(page);
      await page.emulateMedia({ colorScheme: scale === 2 ? 'dark' : 'light', reducedMotion: 'reduce' });
      await openSample(page, 'out_of_memory.pickle.gz');
      for (const id of ofSnapshot) {
        await openPanel(page, id);
        await shot(page, `panel-${id}-${width}`);
        await check(page, `${id}, ${width} x ${height}`, axe);
      }
      expect(errors).toEqual([]);
    });
    test('every table of a fleet', async ({ page }) => {
      const errors = watchErrors(page);
      await page.emulateMedia({ colorScheme: scale === 2 ? 'dark' : 'light', reducedMotion: 'reduce' });
      await openFleet(page, fleetOf('1000'));
      await page.locator('[data-finding]').nth(1).getByRole('button').click(); // lights ranks
      await page.locator('gpustrata-rank-table [role=row][data-row="130"]').getByRole('button').click();
      await expect(page.locator('[data-missing]')).toBeVisible();
      for (const id of ['ranks', 'groups', 'stacks']) {
        await page.locator(`[role=tab][data-panel="${id}"]`).click();
        await check(page, `${id} of a fleet, ${width} x ${height}`, axe);
      }
      expect(errors).toEqual([]);
    });
    test('every panel of a profiler', async ({ page }) => {
      await openPage(page, '?open=samples/profiler_trace.json.gz');
      await waitForState(page, 'ready');
      for (const id of ['overview', 'ops', 'memory']) {
        await openPanel(page, id);
        await check(page, `${id}, ${width} x ${height}`, axe);
      }
    });
  });
}

test('on paper every answer is there, and nothing to press', async ({ page }) => {
  await openSample(page, 'out_of_memory.pickle.gz');
  for (const id of ['overview', 'oom', 'leaks', 'fragmentation', 'memory', 'settings']) {
    await page.emulateMedia({ media: 'screen' });
    await openPanel(page, id);
    const panel = page
      .locator(id === 'memory' || id === 'settings' ? 'gpustrata-drawer' : 'gpustrata-answers')
      .getByRole('tabpanel');
    const text = (await panel.innerText()).replace(/\s+/g, ' ').slice(0, 40);
    await page.emulateMedia({ media: 'print' });
    await expect(panel, id).toBeVisible();
    expect((await panel.innerText()).replace(/\s+/g, ' '), id).toContain(text.slice(0, 12));
    for (const control of await panel.locator('.button, select').all())
      await expect(control, id).toBeHidden();
  }
});
