// What one sees, as the part of an address behind `#`, and back. Nothing of the file itself is in it: the file is named
// by its name and by a hash of its bytes, so that a link opened without it can ask for it.
import { addFleet, fleetIn, type FleetChoice } from './fleet_choice.ts';
import { colourWays } from './colours.ts';
import type { BesideInLink } from './beside/files.ts';
import type { Axis, Bands, ColourBy } from '../../engine/index.ts';
import { bandsWays } from './bands.ts';
import type { Bytes, Rank } from '../base/units.ts';
import { stackingOf, type Stacking } from './stacking.ts';
import { hostDevice } from './devices.ts';
import type { Viewport } from './viewport.ts';
import type { PanelTexts } from './workspace.ts';

export interface Shown {
  file: string;
  /** 16 hexadecimal digits (engine/base/content_hash.h). */
  hash: string;
  snapshot: number;
  device: number;
  bands: Bands;
  axis: Axis;
  /** Undefined = everything. */
  view: Viewport | undefined;
  colour: ColourBy;
  stacking: Stacking;
  /** Of the device, as the reader said; undefined = as the recording tells. */
  capacity?: Bytes | undefined;
  filter: string;
  /** The filter, if only what it means is shown; else empty. */
  only: string;
  /** The pinned block; -1 = none. */
  block: Rank;
  /** The main picture, if one was chosen (panels/registry.ts). */
  main: string | undefined;
  /** The answer beside it; undefined = the first one, empty = none. */
  side: string | undefined;
  /** The panel below it; undefined = none. */
  answer: string | undefined;
  /** The chosen moment: the state after this event, -1 = before the first. */
  event: number | undefined;
  /** The details are open though nothing is chosen. */
  details: boolean;
  /** The stretch of the axis that the ruler marks. */
  ruler: readonly [from: number, to: number] | undefined;
  panels: PanelTexts;
  /** The sheet about the file lies over the page. */
  about: boolean;
  /** Of a file that is a fleet. */
  fleet: FleetChoice | undefined;
  /** Files of the same run, by whose clock it is drawn. */
  beside: readonly BesideInLink[];
}

/** Without the `#`. What is as usual is left out. */
export function linkOf(shown: Shown): string {
  const parts = new URLSearchParams();
  parts.set('file', shown.file);
  parts.set('hash', shown.hash);
  if (shown.snapshot !== 0) parts.set('snapshot', String(shown.snapshot));
  parts.set('device', String(shown.device));
  if (shown.bands !== 'blocks') parts.set('bands', shown.bands);
  if (shown.axis !== 'event') parts.set('axis', shown.axis);
  const { view } = shown;
  if (view) {
    parts.set('x', `${short(view.x0)},${short(view.x1)}`);
    parts.set('y', `${short(view.y0)},${short(view.y1)}`);
  }
  if (shown.colour !== 'allocation') parts.set('colour', shown.colour);
  if (shown.stacking !== 'blocks') parts.set('stack', shown.stacking);
  if (shown.capacity !== undefined) parts.set('capacity', String(shown.capacity));
  if (shown.filter !== '') parts.set('filter', shown.filter);
  if (shown.only !== '') parts.set('only', '1');
  if (shown.block >= 0) parts.set('block', String(shown.block));
  if (shown.main !== undefined) parts.set('main', shown.main);
  if (shown.side !== undefined) parts.set('side', shown.side);
  if (shown.answer !== undefined) parts.set('panel', shown.answer);
  if (shown.event !== undefined) parts.set('event', String(shown.event));
  if (shown.details) parts.set('details', '1');
  if (shown.ruler) parts.set('ruler', shown.ruler.map(short).join());
  for (const [name, text] of Object.entries(shown.panels)) parts.set(name, text);
  if (shown.about) parts.set('about', '1');
  if (shown.fleet) addFleet(parts, shown.fleet);
  for (const file of shown.beside) parts.append('with', textOf(file));
  return parts.toString();
}

/** Undefined = this is no link of ours. Values that cannot be right are as usual. */
export function shownIn(fragment: string): Shown | undefined {
  const parts = new URLSearchParams(fragment.replace(/^#/, ''));
  const file = parts.get('file');
  const hash = parts.get('hash');
  if (file === null || hash === null || !/^[0-9a-f]{16}$/.test(hash)) return undefined;
  const whole = (name: string, usual: number): number => {
    const text = parts.get(name);
    return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : usual;
  };
  const pair = (name: string): [number, number] | undefined => {
    const numbers = (parts.get(name) ?? '').split(',').map(Number);
    const [low, high] = numbers;
    const right =
      numbers.length === 2 && low !== undefined && high !== undefined && Number.isFinite(high - low);
    return right && low >= 0 && high > low ? [low, high] : undefined;
  };
  const [x, y] = [pair('x'), pair('y')];
  const event = whole('event', parts.get('event') === '-1' ? -1 : NaN);
  const colour = colourWays.find((one) => one === parts.get('colour')) ?? 'allocation';
  const filter = (parts.get('filter') ?? '').slice(0, 4096);
  return {
    file: file.slice(0, 1000),
    hash,
    snapshot: whole('snapshot', 0),
    device: parts.get('device') === String(hostDevice) ? hostDevice : whole('device', 0),
    bands: bandsWays.find((one) => one === parts.get('bands')) ?? 'blocks',
    axis: parts.get('axis') === 'time' ? 'time' : 'event',
    view: x && y ? { x0: x[0], x1: x[1], y0: y[0], y1: y[1] } : undefined,
    colour,
    stacking: stackingOf(parts.get('stack'), colour),
    capacity: whole('capacity', 0) || undefined,
    filter,
    only: parts.get('only') === '1' ? filter : '',
    block: whole('block', -1),
    main: parts.get('main') ?? formerly(parts.get('panel')),
    side: parts.get('side') ?? undefined,
    answer: parts.get('panel') ?? undefined,
    event: Number.isNaN(event) ? undefined : event,
    details: parts.get('details') === '1',
    ruler: pair('ruler'),
    panels: Object.fromEntries(
      [...parts]
        .filter(([name, text]) => /^[a-z]+\.[a-zA-Z]+$/.test(name) && text.length <= longestText)
        .slice(0, mostTexts),
    ),
    about: parts.get('about') === '1',
    fleet: fleetIn(parts),
    beside: parts.getAll('with').slice(0, mostBeside).flatMap(besideIn),
  };
}

const mostBeside = 16;
const mostTexts = 64;
const longestText = 1000;

/** Hash, microseconds, threads that are open ('-' = no trace), name. */
function textOf({ hash, nudge, threads, name }: BesideInLink): string {
  return [hash, nudge, threads?.join('.') ?? '-', name].join();
}

function besideIn(text: string): BesideInLink[] {
  const [, hash, nudge, threads, name] =
    /^([0-9a-f]{16}),(-?\d{1,15}(?:\.\d{1,3})?),(-|(?:\d{1,3}(?:\.\d{1,3}){0,255})?),(.*)$/s.exec(text) ?? [];
  if (hash === undefined || threads === undefined) return [];
  return [
    {
      hash,
      nudge: Number(nudge),
      threads: threads === '-' ? undefined : threads.split('.').filter(Boolean).map(Number),
      name: (name ?? '').slice(0, 1000),
    },
  ];
}

/** Of links made when there was one panel, below the timeline. */
function formerly(panel: string | null): string | undefined {
  return panel === 'state' || panel === 'map' ? panel : undefined;
}

/** As many places as a screen can tell apart. */
function short(value: number): string {
  return String(Number(value.toPrecision(12)));
}
