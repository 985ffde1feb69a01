// Reduced fleets for tests, made by tests/data/fleet/make.py (which says what is planted), and what they hold.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, type Locator, type Page } from '@playwright/test';
import { root } from '../built.mjs';
import { waitForState, openPage, choose } from './support.ts';

const script = join(root, 'tests/data/fleet/make.py');
const made = new Map<string, Buffer>();

/** `small`, or a number of ranks and options. */
export function fleetOf(...what: string[]): Buffer {
  const key = what.join(' ');
  const text = made.get(key) ?? execFileSync('python3', [script, ...what], { maxBuffer: 1 << 28 });
  made.set(key, text);
  return text;
}

export async function openFleet(page: Page, text: Buffer, name = 'run.fleet.json'): Promise<void> {
  await openPage(page);
  await choose(page, { name, buffer: text });
  await waitForState(page, 'ready');
  await settledHeat(page);
}
export async function settledHeat(page: Page): Promise<Locator> {
  const canvas = page.locator('gpustrata-heat-map canvas');
  await expect(canvas).toHaveAttribute('data-settled', '');
  return canvas;
}

/** Bytes of the curves, row after row. */
export function curveOf(text: Buffer, curve: 'allocated' | 'reserved'): Uint8Array {
  const { curves } = JSON.parse(text.toString()) as { curves: Record<typeof curve, string> };
  return Buffer.from(curves[curve], 'base64');
}
/** Values of a column. */
export function factsOf(text: Buffer, name: string): (number | string | null)[] {
  const { columns } = JSON.parse(text.toString()) as {
    columns: { name: string; values: (number | string | null)[] }[];
  };
  return columns.find((one) => one.name === name)?.values ?? [];
}

export interface Heat {
  /** Of the plot, in device pixels. */
  left: number;
  top: number;
  width: number;
  height: number;
  rowHeight: number;
  share: number;
  /** `#rrggbb` at the middle of each moment of painted rows. */
  colors: string[][];
}
export async function heatOf(page: Page): Promise<Heat> {
  const canvas = await settledHeat(page);
  return canvas.evaluate((element: HTMLCanvasElement) => {
    const [left = 0, top = 0, width = 0, height = 0] = (element.dataset['plot'] ?? '').split(' ').map(Number);
    const rowHeight = Number(element.dataset['rowHeight']);
    const { data } = element.getContext('2d')!.getImageData(left, top, width, height);
    const hex = (value: number): string => value.toString(16).padStart(2, '0');
    const colors: string[][] = [];
    for (let y = Math.floor(rowHeight / 2); y < height; y += rowHeight)
      colors.push(
        Array.from({ length: 128 }, (_, bucket) => {
          const at = 4 * (y * width + Math.floor(((bucket + 0.5) * width) / 128));
          return `#${hex(data[at]!)}${hex(data[at + 1]!)}${hex(data[at + 2]!)}`;
        }),
      );
    return { left, top, width, height, rowHeight, share: Number(element.dataset['share']), colors };
  });
}
