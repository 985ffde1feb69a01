// gpustrata/engine: the engine and how to reach it. No DOM, no Lit.
export { Engine, EngineView, type Answer, type Args, type Kind, type Shown } from './engine.ts';
export type * from './protocol/answers.ts';
export { isBlock, mapPixels, sizeOf, stateKinds } from './protocol/answers.ts';
export * from './protocol/arguments.ts';
export type { FileQuestions, ViewQuestions } from './protocol/questions.ts';
export { protocolVersion } from './protocol/version.ts';
export { decodeAnswer, encodeQuestion } from './protocol/wire.ts';
export { DirectTransport } from './transport/direct.ts';
export {
  EngineFailure,
  type Phase,
  type Progress,
  type Served,
  type Source,
  type Transport,
} from './transport/transport.ts';
export { WorkerTransport, type EngineParts } from './transport/worker.ts';
export { Snapshot, type OpenSnapshot, type OpenSnapshotOptions, type SnapshotSource } from './snapshot.ts';
