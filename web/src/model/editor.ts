// Where frames open, as the reader chose. No DOM: it runs in Node.

export type EditorName = 'none' | 'vscode' | 'idea' | 'other';

export interface EditorChoice {
  editor: EditorName;
  /** Of `other`: an address with {file} and {line} in it. */
  template: string;
  /** Recorded paths that begin with `from` lie below `to` on this machine; empty = they are the same. */
  from: string;
  to: string;
}

export const noEditor: EditorChoice = { editor: 'none', template: '', from: '', to: '' };

export const editorNames: Record<EditorName, string> = {
  none: 'not at all',
  vscode: 'in VS Code',
  idea: 'in PyCharm or IntelliJ IDEA',
  other: 'at an address',
};

/** Whatever was stored. */
export function editorFrom(stored: unknown): EditorChoice {
  const said = (typeof stored === 'object' && stored !== null ? stored : {}) as Partial<EditorChoice>;
  const text = (value: unknown): string => (typeof value === 'string' ? value.slice(0, 1000) : '');
  return {
    editor: (Object.keys(editorNames) as EditorName[]).find((one) => one === said.editor) ?? 'none',
    template: text(said.template),
    from: text(said.from),
    to: text(said.to),
  };
}
