// What the engine answers, as types; names are those of the table in engine/session/replies_of_*.cpp. Most are written from what
// the answers say of themselves (engine/answers/described): `gpustrata schema --types`.
export type * from './answers_described.ts';
export * from './bands.ts';
export type * from './answers_in_common.ts';
export type * from './quantities.ts';
