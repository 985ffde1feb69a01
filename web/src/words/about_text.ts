// What is known of a file, as rows for the panel and as text for the clipboard.
import {
  formatBytes,
  formatCount,
  formatDuration,
  formatExactBytes,
  formatWallClock,
  plural,
} from '../base/format.ts';
import type { Fact } from './described.ts';
import { deviceName } from '../model/devices.ts';
import type { OpenFile } from '../model/open_files.ts';

export function factsOfFile({ name, bytes, contents, hash, view, source }: OpenFile): Fact[] {
  const { snapshots } = contents;
  const devices = snapshots.reduce((sum, snapshot) => sum + snapshot.devices.length, 0);
  const events = snapshots
    .flatMap((snapshot) => snapshot.devices)
    .reduce((sum, device) => sum + device.events, 0);
  const facts: Fact[] = [
    { label: 'Name', value: name },
    ...('served' in source
      ? [{ label: 'Read by', value: new URL(source.served.address).host, more: 'a server, gpustrata serve' }]
      : []),
    { label: 'Format', value: contents.format },
    { label: 'Size', value: formatBytes(bytes), more: formatExactBytes(bytes) },
    { label: 'Content', value: hash, more: 'hash of its bytes, for links' },
    { label: 'Snapshots', value: formatCount(snapshots.length) },
    { label: 'Devices', value: formatCount(devices), more: plural(events, 'event') },
  ];
  if (!view) return facts;
  const { first_time_us: first, last_time_us: last } = view.info;
  facts.push(
    {
      label: 'Shown',
      value: deviceName(view.info.device, view.info.is_processor),
      more: plural(view.info.segments, 'segment'),
    },
    { label: 'Stacks', value: view.info.has_stacks ? 'recorded' : 'not recorded' },
    first === null || last === null
      ? { label: 'Times', value: 'not recorded' }
      : { label: 'Recorded', value: formatWallClock(first), more: `for ${formatDuration(last - first)}` },
  );
  return facts;
}

/** Names and values; what is inside another setting is named with a dot. */
export function settingLines(settings: unknown): [name: string, value: string][] {
  const lines: [string, string][] = [];
  const add = (name: string, value: unknown, depth: number): void => {
    if (typeof value === 'object' && value !== null && !Array.isArray(value) && depth < 4)
      for (const [key, inner] of Object.entries(value))
        add(name === '' ? key : `${name}.${key}`, inner, depth + 1);
    else if (name !== '' && lines.length < 200)
      lines.push([name, typeof value === 'string' ? value : JSON.stringify(value)]);
  };
  add('', settings ?? undefined, 0);
  return lines;
}

export function aboutText(file: OpenFile): string {
  const lines = factsOfFile(file).map(
    ({ label, value, more }) => `${label}: ${value}${more === undefined ? '' : ` (${more})`}`,
  );
  const settings = settingLines(file.view?.info.settings);
  if (settings.length > 0)
    lines.push('', 'Settings of the allocator:', ...settings.map(([name, value]) => `  ${name} = ${value}`));
  if (file.diagnostics.length > 0)
    lines.push(
      '',
      'What the reader noticed:',
      ...file.diagnostics.map(({ name, count, text }) => `  ${name} ×${count}: ${text}`),
    );
  return `${lines.join('\n')}\n`;
}
