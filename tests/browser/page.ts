// What the tests read from the page and do to it; the hooks are described in web/README.md.
import { expect, type Page } from '@playwright/test';

export interface View {
  x0: number;
  x1: number;
  y0: number;
  y1: number;
}

/** Bytes of a number in the header: peak, reserved-peak, initial, final. */
export async function bytesOf(page: Page, stat: string): Promise<number> {
  return Number(await page.locator(`[data-stat="${stat}"]`).getAttribute('data-bytes'));
}

/** Count of a number in the header: events, blocks, oom, notes. */
export async function countOf(page: Page, stat: string): Promise<number> {
  return Number(await page.locator(`[data-stat="${stat}"]`).getAttribute('data-count'));
}

/**
 * Waits until the exact picture is on the screen and nothing moves, then tells what it shows. Two frames go by before
 * it looks: what changed the size of the plot (details that open) has reached it then, however busy the machine is.
 */
export async function settledView(page: Page): Promise<View> {
  const plot = page.locator('.plot[data-settled]');
  let last = '';
  let shown = '';
  await expect
    .poll(
      async () => {
        const now = await plot.evaluate(async (element) => {
          for (let i = 0; i < 2; i++) await new Promise((next) => requestAnimationFrame(next));
          const { x, y, width, height } = element.getBoundingClientRect();
          const { view = '', plot: area = '', settled } = (element as HTMLElement).dataset;
          // The colours that a file opens with come after its first picture.
          const host = (of: Element): Element => (of.getRootNode() as ShadowRoot).host;
          const { look } = (host(host(element)) as HTMLElement).dataset;
          if (settled === undefined || look === undefined) return { view, all: '' };
          return { view, all: [view, area, x, y, width, height].join(' ') };
        });
        const same = now.all !== '' && now.all === last;
        last = now.all;
        shown = now.view;
        return same;
      },
      { intervals: [60, 120, 120, 250] },
    )
    .toBe(true);
  const [x0 = 0, x1 = 0, y0 = 0, y1 = 0] = shown.split(' ').map(Number);
  return { x0, x1, y0, y1 };
}

/** Waits until the view is another one than `before`, and rests. */
export async function viewAfter(page: Page, before: View): Promise<View> {
  await expect(page.locator('.plot')).not.toHaveAttribute('data-view', textOf(before));
  return settledView(page);
}

export const textOf = ({ x0, x1, y0, y1 }: View): string => [x0, x1, y0, y1].join(' ');

/** The details stay open, so that pointing alone fills them; waits until the picture fits beside them. */
export async function keepDetails(page: Page): Promise<void> {
  await page.keyboard.press('l');
  await expect(page.locator('gpustrata-details')).toBeVisible();
  await settledView(page);
}

/** Colours so, and waits for the legend, which may be of other ones before, and for the picture beside it. */
export async function colourBy(page: Page, way: string): Promise<void> {
  await page.getByLabel('Colour by').selectOption(way);
  const first = page.locator(`gpustrata-legend [data-by="${way}"] [data-kind]`).first();
  await expect(first).toHaveAttribute('data-bytes', /\d/);
  await settledView(page);
}

/** A point of the plot in page pixels; parts from the left and from the bottom. */
export async function pointAt(page: Page, right: number, up: number): Promise<{ x: number; y: number }> {
  return page.locator('.plot').evaluate(
    (plot, parts) => {
      const [left = 0, top = 0, width = 0, height = 0] = (plot as HTMLElement).dataset['plot']!.split(
        ' ',
      ).map(Number);
      const rect = plot.getBoundingClientRect();
      return {
        x: rect.left + (left + width * parts.right) / devicePixelRatio,
        y: rect.top + (top + height * (1 - parts.up)) / devicePixelRatio,
      };
    },
    { right, up },
  );
}

/** The same for data: an axis position and bytes. */
export async function pointOf(page: Page, units: number, bytes: number): Promise<{ x: number; y: number }> {
  const { x0, x1, y0, y1 } = await settledView(page);
  return pointAt(page, (units - x0) / (x1 - x0), (bytes - y0) / (y1 - y0));
}

/** Whether a pixel has a lightness of a colour: blocks of a group differ by a few steps, what is faded by many. */
export const alike = (pixel: string, color: string | null): boolean =>
  [1, 3, 5].every(
    (at) =>
      Math.abs(parseInt(pixel.slice(at, at + 2), 16) - parseInt((color ?? '#').slice(at, at + 2), 16)) <= 32,
  );

/** Colour of the picture at a place of the data, `#rrggbb`. */
export async function colorAt(page: Page, units: number, bytes: number): Promise<string> {
  const at = await pointOf(page, units, bytes);
  return page.locator('.plot').evaluate((plot, { x, y }) => {
    const rect = plot.getBoundingClientRect();
    const canvas = plot.querySelector<HTMLCanvasElement>('canvas.base')!;
    const pixel = canvas
      .getContext('2d')!
      .getImageData(
        Math.floor((x - rect.left) * devicePixelRatio),
        Math.floor((y - rect.top) * devicePixelRatio),
        1,
        1,
      );
    return '#' + [...pixel.data.slice(0, 3)].map((part) => part.toString(16).padStart(2, '0')).join('');
  }, at);
}

/** Collects what must not happen on any page. */
export function watchErrors(page: Page): string[] {
  const errors: string[] = [];
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  page.on('pageerror', (error) => errors.push(error.message));
  return errors;
}
