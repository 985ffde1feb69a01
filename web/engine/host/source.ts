// Bytes of a file or of a sample of this site, in chunks, never held whole.
import { EngineFailure, type DirectFile, type Source } from '../transport/transport.ts';

const chunkBytes = 4 * 1024 * 1024;

/** What was chosen could not be read. */
class SourceFailure extends EngineFailure {
  constructor(message: string) {
    super({ code: 'unreadable', message, offset: -1 });
  }
}

export interface Input {
  stream: ReadableStream<Uint8Array<ArrayBuffer>>;
  /** 0 = not known. */
  total: number;
}

export async function openSource(source: Exclude<Source, DirectFile>): Promise<Input> {
  if ('file' in source) return { stream: source.file.stream(), total: source.file.size };
  if ('served' in source) throw new SourceFailure('What a server reads is not read here.');
  let response: Response;
  try {
    response = await fetch(source.url);
  } catch {
    // A blob worker has the origin of its page.
    const elsewhere = new URL(source.url).origin !== self.origin;
    throw new SourceFailure(
      elsewhere
        ? `${source.url} could not be fetched: it is not there, its server does not let other sites read it (CORS), ` +
            `or this page is not built to fetch from there (connect-src of its policy). Download it, then drop it here.`
        : `${source.url} could not be fetched.`,
    );
  }
  if (!response.ok || !response.body)
    throw new SourceFailure(`The server answered ${response.status} for ${source.url}.`);
  // With a content encoding the length is that of the compressed bytes.
  const length = response.headers.get('content-encoding')
    ? 0
    : Number(response.headers.get('content-length') ?? 0);
  return { stream: response.body, total: length };
}

/** Each chunk is valid until the next one is asked for. */
export function chunksOf(stream: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<Uint8Array> {
  const reader = byobReader(stream);
  return reader ? bigChunks(reader) : plainChunks(stream.getReader());
}

function byobReader(stream: ReadableStream<Uint8Array<ArrayBuffer>>): ReadableStreamBYOBReader | undefined {
  try {
    return stream.getReader({ mode: 'byob' });
  } catch {
    return undefined; // not a byte stream in this browser
  }
}

async function orFailure<T>(reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new SourceFailure(
      `The browser could not read it to the end (${why}). It may have been moved or changed.`,
    );
  }
}

/** Two buffers: the browser fills one while the engine reads the other. */
async function* bigChunks(reader: ReadableStreamBYOBReader): AsyncGenerator<Uint8Array> {
  let spare: ArrayBuffer = new ArrayBuffer(chunkBytes);
  let coming = reader.read(new Uint8Array(new ArrayBuffer(chunkBytes)));
  try {
    for (;;) {
      const { value, done } = await orFailure(coming);
      if (done || !value) return;
      coming = reader.read(new Uint8Array(spare));
      coming.catch(() => undefined); // thrown where it is awaited, if it is
      yield value;
      spare = value.buffer;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

async function* plainChunks(reader: ReadableStreamDefaultReader<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    for (;;) {
      const { value, done } = await orFailure(reader.read());
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
