// Serves build/site on a free port while the browser tests run; its address is in GPUSTRATA_URL.
import { serve } from '../../site/serve.mjs';
import { site } from '../built.mjs';

export default async function start(): Promise<() => Promise<void>> {
  const { url, close } = await serve({ folder: site });
  process.env.GPUSTRATA_URL = url;
  return close;
}
