/**
 * Panels by their names, and what each shows once its answer is there; web/README.md has the attributes.
 * @type {Readonly<Record<string, string>>}
 */
export const shownBy = {
  timeline: '.plot[data-settled]',
  state: '.picture[data-settled]',
  map: 'gpustrata-address-map .scroller[data-settled]',
  flame: 'gpustrata-flame-graph .scroller[data-settled]',
  devices: '[data-tracks] canvas[data-settled]',
  overview: '[data-answered]',
  oom: '[data-answered]',
  leaks: '[data-answered]',
  fragmentation: '[data-moments]',
  compare: '[data-before]',
  events: '[role=row][data-event]',
  memory: '.table[data-settled]',
  whatif: '[data-task=none] [data-run]',
  fit: '[data-empty], [data-task=none] [data-value]',
  source: '[data-answered]',
  settings: '[data-settings]',
  ops: '.scroller[data-rows]',
};
