// What the engine answers, as types; names are those of the table in engine/session/questions.cpp. Numbers of blocks,
// segments and events are explained where the engine writes them (engine/session, engine/answers).
export type * from './answers_in_common.ts';
export type * from './answers_of_calls.ts';
export type * from './answers_of_profilers.ts';
export type * from './answers_of_reports.ts';
export type * from './answers_of_runs.ts';
export * from './answers_of_states.ts';
export * from './answers_of_views.ts';
export type * from './quantities.ts';
