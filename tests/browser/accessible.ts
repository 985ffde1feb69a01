// What a machine knows of being readable by all: axe-core in the page.
//
// Every panel is scanned once on a desk in the light and once on a phone in the dark, by manners.spec.ts; the page around
// them, its dialogs and its errors in both themes by look.spec.ts. A spec that alone reaches a state scans it once.
import AxeBuilder from '@axe-core/playwright';
import { expect, type Page } from '@playwright/test';

export async function expectAccessible(page: Page, what = ''): Promise<void> {
  // Without a second page for frames, which there are none of, and without a list of what is in order: half the time.
  const axe = new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ['violations'] });
  const { violations } = await axe.analyze();
  expect(
    violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`),
    what,
  ).toEqual([]);
}
