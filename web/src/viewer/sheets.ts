// The sheets that lie over the page. Their code is fetched soon after the page's, or when one is opened before.
const parts = {
  keys: () => import('./key_sheet.ts'),
  about: () => import('../files/about.ts'),
  exporter: () => import('./export_picture.ts'),
  served: () => import('../files/served.ts'),
};

export async function loadSheets(): Promise<void> {
  await Promise.all(Object.values(parts).map((load) => load())).catch(() => undefined); // asked again when one is opened
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
