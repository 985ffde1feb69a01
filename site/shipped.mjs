// The libraries inside of the released files, with the versions that the locks pin and this machine built with.
//
// What is fetched as source: engine/libraries/CMakeLists.txt, whose archives lie in build/libraries; what the page bundles:
// web/package-lock.json; what Debian's headers and Emscripten bring: site/setup.sh, asked of dpkg. A library that none of
// the tables here knows is an error: somebody has to look at its licence, and whether it is shipped.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const text = (...path) => readFileSync(join(root, ...path), 'utf8');
const output = (program, ...rest) => execFileSync(program, rest, { encoding: 'utf8', maxBuffer: 1 << 26 });

/** What an archive holds: `header` is the file inside of it that tells the version of the library. */
const fetched = {
  'zlib-sync': [
    { name: 'zlib', licence: 'Zlib', home: 'https://zlib.net', header: 'package/deps/zlib/zlib.h' },
  ],
  'zstd-napi': [
    {
      name: 'Zstandard',
      licence: 'BSD-3-Clause',
      home: 'https://facebook.github.io/zstd',
      header: 'package/deps/zstd/lib/zstd.h',
    },
  ],
  '@nozbe/simdjson': [
    {
      name: 'simdjson',
      licence: 'Apache-2.0',
      home: 'https://simdjson.org',
      header: 'package/src/simdjson.h',
    },
  ],
  'better-sqlite3': [
    {
      name: 'SQLite',
      licence: 'blessing',
      home: 'https://www.sqlite.org/',
      header: 'package/deps/sqlite3/sqlite3.h',
    },
  ],
  nanoarrow: [
    { name: 'nanoarrow', licence: 'Apache-2.0', home: 'https://arrow.apache.org/nanoarrow/' },
    {
      name: 'flatcc',
      licence: 'Apache-2.0',
      home: 'https://github.com/dvidelabs/flatcc',
      header: '*/include/flatcc/flatcc_version.h',
    },
  ],
};

/** Debian packages that are compiled or linked into what is released; the others only build, test, or are loaded at run time. */
const ofDebian = {
  emscripten: { name: 'Emscripten', licence: 'MIT', home: 'https://emscripten.org' },
  'libcli11-dev': { name: 'CLI11', licence: 'BSD-3-Clause', home: 'https://github.com/CLIUtils/CLI11' },
  'libexpected-dev': {
    name: 'tl::expected',
    licence: 'CC0-1.0',
    home: 'https://github.com/TartanLlama/expected',
  },
  'libfmt-dev': { name: '{fmt}', licence: 'MIT', home: 'https://github.com/fmtlib/fmt' },
};
const notShipped = ['libclang-rt-14-dev', 'libdw-dev', 'libgmock-dev', 'libgtest-dev', 'libmicrohttpd-dev'];
const onlyTypes = /^@types\//;

/** MAJOR.MINOR.PATCH in a header, written as one text or as three numbers. */
function versionIn(header) {
  const whole = /#define \w*VERSION(?:_TEXT)? +"([\d.]+)"/.exec(header)?.[1];
  const parts = ['MAJOR', 'MINOR', 'RELEASE|PATCH'].map(
    (part) => new RegExp(`#define +\\w*VERSION_(?:${part}) +(\\d+)`).exec(header)?.[1],
  );
  const version = whole ?? (parts.every((part) => part !== undefined) ? parts.join('.') : undefined);
  if (version === undefined) throw new Error('a header tells no version');
  return version;
}

function fromSources() {
  const lines = [
    ...text('engine', 'libraries', 'CMakeLists.txt').matchAll(/^(npm|pip)_sources\(\w+ (\S+) ([\d.]+)$/gm),
  ];
  if (lines.length < 4)
    throw new Error('engine/libraries/CMakeLists.txt names no sources that could be read');
  return lines.flatMap(([, registry, of, version]) => {
    const libraries = fetched[of];
    if (!libraries) throw new Error(`site/shipped.mjs does not know what is in ${of}`);
    const file = `${of.replace('@', '').replace('/', '-')}-${version}.${registry === 'npm' ? 'tgz' : 'tar.gz'}`;
    const archive = join(root, 'build', 'libraries', file);
    return libraries.map(({ header, ...library }) => ({
      ...library,
      version: header ? versionIn(output('tar', '-xzOf', archive, '--wildcards', header)) : version,
      source: `pkg:${registry === 'npm' ? 'npm' : 'pypi'}/${of.replace('@', '%40')}@${version}`,
    }));
  });
}

function fromDebian() {
  const named = [...text('site', 'setup.sh').matchAll(/^ +need \S+ (emscripten|\S+-dev)$/gm)].map(
    ([, name]) => name,
  );
  const unknown = named.filter((name) => !(name in ofDebian) && !notShipped.includes(name));
  if (unknown.length > 0)
    throw new Error(`site/shipped.mjs does not know whether ${unknown.join(', ')} is shipped`);
  return Object.entries(ofDebian).map(([name, library]) => {
    const version = output('dpkg-query', '-W', '-f', '${Version}', name);
    // Without epoch, what Debian took out, and its own revision.
    const own = version.replace(/^\d+:/, '').replace(/([+~](dfsg|ds)\d*)?-[^-]*$/, '');
    return { ...library, version: own, source: `pkg:deb/debian/${name}@${encodeURIComponent(version)}` };
  });
}

function fromThePage() {
  return Object.entries(JSON.parse(text('web', 'package-lock.json')).packages)
    .filter(([path, { dev }]) => path !== '' && !dev && !onlyTypes.test(path.replace('node_modules/', '')))
    .map(([path, { version, license }]) => {
      const name = path.replace('node_modules/', '');
      if (!license) throw new Error(`web/package-lock.json tells no licence of ${name}`);
      return {
        name,
        version,
        licence: license,
        home: `https://www.npmjs.com/package/${name}`,
        source: `pkg:npm/${name.replace('@', '%40')}@${version}`,
      };
    });
}

/** {name, version, licence, home, source}[], `source` as a package URL. */
export const shipped = () => [...fromSources(), ...fromDebian(), ...fromThePage()];
