// Writes arguments.ts, questions.ts and version.ts from the engine's own tables: the types of arguments
// (engine/session/arguments.cpp), the words of enums (engine/base/words.h) and the questions
// (engine/session/replies_of_*.cpp), one row a line, comments above.
// tests/wasm/questions.test.mjs fails where the files are not what the tables say now.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const engine = join(here, '..', '..', '..', 'engine');
const session = join(engine, 'session');
const read = (name) => readFileSync(join(session, name), 'utf8');

/** Rows of a table, named by a pattern, with the comment above each. */
function rowsOf(text, table) {
  const start = text.search(new RegExp(`${table}\\[\\] = \\{`));
  const body = text.slice(start, text.indexOf('\n};', start)).split('\n').slice(1);
  const rows = [];
  let comment = [];
  for (const line of body.map((each) => each.trim())) {
    if (line.startsWith('//')) comment.push(line.slice(2).trim());
    else {
      if (line.startsWith('{')) rows.push({ row: line, comment: comment.join(' ') });
      comment = [];
    }
  }
  return rows;
}
const commented = (comment, indent) => {
  if (comment === '') return '';
  const one = `${indent}/** ${comment} */\n`;
  if (one.length <= 111) return one;
  const lines = [''];
  for (const word of comment.split(' ')) {
    if (lines.at(-1).length + word.length > 100) lines.push('');
    lines[lines.length - 1] += (lines.at(-1) === '' ? '' : ' ') + word;
  }
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}\n`).join('')}${indent} */\n`;
};
/** "a: A, b?: B[]" as members of an interface, lists being readonly. */
const fields = (signature) =>
  signature === ''
    ? []
    : signature.split(', ').map((field) => field.replace(/: (\w+)\[\]$/, ': readonly $1[]'));

/** The words of each enum that has some, by its name. */
function wordsOfEnums() {
  const found = new Map();
  for (const name of readdirSync(engine, { recursive: true }).filter((each) => each.endsWith('.h')))
    for (const [, one, words] of readFileSync(join(engine, name), 'utf8').matchAll(
      /^GPUSTRATA_WORDS\((\w+),\s*([\w,\s]+)\);/gm,
    ))
      found.set(
        one,
        words.split(',').map((word) => word.trim()),
      );
  return found;
}
/** Of a row: `words_in(replay::Axis{})`, `words_through(analysis::By::category)`. */
function wordsOf(row, enums) {
  const [, all, of, last] = /words_in\((?:\w+::)*(\w+)\{\}\)|words_through\((?:\w+::)*(\w+)::(\w+)\)/.exec(
    row,
  );
  const words = enums.get(all ?? of);
  return all ? words : words.slice(0, words.indexOf(last) + 1);
}

const says = (what) => `// Written by generate.mjs from engine/session: ${what} Do not edit.\n`;

/** The types of arguments by name: what kind they are, the words of a word, the signature of an object. */
function typesOfArguments() {
  const enums = wordsOfEnums();
  const types = rowsOf(read('arguments.cpp'), 'kTypes').map(({ row, comment }) => {
    const [, name, kind, content] = /^\{"(\w+)", Kind::(\w+)(?:, "([^"]*)")?/.exec(row);
    return { name, kind, content, words: kind === 'word' ? wordsOf(row, enums) : undefined, comment };
  });
  return new Map(types.map((type) => [type.name, type]));
}

function argumentsText(types) {
  let text = says('what questions take.');
  for (const { name, kind, content, words, comment } of types.values()) {
    text += `\n${commented(comment, '')}`;
    if (kind === 'object') {
      const members = fields(content).map((field) => `  ${field};\n`);
      text += `export interface ${name} {\n${members.join('')}}\n`;
    } else if (kind === 'word') {
      const list = `${name[0].toLowerCase()}${name.slice(1)}Words`;
      text += `export const ${list} = [${words.map((word) => `'${word}'`).join(', ')}] as const;\n`;
      text += `export type ${name} = (typeof ${list})[number];\n`;
    } else {
      text += `export type ${name} = ${{ flag: 'boolean', text: 'string' }[kind] ?? 'number'};\n`;
    }
  }
  return text;
}

function questionsText(questions, types) {
  let text = `${says('what can be asked, with what, and what the answer is.')}import type * as A from './answers.ts';
import type * as T from './arguments.ts';
`;
  const typed = (text) => text.replace(/\b[A-Z]\w+/g, (name) => `${types.has(name) ? 'T' : 'A'}.${name}`);
  for (const of of ['file', 'view']) {
    text += `\n/** Questions about ${of === 'file' ? 'the file' : 'a view'}. */\n`;
    text += `export interface ${of === 'file' ? 'File' : 'View'}Questions {\n`;
    for (const { name, args, answer, comment } of questions.filter(
      (each) => (each.of === 'file') === (of === 'file'),
    )) {
      const given = args === '' ? 'Record<never, never>' : `{ ${typed(fields(args).join('; '))} }`;
      text += commented(comment, '  ');
      text += `  ${name}: {\n    args: ${given};\n    answer: ${typed(answer)};\n  };\n`;
    }
    text += '}\n';
  }
  const ofStates = questions.filter(({ of }) => of === 'states').map(({ name }) => `  '${name}',\n`);
  text += `\n/** Those of a view that need its states: \`prepare\` finds them in parts. */\n`;
  text += `export const questionsOfStates: readonly string[] = [\n${ofStates.join('')}];\n`;
  return text;
}

/** All questions, the types of their arguments, and the text of each file. */
export function generated() {
  const types = typesOfArguments();
  const tables = readdirSync(session).filter((name) => /^replies_of_\w+\.cpp$/.test(name));
  const rows = tables.sort().flatMap((name) => rowsOf(read(name), 'constexpr Question \\w+'));
  const questions = rows.map(({ row, comment }) => {
    const [, name, of, args, answer] = /^\{"(\w+)", Of::(\w+), "([^"]*)", "([^"]*)", \w+\},$/.exec(row);
    return { name, of, args, answer, comment };
  });
  const version = /kProtocolVersion = (\d+);/.exec(read('frame.h'))[1];
  return {
    questions,
    types,
    files: {
      'arguments.ts': argumentsText(types),
      'questions.ts': questionsText(questions, types),
      'version.ts': `${says('page and engine must be of the same.')}export const protocolVersion = ${version};\n`,
    },
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  for (const [name, text] of Object.entries(generated().files)) writeFileSync(join(here, name), text);
