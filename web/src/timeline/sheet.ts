// The timeline's picture to take along (draw/sheet.ts), with its words.
import { formatBytes, plural } from '../base/format.ts';
import { colorsOf, type Theme } from '../draw/colors.ts';
import { colorsOfKinds } from '../draw/palettes.ts';
import type { Sheet } from '../draw/sheet.ts';
import { bandsNames, hasGap, hasReserved } from '../model/bands.ts';
import { deviceName } from '../model/devices.ts';
import { kindName } from '../words/group_text.ts';
import type { DeviceTracks } from './tracks/device_tracks.ts';
import type { Stage } from './tracks/stage.ts';
import type { Travel } from './tracks/travel.ts';

/** What a timeline shows. */
export interface OnScreen {
  stage: Stage;
  tracks: DeviceTracks;
  landmarks: Travel['landmarks'];
  canvas: HTMLCanvasElement;
  theme: Theme;
}

/** Undefined before there is a picture on the axis that is shown. */
export function timelineSheet(
  title: string,
  { stage, tracks, landmarks, canvas, theme }: OnScreen,
): Sheet | undefined {
  const { info, axis, device } = stage;
  const gap = hasGap(device);
  const reserved = hasReserved(info);
  const levels =
    info.bands === 'segments'
      ? ' reserved'
      : ` allocated${reserved ? `, ${formatBytes(info.reserved_peak)} reserved` : ''}`;
  const { shown } = tracks.picture;
  if (!shown || shown.columns.axis !== axis) return undefined;
  const { kinds, shares } = tracks.kinds;
  const colors = colorsOf(theme);
  const hues = colorsOfKinds(kinds, theme);
  const placed = landmarks?.axis === axis ? landmarks : undefined;
  return {
    title,
    subtitle: `${device.shown.only ? `only ${device.shown.only}, ` : ''}${deviceName(info.device, info.is_processor)}: ${plural(info.events, 'event')}, ${info.bands === 'blocks' ? '' : `${bandsNames[info.bands]}, `}peak ${formatBytes(info.peak.bytes)}${levels}`,
    at: stage.projection(),
    axis,
    colors,
    canvas,
    bands: {
      ...shown,
      bottom: shown.rows.bottom,
      top: shown.rows.bottom + shown.rows.count * shown.rows.bytesPerRow,
    },
    gap,
    reserved,
    peak: placed && info.peak.bytes > 0 ? { x: placed.peak, bytes: info.peak.bytes } : undefined,
    ooms: placed?.ooms ?? [],
    legend: [
      ...(info.bands === 'segments'
        ? []
        : [{ color: colors.allocated, text: info.bands === 'pools' ? 'in use' : 'allocated' }]),
      ...(reserved ? [{ color: colors.reserved, text: gap ? 'reserved; hatched: gap' : 'reserved' }] : []),
      ...(info.pools ? [{ color: colors.envelope, text: 'kept by pools, unused' }] : []),
      ...(kinds?.kinds ?? []).map((_, index) => ({
        color: hues[index] ?? colors.text,
        text: `${kindName(kinds, index) ?? ''}${shares?.kinds[index] ? `: ${formatBytes(shares.kinds[index].bytes)}` : ''}`,
      })),
    ],
  };
}
