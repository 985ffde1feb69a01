// Sizes as people write them.
import assert from 'node:assert/strict';
import test from 'node:test';
import { fieldOf, sizeOf } from '../../web/src/base/sizes.ts';

test('a size means what the command takes it for', () => {
  assert.equal(sizeOf('2048'), 2048);
  assert.equal(sizeOf('7 B'), 7);
  assert.equal(sizeOf('1.5 MiB'), 1_572_864);
  assert.equal(sizeOf('512k'), 524_288);
  assert.equal(sizeOf('80G'), 85_899_345_920);
  assert.equal(sizeOf(' 80 GB '), 80_000_000_000);
  assert.equal(sizeOf('1.5kB'), 1500);
  assert.equal(sizeOf('2tb'), 2_000_000_000_000);
});

test('what is no size is none', () => {
  for (const text of ['', 'GiB', '80 GiBs', '-1', '1e9', '8 ib', '1.2.3'])
    assert.equal(sizeOf(text), undefined, text);
});

test('a field shows bytes exactly, in the largest unit that has them in three places', () => {
  const written: [number, string][] = [
    [80 * 1024 ** 3, '80 GiB'],
    [1.5 * 1024 ** 3, '1.5 GiB'],
    [84_987_740_160, '81050.625 MiB'],
    [1_000_064, '976.625 KiB'],
    [1_000_001, '1000001'],
    [512, '512'],
  ];
  for (const [bytes, text] of written) {
    assert.equal(fieldOf(bytes), text);
    assert.equal(sizeOf(text), bytes);
  }
});
