// Serves build/site on a free port while the browser tests run; its address is in MEMSTRATA_URL.
import { join } from 'node:path';
import { serve } from '../../site/serve.mjs';

export default async function start(): Promise<() => Promise<void>> {
  const { url, close } = await serve({ folder: join(import.meta.dirname, '../../build/site') });
  process.env.MEMSTRATA_URL = url;
  return close;
}
