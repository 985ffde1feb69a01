// Builds the guide: site/guide/*.md become pages of build/site/guide, without scripts and under a policy of their own.
//
// The order of the pages is that of the links in index.md. A link to NAME.md leads to NAME.html; pictures get their size
// from the file, so that a page does not jump while they come. A page or picture that a link names must exist.
//
//   node site/guide.mjs [build/site]      the guide alone, while writing it
import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, extname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const here = join(dirname(fileURLToPath(import.meta.url)), 'guide');
const require = createRequire(join(here, '../../web/package.json')); // the packages are installed in web/

const policy =
  "default-src 'none'; style-src 'self'; img-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'";
const escapes = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text) => text.replace(/[&<>"]/g, (sign) => escapes[sign]);
/** `What is the peak?` -> `what-is-the-peak` */
const anchor = (text) =>
  text
    .toLowerCase()
    .replace(/<[^>]*>|&[^;]*;|[^\w\s-]/g, '')
    .trim()
    .replace(/\s+/g, '-');

/** Width and height of a PNG. */
async function sizeOf(picture) {
  const header = (await readFile(picture)).subarray(0, 24);
  return [header.readUInt32BE(16), header.readUInt32BE(20)];
}

/** Puts the guide into `out`/guide. */
export async function buildGuide(out) {
  const folder = join(out, 'guide');
  await mkdir(folder, { recursive: true });
  // What pages and pictures are made of stays behind.
  await cp(here, folder, { recursive: true, filter: (file) => !['.md', '.mjs'].includes(extname(file)) });
  for (const [name, html] of await pages()) await writeFile(join(folder, name), html);
}

/** @returns {Promise<Map<string, string>>} names below the folder `guide`, and what is in them */
async function pages() {
  const { Marked } = require('marked');
  const files = (await readdir(here)).filter((name) => name.endsWith('.md'));
  const texts = new Map(
    await Promise.all(files.map(async (name) => [name, await readFile(join(here, name), 'utf8')])),
  );
  const contents = texts.get('index.md') ?? '';
  const order = ['index.md', ...new Set([...contents.matchAll(/\]\(([\w-]+\.md)\)/g)].map(([, to]) => to))];
  const lost = [
    ...order.filter((name) => !texts.has(name)),
    ...files.filter((name) => !order.includes(name)),
  ];
  if (lost.length > 0)
    throw new Error(`site/guide/index.md and the files beside it differ: ${lost.join(', ')}`);
  const titleOf = (name) => /^# (.+)$/m.exec(texts.get(name))[1];

  const built = new Map();
  for (const [index, name] of order.entries()) {
    const sizes = new Map();
    for (const [, picture] of texts.get(name).matchAll(/!\[[^\]]*\]\(([^)]+)\)/g))
      sizes.set(picture, await sizeOf(join(here, picture)));
    let tables = 0;
    const marked = new Marked({
      gfm: true,
      renderer: {
        heading({ tokens, depth }) {
          const text = this.parser.parseInline(tokens);
          return `<h${depth} id="${anchor(text)}">${text}</h${depth}>\n`;
        },
        link({ href, tokens }) {
          const to = href.replace(/^([\w-]+)\.md(?=#|$)/, (_, page) => {
            if (!texts.has(`${page}.md`))
              throw new Error(`site/guide/${name} leads to ${href}, which is not there`);
            return `${page}.html`;
          });
          return `<a href="${escaped(to)}">${this.parser.parseInline(tokens)}</a>`;
        },
        image({ href, text }) {
          const [width, height] = sizes.get(href);
          return `<img src="${escaped(href)}" alt="${escaped(text)}" width="${width}" height="${height}" loading="lazy">`;
        },
        // What may be wider than the page scrolls by itself, with the keys, too.
        code: ({ text }) => `<pre tabindex="0"><code>${escaped(text)}</code></pre>\n`,
        table(token) {
          const rows = [token.header, ...token.rows].map((cells, row) => {
            const tag = row === 0 ? 'th scope="col"' : 'td';
            const end = row === 0 ? 'th' : 'td';
            return `<tr>${cells.map((cell) => `<${tag}>${this.parser.parseInline(cell.tokens)}</${end}>`).join('')}</tr>`;
          });
          return `<div class="wide" tabindex="0" role="region" aria-label="Table ${(tables += 1)}"><table><thead>${rows[0]}</thead><tbody>${rows.slice(1).join('\n')}</tbody></table></div>\n`;
        },
      },
    });
    const list = order
      .map((page) => {
        const here_ = page === name ? ' aria-current="page"' : '';
        return `<li><a href="${basename(page, '.md')}.html"${here_}>${escaped(titleOf(page))}</a></li>`;
      })
      .join('\n');
    const step = (to, label) =>
      to === undefined ? '' : `<a href="${basename(to, '.md')}.html">${label}: ${escaped(titleOf(to))}</a>`;
    const title = titleOf(name);
    built.set(
      `${basename(name, '.md')}.html`,
      `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>${escaped(title)} · gpustrata</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="../icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="guide.css">
</head>
<body>
<header><a href="../index.html">gpustrata</a> <a href="index.html">Guide</a></header>
<div class="columns">
<nav aria-label="Pages of the guide"><ul>
${list}
</ul></nav>
<main>
${await marked.parse(texts.get(name))}
<p class="steps">${step(order[index - 1], 'Before')}${step(order[index + 1], 'Next')}</p>
</main>
</div>
</body>
</html>
`,
    );
  }
  // A heading that a link means must be there.
  for (const [name, html] of built)
    for (const [, page, heading] of html.matchAll(/href="([\w-]+\.html)?#([\w-]+)"/g))
      if (!built.get(page ?? name)?.includes(`id="${heading}"`))
        throw new Error(`site/guide: ${name} leads to #${heading} of ${page ?? name}, which is not there`);
  for (const picture of ['guide.css', 'timeline.png'])
    if (!existsSync(join(here, picture))) throw new Error(`site/guide/${picture} is not there`);
  return built;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href)
  await buildGuide(process.argv[2] ?? join(here, '../../build/site'));
