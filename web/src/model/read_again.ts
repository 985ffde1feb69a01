// A view's device in an engine of its own, for what takes long: the page stays alive, and closing the engine ends it at once.
import { EngineFailure, EngineView } from '../../engine/index.ts';
import { budget, type OpenFiles } from './open_files.ts';

/** Whoever asks closes the engine. Refused as reading a file is. */
export async function readAgain(
  { entries, pool }: OpenFiles,
  view: EngineView,
  signal: AbortSignal,
): Promise<EngineView> {
  const entry = entries.find(({ file }) => file?.engine === view.engine);
  const source = entry?.source;
  if (!source) {
    const message = entry
      ? 'This is a run of another file: ask there what other settings would do.'
      : 'The file is closed.';
    throw new EngineFailure({ code: 'wrong_usage', message, offset: -1 });
  }
  const engine = view.engine.beside() ?? (await pool.spare());
  const stop = (): void => engine.close();
  signal.addEventListener('abort', stop, { once: true });
  try {
    if (signal.aborted) stop();
    const shown = { ...view.shown, bands: 'blocks' as const, only: '' };
    return new EngineView(engine, shown, await engine.read(source, budget, 'open', shown));
  } catch (error) {
    stop();
    throw error;
  }
}
