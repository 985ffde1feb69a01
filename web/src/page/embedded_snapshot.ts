// The snapshot inside of a page that `gpustrata html` wrote (engine/cli/commands/html.cpp): base64 in a script element of a
// type that no browser runs, and behind it what tells the file from others, before it was packed.

/** As a file, once: the page gives the text's memory back. Undefined in every other page. */
export function takeEmbeddedSnapshot(): { name: string; source: { file: File }; hash?: string } | undefined {
  const element = document.getElementById('gpustrata-snapshot');
  if (!element) return undefined;
  const text = element.textContent ?? '';
  element.remove();
  // Letters for whole bytes, and small enough that the texts in between do not add up.
  const lettersAtOnce = 4 * 256 * 1024;
  const parts: Uint8Array<ArrayBuffer>[] = [];
  for (let at = 0; at < text.length; at += lettersAtOnce) {
    parts.push(Uint8Array.from(atob(text.slice(at, at + lettersAtOnce)), (char) => char.charCodeAt(0)));
  }
  const name = element.dataset['name'] ?? 'snapshot';
  const { hash } = document.getElementById('gpustrata-snapshot-hash')?.dataset ?? {};
  return { name, source: { file: new File(parts, name) }, ...(hash && { hash }) };
}
