// What answers of all kinds are made of.
import type { Row } from './arguments.ts';

/** Rows of the state history: a block's life, a piece of a segment. -1 = none. */
export type BlockRow = Row;

export type SegmentRow = Row;

export interface EngineError {
  code: string;
  message: string;
  /** Byte offset in the input, -1 = does not apply. */
  offset: number;
  /** What the offset counts in; absent = the file itself. */
  inside?: string;
}

export type Severity = 'info' | 'warning' | 'error';

export interface Diagnostic {
  severity: Severity;
  name: string;
  count: number;
  /** Byte offset of the first one, null or -1 = no place in the file. */
  first_offset: number | null;
  /** What it counts in ("rank0.pickle"); absent = the file itself. */
  first_in?: string;
  /** Where in the file that begins, if `first_in` is there. */
  file_offset?: number | null;
  text: string;
}

export interface Frame {
  text: string;
  name: string;
  file: string;
  line: number;
  repeats: number;
  /** Of the interpreter, or a wrapper: PyTorch's own viewer leaves it out. */
  hidden: boolean;
  /** The user's own code (engine/analysis/stacks/own_frame.h). */
  own: boolean;
  fx: string[];
}
