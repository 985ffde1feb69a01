// Makes one engine from the compiled module. Used inside the worker only.
import createEngine, { type EngineModule } from 'engine-glue';

export interface Engine {
  module: EngineModule;
  /** Last lines the engine wrote, newest last. */
  log: string[];
}

export async function startEngine(compiled: WebAssembly.Module): Promise<Engine> {
  const log: string[] = [];
  const note = (line: string): void => {
    log.push(line);
    if (log.length > 50) log.shift();
  };
  let failed: (error: unknown) => void;
  const failure = new Promise<never>((_, reject) => {
    failed = reject;
  });
  const module = await Promise.race([
    failure,
    createEngine({
      instantiateWasm: (
        imports: WebAssembly.Imports,
        received: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void,
      ) => {
        WebAssembly.instantiate(compiled, imports).then((instance) => received(instance, compiled), failed);
        return {};
      },
      print: note,
      printErr: note,
      onAbort: (what) => note(`abort: ${String(what)}`),
    }),
  ]);
  return { module, log };
}
