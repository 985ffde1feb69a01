// In which row of the address map an address lies.
import type { EngineView, Region, RegionOrder } from '../../../engine/index.ts';

const atOnce = 1024; // rows a question

/** -1 = in none. In the order of addresses O(log rows) questions, else one for every `atOnce` rows. */
export async function rowOfAddress(
  view: EngineView,
  order: RegionOrder,
  count: number,
  address: bigint,
): Promise<number> {
  const rows = async (first: number, some: number): Promise<readonly Region[]> =>
    (await view.ask('regions', { order, first, count: some })).rows;
  const holds = ({ address: from, size }: Region): boolean =>
    BigInt(from) <= address && address < BigInt(from) + BigInt(size);
  let [from, to] = [0, count];
  while (order === 'address' && to - from > atOnce) {
    const middle = Math.floor((from + to) / 2);
    const [region] = await rows(middle, 1);
    if (!region) return -1;
    if (BigInt(region.address) <= address) from = middle;
    else to = middle;
  }
  for (let first = from; first < to; first += atOnce) {
    const at = (await rows(first, Math.min(atOnce, to - first))).findIndex(holds);
    if (at >= 0) return first + at;
  }
  return -1;
}
