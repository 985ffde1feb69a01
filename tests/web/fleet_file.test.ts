// The shape of reduced fleets: a file that Python made (tests/data/fleet/make.py), and bad ones.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { FleetRefused, readFleet, type Fleet } from '../../web/src/model/fleet_file.ts';

const small = readFileSync('tests/data/fleet/small.json', 'utf8');
const mib = 2 ** 20;

function read(text: string): Fleet {
  return readFleet(new TextEncoder().encode(text));
}
/** `small` with the first `from` replaced. */
function changed(from: string, to: string, text = small): string {
  assert.ok(text.includes(from), from);
  return text.replace(from, to);
}

test('columns, curves, findings and groups of a small fleet are what was written', () => {
  const fleet = read(small);
  assert.equal(fleet.leftOut, 0);
  assert.equal(fleet.title, 'run a');
  const column = (name: string) => fleet.columns.find((one) => one.name === name)?.values;
  assert.deepEqual(column('rank'), [null, 0, 1, 2, 3]); // the first line has none
  assert.deepEqual(column('peak_requested'), [null, 4 * mib, 4 * mib, 4 * mib, 12 * mib]);
  assert.equal(column('file')?.[2], 'rank1.pickle');

  // Five rows of 128 bytes, 255 being 12 MiB: row 4 ends there, row 1 at 4 MiB; next to nothing is not nothing.
  const { curves } = fleet;
  assert.equal(curves.allocated.length, 5 * 128);
  assert.equal(curves.clock, 'each');
  assert.equal(curves.scale, 12 * mib);
  assert.equal(curves.allocated[4 * 128 + 127], 255);
  assert.equal(curves.allocated[1 * 128 + 127], 85);
  assert.equal(curves.allocated[1 * 128 + 1], 1);
  assert.equal(curves.reserved[0], 0);
  assert.equal(curves.reserved[2 * 128], 85);

  const [first] = fleet.findings;
  assert.equal(first?.kind, 'outlier');
  assert.equal(first.bad, true);
  assert.deepEqual(first.rows, [4]);
  assert.equal(first.stacks[0]?.median, 512 * 1024);
  assert.equal(fleet.groups[1]?.most_row, 4);
  assert.equal(fleet.stacks[0]?.share, 0.375);
  assert.deepEqual(fleet.says, ['Ranks 4 to 5 of run a are missing.']);
  assert.equal(fleet.unreadable_count, 1);
});

test('what is damaged, of another version or does not fit is refused in words', () => {
  const bad: [string, RegExp][] = [
    [small.slice(0, 300), /damaged/],
    [`${small.trimEnd()} trailing`, /damaged/],
    [changed('"gpustrata_fleet":1', '"gpustrata_fleet":2'), /version 2/],
    [changed('"gpustrata_fleet":1', '"gpustrata_fleet":"1"'), /no reduced fleet/],
    [
      changed('"values":["a","a","a","a","a"]', '"values":["a","a","a","a"]'),
      /has 5 values, the one before it 4/,
    ],
    [changed('"buckets":128', '"buckets":64'), /64 buckets/],
    [changed('"allocated":"AAAA', '"allocated":"'), /has|have 637 bytes; 5 rows of 128 are 640/],
    [changed('"allocated":"AAAA', '"allocated":"AA!A'), /no base64/],
  ];
  for (const [text, says] of bad)
    assert.throws(() => read(text), (error) => error instanceof FleetRefused && says.test(error.message), String(says)); // prettier-ignore
  const bytes = new TextEncoder().encode(small);
  bytes[bytes.indexOf('k'.charCodeAt(0))] = 0xff;
  assert.throws(() => readFleet(bytes), FleetRefused);
});

test('what is of another type, unknown or not there is left out and counted', () => {
  let text = changed('"title":"run a"', '"future":{"a":[1,{"b":null}]},"title":"run a"'); // passed by
  text = changed('"rows_of":[1,2]', '"rows_of":[1,-1,2,5,2.5,"x",null]', text); // 4: -1, 5, 2.5, "x"
  text = changed('"rows":[4],"stacks"', '"rows":[99,4],"stacks"', text); // 1
  text = changed('"kind":"coverage"', '"kind":"weather"', text); // 1
  text = changed('"unreadable_count":1', '"unreadable_count":"1"', text); // 1
  const fleet = read(text);
  assert.equal(fleet.leftOut, 7);
  assert.deepEqual(fleet.groups[0]?.rows_of, [1, 2]);
  assert.deepEqual(fleet.findings[0]?.rows, [4]);
  assert.equal(fleet.findings[1]?.kind, 'unknown');
  assert.equal(fleet.unreadable_count, 0);
});

test('keys come in any order; columns of no known unit and second ones are left out', () => {
  const fleet =
    read(`{"findings":[{"rows":[1]}],"columns":[{"values":[1,null,true],"unit":"count","name":"a"},
    {"values":["x",null,"y"],"unit":"text","name":"b"},{"values":["x",7,null],"unit":"bytes","name":"c"},
    {"values":[1,2,3],"unit":"miles","name":"d"},{"values":[1,2,3],"unit":"count","name":"a"},{"__proto__":{"name":"e"}}],
    "gpustrata_fleet":1}`);
  assert.deepEqual(
    fleet.columns.map(({ name, values }) => [name, values]),
    [['a', [1, null, null]], ['b', ['x', null, 'y']], ['c', [null, 7, null]]],
  ); // prettier-ignore
  assert.equal(fleet.leftOut, 5); // true, "x", the unit, the second a, the one without a name
  assert.equal(fleet.curves.allocated.length, 0);
  assert.deepEqual(fleet.findings[0], {
    kind: 'unknown',
    title: null,
    text: null,
    rows: [1],
    stacks: [],
    bad: false,
  });
  assert.deepEqual(fleet.groups, []);
});
