// Builds the page.
//
//   node site/build.mjs --engine FOLDER [--out build/site] [--no-types] [--connect 'https://host ...']
//                       [--parents 'https://host ...']
//
// --connect names other servers from which the page may fetch files by address (?url=, src=); without it only its own.
// --parents names origins of pages that may drive embed.html in their frame; without it none may.
// FOLDER holds engine.js and engine.wasm of the wasm preset. Two forms come out of the same sources:
//   index.html + main.js + worker.js + engine.wasm + ...   for any static host, under any path
//   viewer.js                                              the element for other pages; needs worker.js, engine*.wasm beside it
//   gpustrata.html                                         everything in one file, opens from file://
//   guide/                                                 pages without scripts (site/guide.mjs)
//   embed.html + embed.js                                  the element in a frame, driven by messages
//   offline.js + offline_worker.js + manifest              the page without a network, and installed
import { createHash } from 'node:crypto';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { spawn, spawnSync } from 'node:child_process';
import { basename, dirname, extname, join, relative, resolve, sep } from 'node:path';
import { tmpdir } from 'node:os';
import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { buildGuide } from './guide.mjs';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const web = join(root, 'web');
const { values: options } = parseArgs({
  options: {
    engine: { type: 'string', default: join(root, 'build/wasm/bin') },
    out: { type: 'string', default: join(root, 'build/site') },
    'no-types': { type: 'boolean', default: false },
    connect: { type: 'string', default: '' },
    parents: { type: 'string', default: '' },
  },
});
const engine = resolve(options.engine);
const out = resolve(options.out);
const origins = (name) => {
  const all = options[name].split(/\s+/).filter((origin) => origin !== '');
  for (const origin of all)
    if (!/^https?:\/\/[\w.*:[\]-]+$/.test(origin))
      throw new Error(`--${name} ${origin} is no http(s) origin`);
  return all;
};
const connect = origins('connect');
const parents = origins('parents');
const require = createRequire(join(web, 'package.json')); // the packages are installed in web/
const esbuild = require('esbuild');

const run = (...args) => {
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' });
  if (status !== 0) process.exit(1);
};
// Checked beside the rest; what was checked before and did not change is remembered.
const types = options['no-types']
  ? Promise.resolve(0)
  : new Promise((done) => {
      const remembered = ['--incremental', '--tsBuildInfoFile', join(root, 'build/types.tsbuildinfo')];
      const tsc = [require.resolve('typescript/bin/tsc'), '--noEmit', '-p', web, ...remembered];
      spawn(process.execPath, tsc, { stdio: 'inherit' }).on('close', done);
    });

