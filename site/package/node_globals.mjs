// What the engine's glue, which is built for pages and workers, looks for in its global scope. Put in place of the free
// names while bundling, so that nothing global changes in the program that imports the package.
const location = { href: import.meta.url, origin: 'null' };
const scope = Object.assign(Object.create(globalThis), { location, origin: 'null' });
const importScripts = () => undefined;
const WorkerGlobalScope = Object;
export { importScripts, location, scope as self, WorkerGlobalScope };
