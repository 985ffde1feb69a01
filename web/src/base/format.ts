// Numbers as text; the only place where that is done.
import type { Bytes, Microseconds } from './units.ts';

const unitNames = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** `512 B`, `2.0 KiB`, `71.2 GiB`: as the engine's sentences have it (`engine/base/units.h`). */
export function formatBytes(bytes: Bytes): string {
  const sign = bytes < 0 ? '−' : '';
  let value = Math.abs(bytes);
  if (value < 1024) return `${sign}${Math.round(value)} B`;
  let unit = 0;
  // The text decides, not the value: 1023.96 KiB would read 1024.0 KiB.
  while (unit === 0 || (Number(value.toFixed(1)) >= 1024 && unit < unitNames.length - 1)) {
    value /= 1024;
    unit += 1;
  }
  return `${sign}${value.toFixed(1)} ${unitNames[unit]}`;
}

/** A sentence that breaks nowhere between a number and its unit. */
export const unbroken = (text: string): string => text.replace(/(\d) (?=(?:[KMGT]i)?B\b|%)/g, '$1\u00a0');

/** What is needed at least, so never rounded down: `9.4 GiB` for 9.31. */
export function formatNeeded(bytes: Bytes): string {
  const scale =
    1024 ** Math.min(Math.max(Math.floor(Math.log2(Math.max(bytes, 1)) / 10), 0), unitNames.length - 1);
  return formatBytes(scale === 1 ? bytes : (Math.ceil((bytes / scale) * 10 - 1e-6) / 10) * scale);
}

/** `76,450,234,368 bytes`. */
export function formatExactBytes(bytes: Bytes): string {
  return `${formatCount(bytes)} ${bytes === 1 ? 'byte' : 'bytes'}`;
}

/** Text of a tick at a multiple of `step`: the step decides on unit and places, so a ruler reads evenly. */
export function formatBytesTick(bytes: Bytes, step: Bytes): string {
  if (bytes === 0) return '0';
  let unit = 0;
  let scale = 1;
  while (unit < unitNames.length - 1 && step * 4 >= scale * 1024) {
    scale *= 1024;
    unit += 1;
  }
  const digits = step >= scale ? 0 : step * 2 >= scale ? 1 : 2;
  return `${grouped((bytes / scale).toFixed(digits))} ${unitNames[unit] ?? ''}`;
}

/** With as many places as a pixel of `resolution` bytes deserves: `7.1934 GiB`. */
export function formatBytesAt(bytes: Bytes, resolution: Bytes): string {
  let scale = 1;
  for (const unit of unitNames) {
    const digits = Math.min(Math.max(Math.ceil(Math.log10(scale / Math.max(resolution, 1))), 0), 6);
    const text = (bytes / scale).toFixed(digits);
    if (Math.abs(Number(text)) < 1024 || unit === unitNames.at(-1)) return `${text} ${unit}`;
    scale *= 1024;
  }
  return '';
}

/** `1,234,567`. */
export function formatCount(count: number): string {
  return (count < 0 ? '−' : '') + grouped(String(Math.abs(Math.trunc(count))));
}

/** `+3 MiB`: of a change. */
export const formatSigned = (value: number, format = formatBytes): string =>
  `${value > 0 ? '+' : ''}${format(value)}`;

/** `97 %`: how sure something is. */
export const formatSure = (sure: number): string => `${Math.round(100 * sure)} %`;

/** `34 %`, `3.4 %`, `0 %`; what is there is at least `< 0.1 %`. */
export function formatShare(part: number, whole: number): string {
  const percent = whole > 0 ? (100 * part) / whole : 0;
  if (percent > 0 && percent < 0.1) return '< 0.1 %';
  return `${percent.toFixed(percent > 0 && percent < 9.95 ? 1 : 0)} %`;
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

/** Length of a stretch of time: `412 µs`, `3.21 ms`, `12.345 s`, `4 min 05.2 s`, `2 h 03 min`. */
export function formatDuration(us: Microseconds): string {
  return (us < 0 ? '−' : '') + durationOf(Math.abs(us));
}

/** Rounded first, so that nothing reads `1000 ms` or `4 min 60.0 s`. */
function durationOf(us: Microseconds): string {
  const inMicroseconds = us.toFixed(us < 9.95 && !Number.isInteger(us) ? 1 : 0);
  if (Number(inMicroseconds) < 1000) return `${trimZeros(inMicroseconds)} µs`;
  const inMilliseconds = (us / 1e3).toFixed(us < 1e5 ? 2 : 1);
  if (Number(inMilliseconds) < 1000) return `${trimZeros(inMilliseconds)} ms`;
  const inSeconds = (us / 1e6).toFixed(3);
  if (Number(inSeconds) < 60) return `${inSeconds} s`;
  const tenths = Math.round(us / 1e5);
  if (tenths < 36_000)
    return `${Math.floor(tenths / 600)} min ${((tenths % 600) / 10).toFixed(1).padStart(4, '0')} s`;
  const minutes = Math.round(us / 6e7);
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`;
}

/** Moment since the first event: `+12.345678 s`, to the microsecond. */
export function formatMoment(us: Microseconds): string {
  const sign = us < 0 ? '−' : '+';
  return `${sign}${(Math.abs(us) / 1e6).toFixed(6)} s`;
}

/** Tick of the time axis: as many places as `step` needs. */
export function formatMomentTick(us: Microseconds, step: Microseconds): string {
  if (us === 0) return '0 s';
  let digits = 0;
  while (digits < 6 && step < 10 ** (6 - digits)) digits += 1;
  return `${us < 0 ? '−' : '+'}${(Math.abs(us) / 1e6).toFixed(digits)} s`;
}

/** Date and time of microseconds since 1970, with milliseconds; in UTC, as the command tells it. */
export function formatWallClock(us: Microseconds): string {
  const date = new Date(us / 1000);
  if (Number.isNaN(date.getTime())) return 'unknown';
  return `${date.toISOString().slice(0, -1).replace('T', ' ')} UTC`;
}

/** `byte 0x1f4 (500)`. */
export function formatOffset(offset: number): string {
  return `byte 0x${offset.toString(16)} (${formatCount(offset)})`;
}

/** `412 MiB/s`. */
export function formatRate(bytes: Bytes, milliseconds: number): string {
  return milliseconds <= 0 ? '' : `${formatBytes((bytes / milliseconds) * 1000)}/s`;
}

/** Last part of a path of either kind of system. */
export function baseName(path: string): string {
  return path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
}

function grouped(number: string): string {
  return number.replace(/\B(?=(\d{3})+(\.|$))(?<!\.\d*)/g, ',');
}

function trimZeros(text: string): string {
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

/** `×2.1`, `×0.48`: two or three figures. */
export function formatRatio(ratio: number): string {
  const rounded = Number(ratio.toPrecision(ratio >= 0.1 && ratio < 10 ? 2 : 3));
  return `×${rounded >= 1000 ? formatCount(rounded) : rounded}`;
}
