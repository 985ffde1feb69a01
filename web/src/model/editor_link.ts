// The address that an editor, or a site with the code, takes for a line. No DOM: it runs in Node.
import type { EditorChoice } from './editor.ts';

const templates = {
  vscode: 'vscode://file/{file}:{line}',
  idea: 'idea://open?file={file}&line={line}',
} as const;

/** Addresses that run something in the page are none. */
const refusedSchemes = ['javascript', 'data', 'vbscript', 'blob', 'file', 'about', 'filesystem'];

/** Why an address cannot be used; undefined = it can. */
export function problemOf(template: string): string | undefined {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(template)?.[1]?.toLowerCase();
  if (scheme === undefined) return 'It must begin like vscode:// or https://.';
  if (refusedSchemes.includes(scheme)) return `${scheme}: cannot be opened.`;
  return template.includes('{file}') ? undefined : 'It must have {file} in it.';
}

/** Address of a line; undefined = no editor was chosen, or the frame is in no file. */
export function editorLink(choice: EditorChoice, file: string, line: number): string | undefined {
  if (choice.editor === 'none' || file === '' || file === '??' || /^<.*>$/.test(file)) return undefined;
  const template = choice.editor === 'other' ? choice.template : templates[choice.editor];
  if (problemOf(template) !== undefined) return undefined;
  const { from, to } = choice;
  const here = from !== '' && file.startsWith(from) ? to + file.slice(from.length) : file;
  // Separators of folders stay; what means something in an address does not.
  const path = here.replaceAll('\\', '/').split('/').map(encodeURIComponent).join('/').replaceAll('%3A', ':');
  const rooted = choice.editor === 'vscode' ? path.replace(/^\//, '') : path;
  return template.replaceAll('{file}', rooted).replaceAll('{line}', String(Math.max(1, line)));
}
