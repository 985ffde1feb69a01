// Text to the clipboard, also where the modern interface is missing (plain http, a page from file:// in some browsers).

export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copySelected(text);
  }
}

/** Beside what has the focus: outside of an open dialog nothing can be selected. */
function copySelected(text: string): boolean {
  const focused = deepFocus();
  const root = focused?.getRootNode();
  const area = document.createElement('textarea');
  area.value = text;
  area.setAttribute('aria-hidden', 'true');
  area.style.position = 'fixed'; // or else the page scrolls to it
  area.style.opacity = '0';
  (root instanceof ShadowRoot ? root : document.body).append(area);
  area.select();
  const done = document.execCommand('copy');
  area.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return done;
}

/** Through shadow roots. */
function deepFocus(): Element | null {
  let focused = document.activeElement;
  while (focused?.shadowRoot?.activeElement) focused = focused.shadowRoot.activeElement;
  return focused;
}
