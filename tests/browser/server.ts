// Serves build/site on a free port while the browser tests run; its address is in MEMSTRATA_URL.
import { serve } from '../../site/serve.mjs';
import { site } from '../built.mjs';

export default async function start(): Promise<() => Promise<void>> {
  const { url, close } = await serve({ folder: site });
  process.env.MEMSTRATA_URL = url;
  return close;
}
