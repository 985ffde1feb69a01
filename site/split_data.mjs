// Moves the texts that only the rest of the engine uses into the rest, which writes them to their places when it comes:
// wasm-split leaves all data in the first module.
//
// A text stays in the first module where any number in its code, or any word of other data, is an address in it. A number
// that only looks like an address keeps a text there for nothing; a text that the first module uses is never moved.
import { readFileSync, writeFileSync } from 'node:fs';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** LEB128, unsigned, below 2^32: of data sections all numbers are. */
function decode(bytes, at) {
  let value = 0;
  for (let scale = 1; ; scale *= 128) {
    const byte = bytes[at++];
    value += (byte & 127) * scale;
    if (byte < 128) return [value, at];
  }
}
function encode(value) {
  const bytes = [];
  for (; value > 127; value = Math.floor(value / 128)) bytes.push((value % 128) | 128);
  return [...bytes, value];
}
/** i32.const takes a signed number: its last byte leaves a bit for the sign. */
function encodeSigned(value) {
  const bytes = encode(value);
  if (bytes.at(-1) & 64) bytes.push(bytes.pop() | 128, 0);
  return bytes;
}

const typeOfData = 11;

/** [{ type, from, to }]: sections, `from` is behind the size. */
function sections(bytes) {
  const found = [];
  for (let at = 8; at < bytes.length;) {
    const [size, from] = decode(bytes, at + 1);
    found.push({ type: bytes[at], start: at, from, to: from + size });
    at = from + size;
  }
  return found;
}

/** Active segments of memory 0: [{ address, bytes }]. */
function segmentsOf(bytes, { from }) {
  const segments = [];
  let [left, at] = decode(bytes, from);
  for (; left > 0; --left) {
    const [flags, code] = decode(bytes, at);
    if (flags !== 0 || bytes[code] !== 0x41)
      throw new Error('a data segment is not at a constant address of memory 0');
    const [address, end] = decode(bytes, code + 1);
    const [size, first] = decode(bytes, end + 1);
    segments.push({ address, bytes: bytes.subarray(first, first + size) });
    at = first + size;
  }
  return segments;
}

function sectionOf(segments) {
  const content = [encode(segments.length)];
  for (const { address, bytes } of segments)
    content.push([0, 0x41, ...encodeSigned(address), 0x0b, ...encode(bytes.length)], bytes);
  const size = content.reduce((sum, part) => sum + part.length, 0);
  return Buffer.concat([[typeOfData], encode(size), ...content].map((part) => Buffer.from(part)));
}

/** Texts of a segment, of a line or several: [from, to) of their bytes, each ends before a zero. Short ones may be tables of characters. */
function textsOf(bytes) {
  const texts = [];
  for (let from = 0; from < bytes.length;) {
    const end = bytes.indexOf(0, from);
    const to = end < 0 ? bytes.length : end;
    if (to - from >= 12) {
      try {
        if (!/[^\P{Cc}\n]/u.test(utf8.decode(bytes.subarray(from, to)))) texts.push([from, to]);
      } catch {
        // no text
      }
    }
    from = to + 1;
  }
  return texts;
}

/** Every number in the code that may be an address. `text` = of wasm-dis. */
function numbersIn(text) {
  const numbers = new Set();
  for (const [, constant, offset] of text.matchAll(/i(?:32|64)\.const (-?\d+)|offset=(\d+)/g))
    numbers.add(Number(constant ?? offset));
  return numbers;
}

/**
 * Changes both modules in place.
 * @param {string} first path of the first module
 * @param {string} rest path of the rest
 * @param {string} text the first module as wasm-dis prints it
 */
export function splitData(first, rest, text) {
  const module = readFileSync(first);
  const data = sections(module).find(({ type }) => type === typeOfData);
  const segments = segmentsOf(module, data);
  const used = numbersIn(text);
  for (const { address, bytes } of segments)
    for (let word = -address & 3; word + 4 <= bytes.length; word += 4) used.add(bytes.readUInt32LE(word));
  const sorted = Uint32Array.from([...used].filter((number) => number >= 0 && number < 2 ** 32)).sort();
  /** Whether an address in from..to is used; one behind the end may be. */
  const isUsed = (from, to) => {
    let [low, high] = [0, sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sorted[middle] < from) low = middle + 1;
      else high = middle;
    }
    return low < sorted.length && sorted[low] <= to;
  };

  const moved = [];
  for (const { address, bytes } of segments)
    for (const [from, to] of textsOf(bytes)) {
      if (isUsed(address + from, address + to)) continue;
      moved.push({ address: address + from, bytes: Buffer.from(bytes.subarray(from, to)) });
      bytes.fill(0, from, to); // packs to next to nothing, where a segment for each piece that is left would not
    }

  writeFileSync(first, module);
  const other = readFileSync(rest);
  const all = sections(other);
  if (all.some(({ type }) => type === typeOfData)) throw new Error('the rest has data of its own');
  const code = all.find(({ type }) => type === 10);
  writeFileSync(rest, Buffer.concat([other.subarray(0, code.to), sectionOf(moved), other.subarray(code.to)]));
}
