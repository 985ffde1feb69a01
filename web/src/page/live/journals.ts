// What the server says of the journals that it has, and what of them was read.
import type { ServedJournals, ServedReading } from '../../../engine/index.ts';

export type Journal = ServedJournals['journals'][number];
export type Place = NonNullable<ServedReading['journal']>;

/** Rejected if the server does not answer. */
export async function journalsOf(server: string): Promise<readonly Journal[]> {
  let response: Response;
  try {
    response = await fetch(`${server}journals`);
  } catch {
    throw new Error('The server does not answer. Start `gpustrata live` again, or the tunnel to it.');
  }
  if (!response.ok) throw new Error(await response.text());
  return ((await response.json()) as ServedJournals).journals;
}

/** There is more than was read of it; undefined = it is not known what was. */
export function hasGrown(now: Journal, read: Place | undefined): boolean {
  return (
    read?.position !== now.position ||
    read.started_us !== now.started_us ||
    read.closed !== (now.state === 'closed')
  );
}

/** Events that came since; undefined = not known. */
export function newerEvents(now: Journal, read: Place | undefined): number | undefined {
  if (read?.started_us !== now.started_us || now.events === null || read.events === null) return undefined;
  return Math.max(now.events - read.events, 0);
}

/** What links of this page name it by, since its content changes: the run that writes it. As long as a hash of contents. */
export function hashOf({ started_us: started, process }: Journal): string {
  const start = Math.max(started, 0).toString(16).slice(-13).padStart(13, '0');
  return start + (process & 0xfff).toString(16).padStart(3, '0');
}
