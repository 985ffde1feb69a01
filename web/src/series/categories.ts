// What a file tells of categories: the peak's parts, and the highest moments of its course.
import { html, type TemplateResult } from 'lit';
import { formatBytes, formatCount, formatExactBytes } from '../base/format.ts';
import type { Bytes } from '../base/units.ts';
import { bytesCell, tableOf, type TableColumn } from '../controls/table.ts';
import { colorOfSeries } from '../draw/areas.ts';
import type { Theme } from '../draw/colors.ts';
import { nameOfSeries, placeOf } from '../words/series_text.ts';
import type { CategoryMoment, SeriesPart } from '../../engine/index.ts';

const levelColumn = (name: string, of: (moment: CategoryMoment) => Bytes): TableColumn<CategoryMoment> => ({
  name,
  look: 'number',
  cell: (moment) => (of(moment) === 0 ? { text: '–', says: formatExactBytes(0) } : bytesCell(of(moment))),
});

const place = (part: SeriesPart, { time_us }: CategoryMoment): string =>
  time_us === null || part.first_us === null ? '' : placeOf(part, time_us - part.first_us);

/** `from`: the highest moment of the file that lies over it. */
export function peakOf(
  part: SeriesPart,
  peak: CategoryMoment,
  theme: Theme,
  over?: { name: string; bytes: Bytes },
): TemplateResult {
  const parts = Object.entries(peak.categories).filter(([, bytes]) => bytes > 0);
  return html`<section class="peak" data-peak data-bytes=${peak.bytes}>
    <p class="value" title=${formatExactBytes(peak.bytes)}>${formatBytes(peak.bytes)}</p>
    <p class="dim">
      at
      most${place(part, peak) === '' ? '' : `, at ${place(part, peak)}`}${over ? `; ${over.name}: ${formatBytes(over.bytes)}` : ''}
    </p>
    <ul>
      ${parts.map(
        ([name, bytes], index) =>
          html`<li data-category=${name} data-bytes=${bytes}>
            <i
              aria-hidden="true"
              .style=${`background: ${colorOfSeries(name, index, theme)}; width: ${Math.max(2, (100 * bytes) / Math.max(peak.bytes, 1))}%`}></i>
            <span>${nameOfSeries(name)}</span><b title=${formatExactBytes(bytes)}>${formatBytes(bytes)}</b>
          </li>`,
      )}
    </ul>
  </section>`;
}

export function courseOf(part: SeriesPart, course: readonly CategoryMoment[]): TemplateResult {
  const names = part.curves.slice(1).map(({ name }) => name);
  const used = names.filter((name) => course.some(({ categories }) => (categories[name] ?? 0) !== 0));
  return html`<section class="more">
    <h3>Over time</h3>
    <p class="dim">The highest moment of each of ${formatCount(course.length)} pieces of the time.</p>
    ${tableOf(course, {
      label: 'Levels over time',
      framed: true,
      data: { course: course.length },
      row: ({ bytes }) => ({ look: bytes === part.timeline?.peak?.bytes ? 'highest' : undefined }),
      columns: [
        {
          name: part.has_clock ? 'Time' : 'Snapshot',
          cell: (moment, at) => place(part, moment) || formatCount(at + part.first_step),
        },
        levelColumn('In all', ({ bytes }) => bytes),
        ...used.map((name) => levelColumn(nameOfSeries(name), ({ categories }) => categories[name] ?? 0)),
      ],
    })}
  </section>`;
}
