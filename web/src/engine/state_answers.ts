// The engine's answers about events and states.
export type * from '../../engine/protocol/answers.ts';
