// The view in the address.
import assert from 'node:assert/strict';
import test from 'node:test';
import { like } from './assertions.ts';
import { sideField } from '../../web/src/panels/compare/sides.ts';
import { linked } from '../../web/src/panels/flame/choices.ts';
import { linkOf, shownIn, type Shown } from '../../web/src/model/link.ts';

test('what is shown goes into a link and comes back', () => {
  const shown: Shown = {
    file: 'run 1/ä&b=#.pickle',
    hash: '0123456789abcdef',
    snapshot: 2,
    device: 7,
    bands: 'pools',
    axis: 'time',
    view: { x0: 0.5, x1: 1e12, y0: 0, y1: 12.25 },
    colour: 'stack',
    stacking: 'groups',
    capacity: 80 * 2 ** 30,
    filter: 'size>1MiB stack:"a b" #&=%',
    only: 'size>1MiB stack:"a b" #&=%',
    block: 41,
    main: 'state',
    side: 'leaks',
    answer: 'events',
    event: -1,
    details: true,
    ruler: [2, 40.5],
    panels: { 'flame.of': 'difference', 'compare.before': 'peak run 1/ä&b.pickle' },
    about: true,
    beside: [
      { name: 'trace, of "rank 1".json', hash: 'fedcba9876543210', nudge: -1500.25, threads: [0, 17] },
      { name: 'closed.json', hash: 'fedcba9876543211', nudge: 0, threads: [] },
      { name: '', hash: 'fedcba9876543212', nudge: 6e7, threads: undefined },
    ],
    fleet: undefined,
  };
  assert.deepEqual(shownIn(`#${linkOf(shown)}`), shown);
  const host = { ...shown, device: -1 }; // pinned host memory
  assert.deepEqual(shownIn(linkOf(host)), host);
  assert.equal(shownIn(''), undefined);
  assert.equal(shownIn('#file=x&hash=nothex'), undefined);
  const odd = shownIn(
    '#file=x&hash=0123456789abcdef&x=9,3&y=0,NaN&device=-2&colour=red&stack=groups&axis=up&block=1e9&panel=z&event=-2&about=yes&bands=up&with=fedcba9876543210,1e9,-,x&with=x,1,-,x&with=fedcba9876543210,1&ruler=9,3&details=yes&flame.of=&Flame.of=x&flame=y&ops.__proto__=z',
  );
  like(odd, {
    view: undefined,
    device: 0,
    bands: 'blocks',
    colour: 'allocation',
    stacking: 'blocks', // there are no groups where each block has a colour of its own
    axis: 'event',
    block: -1,
    main: undefined,
    side: undefined,
    answer: 'z', // a panel of a later version: the registry decides
    event: undefined,
    about: false,
    details: false,
    ruler: undefined,
    panels: { 'flame.of': '' }, // what it means, the panel decides
    beside: [],
  });
});

test('a panel takes from a link only what it knows', () => {
  const { by, descending, base, other } = linked as Required<typeof linked>;
  assert.equal(by.value('file'), 'file');
  for (const text of ['', 'toString', 'LINE']) assert.equal(by.value(text), undefined);
  assert.equal(descending.value('1'), undefined);
  for (const text of ['-2', '1e9', '99999999999999999', ' 1']) assert.equal(base.value(text), undefined);
  assert.equal(base.value('-1'), -1);
  const side = { file: 'a b.pickle', moment: 'peak' } as const;
  assert.deepEqual(other.value(other.text(side)), side);
  assert.equal(other.value('noon a.pickle'), undefined);
  for (const one of [side, { file: undefined, moment: 'end' }, { file: 'x\ny', moment: undefined }] as const)
    assert.deepEqual(sideField.value(sideField.text(one)), one);
  assert.equal(sideField.value(''), undefined);
});
