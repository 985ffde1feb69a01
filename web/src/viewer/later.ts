// Elements that no first picture waits for: their code is fetched soon after the page's. One that is on the page before
// comes to life when it arrives, with what it was given.
const parts = [
  () => import('../controls/splitter.ts'),
  () => import('../details/details.ts'),
  () => import('../files/banners.ts'),
  () => import('../files/failure.ts'),
  () => import('../files/link_note.ts'),
  () => import('../files/notes.ts'),
  () => import('../files/peak_row.ts'),
];

export async function loadElements(): Promise<void> {
  await Promise.all(parts.map((load) => load())).catch(() => undefined); // the picture is there without them
}
