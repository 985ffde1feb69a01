// The sheets that lie over the page, and elements that no first picture waits for. Their code is fetched soon after the page's,
// or when one is wanted before; an element that is on the page already comes to life then, with what it was given.
const parts = {
  keys: () => import('./key_sheet.ts'),
  about: () => import('../files/about.ts'),
  exporter: () => import('./export_picture.ts'),
  served: () => import('../files/served.ts'),
};
const elements = {
  /** Of several files or snapshots. */
  peaks: () => import('../files/peak_row.ts'),
  link: () => import('../files/link_note.ts'),
  failure: () => import('../files/failure.ts'),
  banners: () => import('../files/banners.ts'),
  notes: () => import('../files/notes.ts'),
  details: () => Promise.all([import('../details/details.ts'), import('../controls/splitter.ts')]),
};

/** Asked for with every picture that has the element; what could not be had is asked for again then. */
export function need(name: keyof typeof elements): void {
  elements[name]().catch(() => undefined);
}

export async function loadSheets(): Promise<void> {
  await Promise.all(Object.values({ ...parts, ...elements }).map((load): Promise<unknown> => load())).catch(
    () => undefined,
  ); // asked again when one is opened
}

/** Opens one of them; false if it is not on the page, or its code cannot be had. */
export async function openSheet<K extends keyof typeof parts>(
  name: K,
  page: Readonly<Record<K, (HTMLElement & { updateComplete: Promise<unknown>; open(): void }) | null>>,
): Promise<boolean> {
  try {
    await parts[name]();
  } catch {
    return false;
  }
  await page[name]?.updateComplete;
  page[name]?.open();
  return page[name] !== null;
}