const typescript = require('typescript');
/** A literal of styles without what the browser needs not; its first and last character belong to the script. */
function tight(css) {
  const inner = css
    .slice(1, -1)
    .replace(/\/\*.*?\*\//gs, '')
    .replace(/\s+/g, ' ');
  const short = inner
    .replace(/ ?([{;}]) ?/g, '$1')
    .replaceAll(';}', '}')
    .replace(/([a-z]): /g, '$1:')
    .replaceAll(', ', ',');
  return css[0] + short + css.at(-1);
}

/** A source whose templates of markup and styles have no line breaks, indentation and comments for people. */
async function withoutBreaks(path) {
  const text = await readFile(path, 'utf8');
  const literals = [];
  const visit = (node) => {
    const tag = typescript.isTaggedTemplateExpression(node) ? node.tag.getText() : '';
    if (['html', 'svg', 'css'].includes(tag)) {
      const { head, templateSpans } = node.template;
      for (const part of head ? [head, ...templateSpans.map(({ literal }) => literal)] : [node.template])
        literals.push({ tag, from: part.getStart(), to: part.end });
    }
    typescript.forEachChild(node, visit);
  };
  visit(typescript.createSourceFile(path, text, typescript.ScriptTarget.Latest, true));
  literals.sort((a, b) => a.from - b.from);
  let contents = '';
  let copied = 0;
  for (const { tag, from, to } of literals) {
    const literal = text.slice(from, to);
    contents +=
      text.slice(copied, from) + (tag === 'css' ? tight(literal) : literal.replace(/\s*\n\s*/g, ' '));
    copied = to;
  }
  return contents + text.slice(copied);
}
const templates = {
  name: 'templates',
  setup(build) {
    build.onLoad({ filter: /\.ts$/ }, async ({ path }) => ({
      contents: await withoutBreaks(path),
      loader: 'ts',
    }));
  },
};
/**
 * What the page needs at once is one file, not one for each set of parts that share it: every part that is loaded later
 * says that it needs the page, so that esbuild finds all of the page where all parts meet.
 */
const afterThePage = (entry) => ({
  name: 'after-the-page',
  setup(build) {
    const later = new Set();
    build.onResolve({ filter: /\.ts$/ }, ({ kind, path, resolveDir }) => {
      if (kind === 'dynamic-import') later.add(resolve(resolveDir, path));
    });
    build.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      // All of it lies in parts/, beside which are the files that it asks for by address.
      const contents = (await withoutBreaks(path)).replaceAll(
        'import.meta.url',
        "new URL('..', import.meta.url)",
      );
      return {
        contents: later.has(path) ? `${contents}\nimport ${JSON.stringify(entry)};` : contents,
        loader: 'ts',
      };
    });
  },
});
const build = (entry, more = {}) =>
  esbuild.build({
    absWorkingDir: root, // names of parts come from paths below it: the same wherever this is started
    entryPoints: [join(web, entry)],
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    charset: 'utf8',
    legalComments: 'none',
    logLevel: 'warning',
    plugins: [templates],
    alias: { 'engine-glue': join(engine, 'engine.js') },
    ...more,
  });
const bundle = async (entry, more) => (await build(entry, more)).outputFiles[0].text;
/** The page in parts: what panels alone need is loaded apart (web/src/panels/registry.ts). */
const split = async (entry) => {
  const folder = join(root, 'build/parts'); // nothing is written there
  const result = await build(entry, {
    splitting: true,
    outdir: folder,
    entryNames: '[name]',
    chunkNames: 'parts/[name]-[hash]',
    metafile: true,
    plugins: [afterThePage(join(web, entry))],
  });
  const named = (path) => relative(folder, resolve(root, path));
  const files = new Map(result.outputFiles.map(({ path, text }) => [named(path), text]));
  const outputs = new Map(
    Object.entries(result.metafile.outputs).map(([path, output]) => [named(path), output]),
  );
  // What the first file needs at once, whichever way.
  const needed = new Set([`${basename(entry, '.ts')}.js`]);
  for (const name of needed)
    for (const { path, kind } of outputs.get(name).imports)
      if (kind === 'import-statement') needed.add(named(path));
  return { files, needed: [...needed] };
};
const gzip = (data) => gzipSync(data, { level: 9 });
const hash = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
// 'wasm-unsafe-eval' allows compiling WebAssembly and nothing else.
const policy = (directives) =>
  `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; ${directives}; ` +
  `img-src 'self' data: blob:; base-uri 'none'; form-action 'none'">`;
const withPolicy = (html, directives) => {
  // Before anything that the policy is about, after the encoding.
  const charset = /<meta charset=[^>]*>/i;
  if (!charset.test(html)) throw new Error('web/index.html has no <meta charset>');
  return html.replace(charset, (meta) => `${meta}\n    ${policy(directives)}`);
};
/** Calls `change(tag, href)` for every <link> to a file beside index.html and puts its result in place. */
const replaceLinks = async (html, change) => {
  const link = /<link\b[^>]*\bhref="(?![a-z]+:|#)([^"]+)"[^>]*>/gi;
  for (const [tag, href] of [...html.matchAll(link)]) {
    const replacement = await change(tag, href);
    html = html.replace(tag, () => replacement);
  }
  return html;
};
const mainTag = /<script type="module" src="(?:\.\/)?main\.js"><\/script>/;

