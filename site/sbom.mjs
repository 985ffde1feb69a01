// What is inside of the released files, as SPDX 2.3 in JSON: of the README's table of dependencies, the rows of what is
// shipped (tools that only build or test are not).
//
//   node site/sbom.mjs VERSION EPOCH_SECONDS
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const [version, epoch] = process.argv.slice(2);
if (!version || !/^\d+$/.test(epoch ?? ''))
  throw new Error('usage: node site/sbom.mjs VERSION EPOCH_SECONDS');

// Licences as their projects state them; a row that is not here must be looked at.
const licences = {
  CLI11: 'BSD-3-Clause',
  '{fmt}': 'MIT',
  'tl::expected': 'CC0-1.0',
  simdjson: 'Apache-2.0',
  zlib: 'Zlib',
  Zstandard: 'BSD-3-Clause',
  nanoarrow: 'Apache-2.0',
  SQLite: 'blessing',
  flatcc: 'Apache-2.0',
  Lit: 'BSD-3-Clause',
  Emscripten: 'MIT',
};
const notShipped = /^(build|lint|tests)$/;
const loadedAtRunTime = /loaded at run time/;

const table = (await readFile(join(root, 'README.md'), 'utf8')).split('## Dependencies')[1] ?? '';
const rows = [...table.matchAll(/^\| (\[.*?\) *[^|]*?) \| ([^|]+) \| ([^|]+) \| [^|]+ \|$/gm)].map(
  ([, name, of, where]) => ({
    name: name.replace(/\[([^\]]+)\]\([^)]*\)/g, '$1').trim(),
    address: /\]\((https:[^)]+)\)/.exec(name)?.[1] ?? '',
    version: /\d+(\.\d+)*/.exec(of)?.[0] ?? '',
    where: where.trim(),
  }),
);
if (rows.length < 10) throw new Error('README.md has no table of dependencies that could be read');
const shipped = rows.filter(
  ({ name, where }) => !loadedAtRunTime.test(where) && (!notShipped.test(where) || name === 'Emscripten'),
);
const packages = shipped.map(({ name, version: of, address }) => {
  const licence = licences[name];
  if (!licence) throw new Error(`site/sbom.mjs does not know the licence of ${name}`);
  return {
    name,
    SPDXID: `SPDXRef-${name.replace(/[^A-Za-z0-9]+/g, '-').replace(/^-|-$/g, '')}`,
    versionInfo: of,
    downloadLocation: address,
    licenseConcluded: licence,
    licenseDeclared: licence,
    copyrightText: 'NOASSERTION',
    filesAnalyzed: false,
  };
});
const own = {
  name: 'memstrata',
  SPDXID: 'SPDXRef-memstrata',
  versionInfo: version,
  downloadLocation: 'NOASSERTION',
  licenseConcluded: 'Apache-2.0',
  licenseDeclared: 'Apache-2.0',
  copyrightText: 'NOASSERTION',
  filesAnalyzed: false,
};
console.log(
  JSON.stringify(
    {
      spdxVersion: 'SPDX-2.3',
      dataLicense: 'CC0-1.0',
      SPDXID: 'SPDXRef-DOCUMENT',
      name: `memstrata-${version}`,
      documentNamespace: `https://spdx.org/spdxdocs/memstrata-${version}-${epoch}`,
      creationInfo: {
        created: new Date(Number(epoch) * 1000).toISOString().replace('.000', ''),
        creators: ['Tool: memstrata-site/sbom.mjs'],
      },
      packages: [own, ...packages],
      relationships: [
        {
          spdxElementId: 'SPDXRef-DOCUMENT',
          relatedSpdxElement: own.SPDXID,
          relationshipType: 'DESCRIBES',
        },
        ...packages.map(({ SPDXID }) => ({
          spdxElementId: own.SPDXID,
          relatedSpdxElement: SPDXID,
          relationshipType: 'CONTAINS',
        })),
      ],
    },
    null,
    2,
  ),
);
