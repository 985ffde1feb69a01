// What the page's engines are made of: fetches the worker's script and compiles the engine, once, while no file is open yet: opening a local file
// causes no request. The one-file page carries both inside itself.
import type { EngineParts, RestOfEngine } from './transport/worker.ts';

/** What gpustrata.html holds, each in gzip and base64. */
export interface EmbeddedParts {
  page: string;
  worker: string;
  wasm: string;
}

declare global {
  // Set in gpustrata.html (one_file.ts).
  var gpustrataEmbedded: EmbeddedParts | undefined;
}

/** True in gpustrata.html, which reads nothing but the files it is given. */
export const isOneFile = (): boolean => globalThis.gpustrataEmbedded !== undefined;

export async function loadEngineParts(): Promise<EngineParts> {
  const embedded = globalThis.gpustrataEmbedded;
  // Written so that bundlers see which files belong to this one.
  const [source, module] = await Promise.all([
    embedded
      ? unpacked(embedded.worker).text()
      : fetchPart(new URL('./worker.js', import.meta.url)).then((response) => response.text()),
    embedded
      ? unpacked(embedded.wasm)
          .arrayBuffer()
          .then((bytes) => WebAssembly.compile(bytes))
      : compile(new URL('./engine.wasm', import.meta.url)),
  ]);
  const script = new Blob([source], { type: 'text/javascript' });
  const workerUrl = URL.createObjectURL(script);
  // The one-file page holds the whole engine as one module.
  return {
    workerUrl,
    module,
    ...(!embedded && { rest: rest(new URL('./engine_rest.wasm', import.meta.url)) }),
  };
}

function rest(address: URL): RestOfEngine {
  let arrive: (module: WebAssembly.Module) => void;
  const module = new Promise<WebAssembly.Module>((resolve) => (arrive = resolve));
  let loading: Promise<void> | undefined;
  const load = (): Promise<void> =>
    (loading ??= compile(address).then(arrive, () => {
      loading = undefined;
    }));
  return { address: address.href, module, load };
}

async function compile(url: URL): Promise<WebAssembly.Module> {
  const response = await fetchPart(url);
  // Streaming needs the right type, which not every static host sends.
  if (response.headers.get('content-type')?.startsWith('application/wasm'))
    return WebAssembly.compileStreaming(response);
  return WebAssembly.compile(await response.arrayBuffer());
}

async function fetchPart(url: URL): Promise<Response> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url.pathname}: the server answered ${response.status}.`);
  return response;
}

/** Of bytes in gzip and base64. */
export function unpacked(base64Gzip: string): Response {
  const bytes = Uint8Array.from(atob(base64Gzip), (char) => char.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip')));
}
