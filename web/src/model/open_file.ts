// A file that could be read, and which device of it is shown.
import type { Bytes } from '../base/units.ts';
import type { Bands, Contents, Diagnostic, EngineError, ViewInfo } from '../engine/answers.ts';
import type { EngineClient } from '../engine/client.ts';
import type { Source } from '../engine/protocol.ts';

export interface WantedView {
  snapshot: number;
  device: number;
  bands: Bands;
}

export interface OpenFile {
  name: string;
  bytes: Bytes;
  source: Source;
  engine: EngineClient;
  contents: Contents;
  snapshot: number;
  /** Undefined if the file names no device. */
  view: ViewInfo | undefined;
  /** Those that were shown, by `viewKey`: what was chosen and drawn of one is kept by the object. */
  views: Map<string, ViewInfo>;
  /** What was chosen and is being opened, while `switching` lasts. */
  wanted: WantedView | undefined;
  switching: Promise<void> | undefined;
  /** What the reader noticed, and what the view shown repaired. */
  diagnostics: readonly Diagnostic[];
  /** Of the blocks of the device shown, whatever the timeline shows of it; undefined = not known. */
  peak: Bytes | undefined;
  /** Of the device that is shown first of each snapshot, where there are several; undefined = not found out yet. */
  peaks: readonly (Bytes | undefined)[] | undefined;
  /** Of every device of each snapshot; undefined = not found out yet. */
  devicePeaks: readonly (readonly { device: number; bytes: Bytes }[])[] | undefined;
  /** Of its bytes (engine/base/content_hash.h). */
  hash: string;
  /** Why the engine stopped after the file was shown. */
  died: EngineError | undefined;
}
