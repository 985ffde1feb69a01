// Sizes as people write them.
import type { Bytes } from './units.ts';

const units: Readonly<Record<string, number>> = { '': 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30, t: 2 ** 40 };

/** `1.5 MiB`, `512k`, `2048`; undefined = that is no size. */
export function sizeOf(text: string): Bytes | undefined {
  const parts = /^(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?$/i.exec(text.trim());
  const scale = units[parts?.[2]?.toLowerCase() ?? ''];
  return parts && scale !== undefined ? Math.round(Number(parts[1]) * scale) : undefined;
}
