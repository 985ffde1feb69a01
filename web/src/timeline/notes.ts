// What one should know of a timeline before reading it.
import { html, type TemplateResult } from 'lit';
import type { EngineView, ViewInfo } from '../../engine/index.ts';

export function timelineNotes({ info, shown }: EngineView): TemplateResult {
  return html`${!info.has_history ? noEvents : ''} ${info.is_processor ? processorNote : ''}
  ${bandsNote(info)} ${shown.only ? onlyNote : ''}`;
}

const onlyNote = html`<p class="note" data-note="only">
  Matching blocks only, stacked from zero. Reserved is what the allocator holds for all blocks.
</p>`;

const processorNote = html`<p class="note" data-note="processor">
  Memory of the processor, as a profiler recorded it; memory of a GPU is not part of it.
</p>`;

const noEvents = html`<p class="note">
  No events of this device: the picture is the state when it was saved. Call
  <code>torch.cuda.memory._record_memory_history()</code> before the work to see how it came about.
</p>`;

/** What the bands are, if they are not blocks. */
function bandsNote({ bands, pools }: ViewInfo): TemplateResult | '' {
  if (bands === 'blocks') return '';
  const text =
    bands === 'segments'
      ? 'A band is device memory from when the allocator got it (segment_alloc, segment_map) until it gave it back.'
      : pools
        ? 'Private pools count as allocated with the most they ever held; grey is kept, but unused. Pools deleted before the snapshot are missing.'
        : 'This file names no private pool on this device, so the picture is that of the active memory.';
  return html`<p class="note" data-note="bands">${text}</p>`;
}
