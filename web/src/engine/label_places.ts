// Where the blocks of labelled bands came from: the frame that the details put first. Inside the worker.
import type { AxisUnits, Rank } from '../base/units.ts';
import { ownFrame } from './origins.ts';
import type { BandLabel, Frame } from './answers.ts';

export type PlainLabel = Omit<BandLabel, 'function' | 'place'>;
type LabelFrame = Pick<Frame, 'name' | 'file' | 'line' | 'hidden'>;

const most = 20_000; // ranks remembered

export class LabelPlaces {
  private readonly known = new Map<Rank, { function: string; place: string }>();

  forget(): void {
    this.known.clear();
  }

  /** Bands narrower than `least` have no room for more than a size. `framesOf` answers with the engine's JSON. */
  add(labels: readonly PlainLabel[], least: AxisUnits, framesOf: (rank: Rank) => string): BandLabel[] {
    if (this.known.size > most) this.known.clear();
    return labels.map((label) => {
      if (label.x1 - label.x0 < least) return { ...label, function: '', place: '' };
      let place = this.known.get(label.rank);
      if (!place) {
        place = placeOf(JSON.parse(framesOf(label.rank)) as LabelFrame[]);
        this.known.set(label.rank, place);
      }
      return { ...label, ...place };
    });
  }
}

function placeOf(frames: readonly LabelFrame[]): { function: string; place: string } {
  const frame = ownFrame(frames);
  if (!frame) return { function: '', place: '' };
  const file = frame.file.split(/[/\\]/).at(-1) ?? '';
  return { function: frame.name, place: file === '' ? '' : `${file}:${frame.line}` };
}
