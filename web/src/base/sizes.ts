// Sizes as people write them: the same as the command and the filters read (engine/cli/sizes.h).
import type { Bytes } from './units.ts';

const letters = ['', 'k', 'm', 'g', 't'] as const;

/** `1.5 MiB`, `512k` (powers of 1024), `80 GB` (powers of 1000), `2048`; undefined = that is no size. */
export function sizeOf(text: string): Bytes | undefined {
  const parts = /^(\d+(?:\.\d+)?)\s*([kmgt]?)(i?b)?$/i.exec(text.trim());
  const power = letters.findIndex((letter) => letter === parts?.[2]?.toLowerCase());
  if (!parts || (power === 0 && parts[3]?.toLowerCase() === 'ib')) return undefined;
  const base = parts[3]?.toLowerCase() === 'b' ? 1000 : 1024;
  return Math.round(Number(parts[1]) * base ** power);
}

/** What a field shows so that `sizeOf` reads just these bytes again: `80 GiB`, `81050.625 MiB`, `1000001`. */
export function fieldOf(bytes: Bytes): string {
  for (let power = 3; power > 0; power -= 1) {
    const value = bytes / 1024 ** power;
    if (value >= 1 && Number.isInteger(value * 1000)) return `${value} ${letters[power]?.toUpperCase()}iB`;
  }
  return String(bytes);
}
