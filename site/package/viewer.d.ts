// `import 'memstrata'` defines <memstrata-viewer>.
import type { ViewerElement, ViewerEvents } from './element_types.js';

export * from './element_types.js';
export declare const MemstrataViewer: { new (): ViewerElement; prototype: ViewerElement };

declare global {
  interface HTMLElementTagNameMap {
    'memstrata-viewer': ViewerElement;
  }
}
export type { ViewerEvents };
