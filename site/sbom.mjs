// What is inside of the released files (shipped.mjs), as SPDX 2.3 in JSON.
//
//   node site/sbom.mjs VERSION EPOCH_SECONDS
import { shipped } from './shipped.mjs';

const [version, epoch] = process.argv.slice(2);
if (!version || !/^\d+$/.test(epoch ?? ''))
  throw new Error('usage: node site/sbom.mjs VERSION EPOCH_SECONDS');

const packageOf = ({ name, version: of, licence, home, source }) => ({
  name,
  SPDXID: `SPDXRef-${name.replace(/[^A-Za-z0-9]+/g, '-').replace(/^-|-$/g, '')}`,
  versionInfo: of,
  downloadLocation: home,
  licenseConcluded: licence,
  licenseDeclared: licence,
  copyrightText: 'NOASSERTION',
  filesAnalyzed: false,
  ...(source && {
    externalRefs: [{ referenceCategory: 'PACKAGE-MANAGER', referenceType: 'purl', referenceLocator: source }],
  }),
});
const own = packageOf({ name: 'gpustrata', version, licence: 'Apache-2.0', home: 'NOASSERTION' });
const packages = shipped().map(packageOf);
console.log(
  JSON.stringify(
    {
      spdxVersion: 'SPDX-2.3',
      dataLicense: 'CC0-1.0',
      SPDXID: 'SPDXRef-DOCUMENT',
      name: `gpustrata-${version}`,
      documentNamespace: `https://spdx.org/spdxdocs/gpustrata-${version}-${epoch}`,
      creationInfo: {
        created: new Date(Number(epoch) * 1000).toISOString().replace('.000', ''),
        creators: ['Tool: gpustrata-site/sbom.mjs'],
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
