// gpustrata.html begins here: unpacks the page's script, which the policy knows by its hash, and runs it. Packed, the
// whole viewer is half as large, and so is every page that `gpustrata html` makes of it.
import { unpacked, type EmbeddedParts } from '../../engine/assets.ts';

/** Put in place by site/build.mjs. */
declare const embeddedParts: EmbeddedParts;

globalThis.gpustrataEmbedded = embeddedParts;
const script = document.createElement('script');
script.type = 'module';
script.textContent = await unpacked(embeddedParts.page).text();
document.head.append(script);
