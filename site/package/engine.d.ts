// `import { openSnapshot } from 'gpustrata/engine'`.
import type { OpenSnapshot } from './types/engine/index.js';

export * from './types/engine/index.js';
export declare const openSnapshot: OpenSnapshot;
