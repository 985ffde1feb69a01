// Files that the page's own address names: `?open=` and `?url=`, several of each.
//
// `?open=` is for links: it only takes files of this site, so that a link cannot make the page fetch from elsewhere.
// `?url=` takes any http(s) address, but the page's Content-Security-Policy has the last word; the site as built allows
// its own (site/build.mjs, `--connect` names more).
import { filesAt, type ChosenFiles } from '../files/choose.ts';
import type { Chosen } from '../model/open_files.ts';

/** Undefined = it names none. */
export function filesOfAddress(address: URL): ChosenFiles | undefined {
  const named = (parameter: string): string[] =>
    address.searchParams.getAll(parameter).filter((one) => one !== '');
  const own = named('open');
  const any = named('url');
  if (own.length + any.length === 0) return undefined;
  const parts = [filesAt(own, '?open=', address), filesAt(any, '?url=', address)];
  const files: Chosen[] = [];
  for (const part of parts) {
    if ('refused' in part) return part;
    files.push(...part.files);
  }
  const foreign = files.slice(0, own.length).some(({ source }) => {
    return 'url' in source && new URL(source.url).origin !== address.origin;
  });
  if (!foreign) return { files };
  const message = '?open= only takes files of this site. Download it, then drop it here.';
  return { refused: { name: address.search.slice(0, 200), error: { code: 'address', message, offset: -1 } } };
}
