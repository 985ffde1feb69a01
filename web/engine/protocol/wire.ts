// Frames of questions and answers (engine/session/frame.h): a header, a head of JSON, columns as they lie in memory.
import type { EngineError } from './answers.ts';
import { protocolVersion } from './version.ts';

const questionMagic = 0x5154534d; // "MSTQ"
const answerMagic = 0x4154534d; // "MSTA"
const headerBytes = 24;

export type Bytes = Uint8Array<ArrayBuffer>;

export interface Asked {
  ask: string;
  /** Of questions about a view. */
  view?: number;
  args: object;
}

export type Answered = { id: number; answer: unknown } | { id: number; error: EngineError };

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export function encodeQuestion(id: number, asked: Asked): Bytes {
  const head = encoder.encode(JSON.stringify(asked));
  const frame = new Uint8Array(headerBytes + head.length);
  new Uint32Array(frame.buffer, 0, 6).set([questionMagic, protocolVersion, id, head.length, 0, 0]);
  frame.set(head, headerBytes);
  return frame;
}

interface Column {
  /** Where it stands in the answer: `curves.event`. */
  name: string;
  type: 'i32' | 'f32' | 'f64' | 'u8' | 'rgba';
  count: number;
}
type Head =
  | { error: EngineError }
  | {
      answer: unknown;
      columns?: Column[];
    };

/** Columns are views of `frame`. Throws what is no answer of this version. */
export function decodeAnswer(frame: Bytes): Answered {
  // Everything is read in place, which needs eights.
  const bytes = frame.byteOffset % 8 === 0 ? frame : frame.slice();
  if (bytes.length < headerBytes) throw new Error('An answer ends in its header.');
  const [magic, version, id = 0, headBytes = 0, columnBytes = 0] = new Uint32Array(
    bytes.buffer,
    bytes.byteOffset,
    6,
  );
  if (magic !== answerMagic) throw new Error('This is no answer of the engine.');
  if (version !== protocolVersion)
    throw new Error(
      `The page and the engine are of different releases (protocol ${protocolVersion} and ${version}). ` +
        'Load the page that belongs to the engine: reload without the cache (Ctrl+Shift+R), or open the address that `gpustrata serve` prints.',
    );
  if (bytes.length !== headerBytes + headBytes + columnBytes)
    throw new Error('An answer has another length than it says.');
  const head = JSON.parse(decoder.decode(bytes.subarray(headerBytes, headerBytes + headBytes))) as Head;
  if ('error' in head) return { id, error: head.error };
  let at = bytes.byteOffset + headerBytes + headBytes;
  for (const column of head.columns ?? []) {
    const values = valuesOf(column, bytes.buffer, at);
    put(head.answer as Record<string, unknown>, column.name.split('.'), values);
    at += Math.ceil(values.byteLength / 8) * 8;
  }
  return { id, answer: head.answer };
}

function valuesOf({ type, count }: Column, buffer: ArrayBuffer, at: number) {
  switch (type) {
    case 'i32':
      return new Int32Array(buffer, at, count);
    case 'f32':
      return new Float32Array(buffer, at, count);
    case 'f64':
      return new Float64Array(buffer, at, count);
    case 'u8':
      return new Uint8Array(buffer, at, count);
    case 'rgba':
      return new Uint8ClampedArray(buffer, at, 4 * count);
  }
}

function put(answer: Record<string, unknown>, path: readonly string[], values: unknown): void {
  const [name = '', ...rest] = path;
  if (rest.length === 0) answer[name] = values;
  else put(answer[name] as Record<string, unknown>, rest, values);
}