const page = await readFile(join(web, 'index.html'), 'utf8');
if (!mainTag.test(page)) throw new Error('web/index.html has no <script type="module" src="main.js">');
const main = await bundle('src/page/main.ts');
const parts = await split('src/page/main.ts');
// A classic script: from a file:// page no browser starts a module worker out of a Blob.
const worker = await bundle('engine/host/worker.ts', { format: 'iife' });
const wasm = await readFile(join(engine, 'engine.wasm'));
const halves = await mkdtemp(join(tmpdir(), 'gpustrata-engine-'));
run(join(root, 'site/split_engine.mjs'), '--engine', engine, '--out', halves);
// The policy forbids both; better to learn it here than in a browser.
if (/\beval\(|\bnew Function\b/.test([main, worker, ...parts.files.values()].join('\n')))
  throw new Error('a bundle makes code from text');

if ((await types) !== 0) process.exit(1);
await rm(out, { recursive: true, force: true });
await mkdir(out, { recursive: true });
const put = async (name, data) => {
  await mkdir(dirname(join(out, name)), { recursive: true });
  await writeFile(join(out, name), data);
};

// The page in files.
for (const [name, text] of parts.files) await put(name, text);
await put('viewer.js', await bundle('src/viewer/element.ts')); // the element alone, for other pages
await put('worker.js', worker);
for (const name of ['engine.wasm', 'engine_rest.wasm']) await put(name, await readFile(join(halves, name)));
await rm(halves, { recursive: true });
const inData = async (tag, href) => {
  const type = { '.svg': 'image/svg+xml', '.png': 'image/png' }[extname(href)];
  if (!type) return undefined;
  const data = (await readFile(join(web, href))).toString('base64');
  return tag.replace(`href="${href}"`, `href="data:${type};base64,${data}"`);
};
const site = await replaceLinks(page, async (tag, href) => {
  // Browsers fetch the icon again whenever the address changes, and it changes while one looks at a local file.
  const inside = await inData(tag, href);
  if (inside) return inside;
  const css = extname(href) === '.css';
  await put(href, css ? await bundle(href) : await readFile(join(web, href)));
  return tag;
});
await put('icon.svg', await readFile(join(web, 'icon.svg'))); // of the manifest
// Fetched with the first file instead of after it.
const preloads = [
  ...parts.needed.slice(1).map((name) => `rel="modulepreload" href="./${name}"`),
  ...['worker.js', 'engine.wasm'].map((name) => `rel="preload" as="fetch" href="./${name}" crossorigin`),
]
  .map((link) => `<link ${link} />\n    `)
  .join('');
const sitePolicy =
  `script-src 'self' 'wasm-unsafe-eval'; worker-src blob: 'self'; ` +
  `connect-src ${["'self'", ...connect].join(' ')}; style-src 'self'; manifest-src 'self'`;
const offline = '<script type="module" src="./offline.js"></script>'; // runs when the page is there
await put('offline.js', await bundle('src/page/offline.ts'));
await put(
  'index.html',
  withPolicy(
    site.replace(mainTag, (tag) => `${preloads}${tag}\n    ${offline}`),
    sitePolicy,
  ),
);
// The page for frames.
await put('embed.js', await bundle('src/page/embed.ts'));
const frame = await replaceLinks(
  await readFile(join(web, 'embed.html'), 'utf8'),
  async (tag, href) => (await inData(tag, href)) ?? tag,
);
await put(
  'embed.html',
  withPolicy(
    frame.replace(
      'name="gpustrata-parents" content=""',
      `name="gpustrata-parents" content="${parents.join(' ')}"`,
    ),
    sitePolicy,
  ),
);
await cp(join(root, 'site/samples'), join(out, 'samples'), {
  recursive: true,
  filter: (file) => extname(file) !== '.py', // the script that makes them stays behind
});
await buildGuide(out);
await cp(join(root, 'site/examples'), join(out, 'examples'), {
  recursive: true,
  filter: (file) => !/[/\\]react$/.test(file), // an example of a program that builds with the npm package
});

// The page in one file. The worker becomes a Blob, whose script runs under the page's policy.
const packed = (data) => gzip(data).toString('base64');
const embedded = { page: packed(main), worker: packed(worker), wasm: packed(wasm) };
const first = await bundle('src/page/one_file.ts', { define: { embeddedParts: JSON.stringify(embedded) } });
if (/<(\/script|!--)/i.test(first)) throw new Error('the first script would end its element early');
const styleHashes = [];
const single = await replaceLinks(page, async (tag, href) => {
  if (extname(href) === '.css') {
    const css = await bundle(href);
    styleHashes.push(hash(css));
    return `<style>${css}</style>`;
  }
  return (await inData(tag, href)) ?? ''; // a manifest and the like make no sense without a server
});
await put(
  'gpustrata.html',
  withPolicy(
    single,
    `script-src ${hash(first)} ${hash(main)} 'wasm-unsafe-eval'; worker-src blob:; connect-src 'none'; ` +
      `style-src ${styleHashes.join(' ') || "'none'"}`,
  ).replace(
    mainTag,
    // `gpustrata html` knows by the name that the page can hold a snapshot (web/src/page/embedded_snapshot.ts).
    () => `<meta name="holds" content="gpustrata-snapshot" />\n    <script type="module">${first}</script>`,
  ),
);

// What the page needs without a network.
const all = (await readdir(out, { recursive: true, withFileTypes: true }))
  .filter((entry) => entry.isFile())
  .map((entry) => relative(out, join(entry.parentPath, entry.name)).split(sep).join('/'))
  .sort();
const asked = all.filter((name) => /^(samples|examples)\/|^gpustrata\.html$/.test(name));
const content = createHash('sha256');
for (const name of all) content.update(name).update(await readFile(join(out, name)));
await put(
  'offline_worker.js',
  (
    await esbuild.build({
      entryPoints: [join(root, 'site/service_worker.js')],
      write: false,
      minify: true,
      bundle: true,
      define: {
        site: JSON.stringify({
          version: content.digest('hex').slice(0, 16),
          kept: all.filter((name) => !asked.includes(name)),
          asked,
        }),
      },
    })
  ).outputFiles[0].text,
);

const kib = (bytes) => `${(bytes / 1024).toFixed(1)} KiB`.padStart(11);
let [total, totalGzip] = [0, 0];
console.log(`${'file'.padEnd(26)}${'raw'.padStart(11)}${'gzip -9'.padStart(11)}`);
const line = (name, raw, zipped) => console.log(`${name.padEnd(26)}${kib(raw)}${kib(zipped)}`);
for (const name of ['index.html', ...parts.needed, 'worker.js', 'engine.wasm']) {
  const data = await readFile(join(out, name));
  line(name, data.length, gzip(data).length);
  total += data.length;
  totalGzip += gzip(data).length;
}
line('download', total, totalGzip);
// What a first picture waits for; a test holds it to this (tests/wasm/halves.test.mjs).
const allowed = 400_000;
const of = `of ${(allowed / 1024).toFixed(1)} KiB allowed before the first picture`;
console.log(totalGzip <= allowed ? of : `WARNING: more than the ${of.slice(3)}`);
for (const [name, text] of parts.files)
  if (!parts.needed.includes(name)) line(name, Buffer.byteLength(text), gzip(text).length);
const later = await readFile(join(out, 'engine_rest.wasm'));
line('engine_rest.wasm', later.length, gzip(later).length);
const oneFile = await readFile(join(out, 'gpustrata.html'));
line('gpustrata.html', oneFile.length, gzip(oneFile).length);
