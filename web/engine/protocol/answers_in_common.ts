// What answers of all kinds are made of.
import type { ComparedRow, FlameGraph, ReportFinding } from './answers_described.ts';

export type Severity = 'info' | 'warning' | 'error';

/** What weights of calls are: `byte_us` = bytes times microseconds, `byte_events` = bytes times events. */
export type CallUnit = FlameGraph['unit'];

/** What proves a sentence. */
export type Proof = Omit<ReportFinding['says'][number], 'text'>;

/** Who asked, of a stack. */
export type WhoOfStack = Pick<ComparedRow, 'who' | 'stack' | 'filter' | 'rank'>;
