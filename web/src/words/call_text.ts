// Weights of calls in words.
import { formatBytes, formatCount, formatDuration, formatExactBytes, plural } from '../base/format.ts';
import type { CallUnit } from '../../engine/index.ts';

/** `71.2 GiB`, `1,204 blocks`, `3.2 GiB·s`. */
export function weightText(weight: number, unit: CallUnit): string {
  switch (unit) {
    case 'bytes':
      return formatBytes(weight);
    case 'blocks':
      return plural(weight, 'block');
    case 'byte_us':
      return `${formatBytes(weight / 1e6)}·s`;
    case 'byte_events':
      return `${formatBytes(weight)}·events`;
  }
}

/** With nothing lost: `76,450,234,368 bytes`. */
export function exactWeightText(weight: number, unit: CallUnit): string {
  switch (unit) {
    case 'bytes':
      return formatExactBytes(weight);
    case 'blocks':
      return plural(weight, 'block');
    case 'byte_us':
      return `${formatExactBytes(weight)} × ${formatDuration(1)}`;
    case 'byte_events':
      return `${formatCount(weight)} bytes × events`;
  }
}

/** `+3.2 GiB`, `−1.1 GiB`, `0 B`. */
export function changeText(change: number, unit: CallUnit): string {
  return change > 0 ? `+${weightText(change, unit)}` : weightText(change, unit);
}
