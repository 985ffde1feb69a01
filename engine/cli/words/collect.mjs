// Collects the sentences of the engine's sources, each with an example, for `gpustrata words`.
//
//   node engine/cli/words/collect.mjs OUT.cpp
//
// A sentence is a string literal of engine/ with words in a row; {} is what a file fills in. An example is a passage of what tests
// and documents print that has all its fixed parts in their order. A tree without tests has fewer examples.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { extname, join, relative } from 'node:path';

const root = join(import.meta.dirname, '../../..');
const escapes = { n: '\n', t: '\t', r: '\r', 0: '\0', '"': '"', "'": "'", '\\': '\\' };

function filesBelow(folder, ...kinds) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true })
    .map(String)
    .filter((name) => kinds.includes(extname(name)) && !name.includes('node_modules'))
    .sort()
    .map((name) => join(folder, name));
}

/** String literals of C++; those with nothing but white space and comments between them are one. */
export function literalsOf(source) {
  const token =
    /\/\/.*|\/\*[^]*?\*\/|^[ \t]*#[ \t]*include.*|R"([^(\s]*)\(([^]*?)\)\1"|"((?:\\[^]|[^"\\\n])*)"|'(?:\\[^]+?|[^'\\])'|\w+(?:'\w+)*|\s+|[^]/gm;
  const found = [];
  let open;
  for (const [whole, , raw, quoted] of source.matchAll(token)) {
    if (raw !== undefined) open = (open ?? '') + raw;
    else if (quoted !== undefined)
      open = (open ?? '') + quoted.replace(/\\([^])/g, (all, one) => escapes[one] ?? all);
    else if (!/^(\s|\/\/|\/\*)/.test(whole) && open !== undefined) {
      found.push(open);
      open = undefined;
    }
  }
  return open === undefined ? found : [...found, open];
}

const code = /^\s*(SELECT|INSERT|CREATE|#|<\w)|: [A-Z]\w*\[\]|export (const|type)|import type/;

/** Words in a row, two of them in lower case: no name, no path, no SQL, no address of a page. */
export function isSentence(text) {
  const words = text.replace(/\{[^{}]*\}/g, '{}').split(/\s+/);
  const plain = words.filter((word) => /^[("'[]*[a-z]+('[a-z]+)?[)\]"',.:;?!]*$/.test(word));
  return plain.length >= 2 && words.length >= 3 && !code.test(text);
}

const escaped = (text) => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&').replace(/\s+/g, '\\s+');

/** What of `corpus` the sentence says; its longest fixed part finds the places. */
export function exampleOf(sentence, corpus) {
  const parts = sentence
    .replaceAll('{{', '\u0001')
    .replaceAll('}}', '\u0002')
    .trim()
    .split(/\{[^{}]*\}/)
    .map((part) => part.replaceAll('\u0001', '{').replaceAll('\u0002', '}'));
  const longest = parts.reduce((best, part) => (part.trim().length > best.length ? part.trim() : best), '');
  if (longest.length < 6) return undefined;
  const last = parts.length - 1;
  const pattern = new RegExp(
    parts
      .map(
        (part, at) =>
          escaped(part) +
          (at < last ? (at === last - 1 && parts[last] === '' ? '[^\\s]+' : '.{0,160}?') : ''),
      )
      .join(''),
  );
  for (let at = corpus.indexOf(longest); at >= 0; at = corpus.indexOf(longest, at + 1)) {
    const window = corpus.slice(Math.max(0, corpus.lastIndexOf('\n', at)), at + 1200);
    const match = pattern.exec(window);
    if (match && match[0].length <= 1000) return match[0];
  }
  return undefined;
}

/** What tests and documents print, a passage a line: lines that were wrapped for a terminal are joined. */
function corpusOf() {
  const read = (path) => (existsSync(path) ? readFileSync(path, 'utf8') : '');
  const printed = ['sample', 'real'].map((files) =>
    read(join(root, `tests/golden/${files}_sentences.txt`))
      .replace(/\n[ \t]+(?=\S)/g, ' ')
      .replace(/  +/g, ' '),
  );
  const documents = [join(root, 'README.md'), ...filesBelow(join(root, 'site/guide'), '.md')].map((path) =>
    read(path).replace(/\n[ \t]*(?=\S)/g, ' '),
  );
  const tested = ['unit', 'session', 'fleet'].flatMap((folder) =>
    filesBelow(join(root, 'tests', folder), '.cpp'),
  );
  const literals = tested.flatMap((path) => literalsOf(read(path)).map((text) => text.replace(/\s+/g, ' ')));
  const scripts = ['cli', 'golden', 'python', 'fleet'].flatMap((folder) =>
    filesBelow(join(root, 'tests', folder), '.py'),
  );
  const printedByScripts = scripts.map((path) =>
    read(path)
      .replace(/"\s*\n\s*f?"/g, '')
      .replace(/\\n/g, ' '),
  );
  return [...printed, ...documents, ...literals, ...printedByScripts].join('\n');
}

const quoted = (text) =>
  `"${text.replace(/[\\"]/g, '\\$&').replace(/\n/g, '\\n').replace(/\t/g, '\\t').replace(/\?\?/g, '?\\?')}"`;

function collect(out) {
  const corpus = corpusOf();
  const rows = [];
  for (const path of filesBelow(join(root, 'engine'), '.cpp', '.h')) {
    const name = relative(join(root, 'engine'), path).replaceAll('\\', '/');
    const sentences = new Set(literalsOf(readFileSync(path, 'utf8')).filter(isSentence));
    for (const sentence of sentences)
      rows.push(`    {${[name, sentence, exampleOf(sentence, corpus) ?? ''].map(quoted).join(', ')}},`);
  }
  const text = `// Made by engine/cli/words/collect.mjs.
#include "engine/cli/words/sentences.h"

namespace gpustrata::cli {
namespace {
constexpr Sentence kSentences[] = {
${rows.join('\n')}
};
}  // namespace
std::span<const Sentence> sentences() { return kSentences; }
}  // namespace gpustrata::cli
`;
  if (!existsSync(out) || readFileSync(out, 'utf8') !== text) writeFileSync(out, text);
}

const [, started, out] = process.argv;
if (started === import.meta.filename && out !== undefined) collect(out);
