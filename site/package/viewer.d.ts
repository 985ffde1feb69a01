// `import 'gpustrata'` defines <gpustrata-viewer>.
import type { ViewerElement, ViewerEvents } from './element_types.js';

export * from './element_types.js';
export declare const GpustrataViewer: { new (): ViewerElement; prototype: ViewerElement };

declare global {
  interface HTMLElementTagNameMap {
    'gpustrata-viewer': ViewerElement;
  }
}
export type { ViewerEvents };
