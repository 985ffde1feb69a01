// A frame of a stack, as the engine tells it.
export type { Frame } from '../../engine/protocol/answers.ts';
