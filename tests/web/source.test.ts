// Lines of source: links to an editor, and the file of a chosen folder that a frame means.
import assert from 'node:assert/strict';
import test from 'node:test';
import { editorFrom, noEditor } from '../../web/src/model/editor.ts';
import { editorLink, problemOf } from '../../web/src/model/editor_link.ts';
import { SourceFolder, type SourceFile } from '../../web/src/model/source_folder.ts';

test('addresses of lines: an editor, a site, another folder here; nothing that runs', () => {
  const file = '/job/repo/a b/train.py';
  const at = (change: object): string | undefined => editorLink({ ...noEditor, ...change }, file, 7);
  assert.equal(at({}), undefined);
  assert.equal(at({ editor: 'vscode' }), 'vscode://file/job/repo/a%20b/train.py:7');
  assert.equal(at({ editor: 'idea' }), 'idea://open?file=/job/repo/a%20b/train.py&line=7');
  assert.equal(
    at({ editor: 'vscode', from: '/job/', to: 'C:\\me\\' }),
    'vscode://file/C:/me/repo/a%20b/train.py:7',
  );
  assert.equal(
    at({ editor: 'other', template: 'https://host/{file}#L{line}', from: '/job/repo/', to: '' }),
    'https://host/a%20b/train.py#L7',
  );
  for (const template of [
    'javascript://{file}',
    'JavaScript://x{file}',
    'data://{file}',
    'x{file}',
    'https://host',
  ])
    assert.equal(at({ editor: 'other', template }), undefined);
  assert.ok(problemOf('https://host')?.includes('{file}'));
  assert.equal(editorLink({ ...noEditor, editor: 'vscode' }, '<frozen importlib>', 3), undefined);
  assert.deepEqual(editorFrom({ editor: 'emacs', from: 7 }), noEditor);
});

test('a recorded path means the file that ends in most of its folders, and none where that cannot be told', async () => {
  const read: string[] = [];
  const file = (path: string): SourceFile => ({
    path,
    size: 10,
    text: () => {
      read.push(path);
      return Promise.resolve('one\r\ntwo');
    },
  });
  const folder = new SourceFolder('repo', ['repo/a/model.py', 'repo/b/model.py', 'repo/train.py'].map(file));
  assert.equal(folder.find('/job/b/model.py')?.path, 'repo/b/model.py');
  assert.equal(folder.find('C:\\x\\a\\model.py')?.path, 'repo/a/model.py');
  assert.equal(folder.find('/other/model.py'), undefined); // either
  assert.equal(folder.find('/other/train.py')?.path, 'repo/train.py');
  assert.deepEqual(await folder.lines('/other/train.py'), ['one', 'two']);
  await folder.lines('/x/train.py');
  assert.deepEqual(read, ['repo/train.py']); // once
});
