/**
 * What panels show once their answers are there, where it is not that of `AnswerPanel`; web/README.md has the attributes.
 * @type {Readonly<Record<string, string>>}
 */
const marks = {
  timeline: '.plot[data-settled]',
  state: '.picture[data-settled]',
  map: 'gpustrata-address-map .scroller[data-settled]',
  flame: 'gpustrata-flame-graph .scroller[data-settled]',
  devices: '[data-tracks] canvas[data-settled]',
  fragmentation: '[data-moments]',
  compare: '[data-before]',
  events: '[role=row][data-event]',
  memory: '.table[data-settled]',
  whatif: '[data-task=none] [data-run]',
  fit: '[data-empty], [data-task=none] [data-value]',
  settings: '[data-settings]',
  ops: '.scroller[data-rows]',
};

/** @param {string} panel */
export const shownBy = (panel) => marks[panel] ?? '[data-answered]';
