// A file that could be read, and which device of it is shown.
import type { Bytes } from '../base/units.ts';
import type {
  Contents,
  Diagnostic,
  Engine,
  EngineError,
  EngineView,
  Shown,
  Source,
} from '../../engine/index.ts';
import type { FleetChoice } from './fleet_choice.ts';
import type { SeriesChoice } from './series_choice.ts';

export interface OpenFile {
  name: string;
  bytes: Bytes;
  source: Source;
  engine: Engine;
  contents: Contents;
  snapshot: number;
  /** Undefined if the file names no device. */
  view: EngineView | undefined;
  /** Those that were shown, by `viewKey`: what was chosen and drawn of one is kept by the object. Only `view` is not released. */
  views: Map<string, EngineView>;
  /** What was chosen and is being opened, while `switching` lasts. */
  wanted: Shown | undefined;
  switching: Promise<void> | undefined;
  /** What the reader noticed, and what the view shown repaired. */
  diagnostics: readonly Diagnostic[];
  /** Of the blocks of the device shown, whatever the timeline shows of it; undefined = not known. */
  peak: Bytes | undefined;
  /** Of the device that is shown first of each snapshot, where there are several; undefined = not found out yet. */
  peaks: readonly (Bytes | undefined)[] | undefined;
  /** Of every device of each snapshot; undefined = not found out yet. */
  devicePeaks: readonly (readonly { device: number; bytes: Bytes }[])[] | undefined;
  /** What of a fleet was chosen; undefined = nothing yet. */
  fleet: FleetChoice | undefined;
  /** What of counters was chosen; undefined = nothing yet. */
  series: SeriesChoice | undefined;
  /** Of its bytes (engine/base/content_hash.h). */
  hash: string;
  /** Why the engine stopped after the file was shown. */
  died: EngineError | undefined;
}

/** There is a place in it that a link can tell: of a timeline, ranks, counters. */
export const hasPlaces = ({ view, contents }: OpenFile): boolean =>
  Boolean(view ?? (contents.fleets || contents.series));
