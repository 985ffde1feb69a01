// offline_worker.js: keeps the files of one version of the site, so that it opens without a network. It answers for
// those files only; snapshots and everything else go past it. site/build.mjs puts `site` in place: `version` changes with
// the content of any file, `kept` are fetched when a version is first seen, `asked` when somebody wants one.
const { version, kept, asked } = site;

const scope = new URL(self.registration.scope);
const prefix = `gpustrata ${scope.pathname} `;
const current = prefix + version;
const known = new Set([...kept, ...asked]);
const shared = `gpustrata shared ${scope.pathname}`;

self.addEventListener('install', (event) => event.waitUntil(keepAll()));
self.addEventListener('activate', (event) => event.waitUntil(forgetOthers()));
self.addEventListener('fetch', (event) => {
  const { request } = event;
  const name = nameOf(new URL(request.url));
  if (name === 'share' && request.method === 'POST') event.respondWith(takeShared(request));
  else if (request.method === 'GET' && known.has(name)) event.respondWith(answer(request, name));
});

/** Below the site's folder; undefined = it is not of this site. */
function nameOf(url) {
  if (url.origin !== scope.origin || !url.pathname.startsWith(scope.pathname)) return undefined;
  const name = url.pathname.slice(scope.pathname.length);
  return name === '' || name.endsWith('/') ? `${name}index.html` : name;
}

async function keepAll() {
  const cache = await caches.open(current);
  await Promise.all(kept.map((name) => fetchInto(cache, name)));
}

async function fetchInto(cache, name) {
  const response = await fetch(new URL(name, scope), { cache: 'no-cache' });
  if (!response.ok) throw new Error(`${name}: ${response.status}`);
  // A page must not be the answer to a redirection, which some servers make of index.html.
  const { status, headers } = response;
  const own = response.redirected ? new Response(await response.blob(), { status, headers }) : response;
  await cache.put(new URL(name, scope), own.clone());
  return own;
}

async function answer(request, name) {
  const { waiting } = self.registration;
  if (request.mode === 'navigate' && waiting && (await self.clients.matchAll()).length < 2) {
    // Nobody else looks at this version: the newer one takes over, and the page is asked for again.
    waiting.postMessage('take over');
    return new Response('', { headers: { refresh: '0' } });
  }
  const cache = await caches.open(current);
  const found = await cache.match(new URL(name, scope));
  if (found) return found;
  return asked.includes(name) ? fetchInto(cache, name) : fetch(request);
}

self.addEventListener('message', ({ data }) => {
  if (data === 'take over') void self.skipWaiting();
});

/** Other versions of this very site; others on the same origin have other folders. */
async function forgetOthers() {
  const names = await caches.keys();
  const old = names.filter((name) => name.startsWith(prefix) && name !== current);
  await Promise.all(old.map((name) => caches.delete(name)));
}

/** Files that another program shares with the installed page; it opens and forgets them (web/src/page/offline.ts). */
async function takeShared(request) {
  const cache = await caches.open(shared);
  const files = (await request.formData()).getAll('files').filter((part) => part instanceof File);
  await Promise.all(
    files.map((file, index) =>
      cache.put(
        new URL(`shared/${index}`, scope),
        new Response(file, { headers: { 'x-name': encodeURIComponent(file.name) } }),
      ),
    ),
  );
  return Response.redirect(new URL('./?shared', scope), 303);
}
