// Makes one engine from compiled modules. Used beside the engine only: in the worker, in Node.
import createEngine, { type EngineModule } from 'engine-glue';
import { instantiate } from './rest.ts';

/** `log` receives the last lines the engine writes, newest last; `rest` gives what `compiled` lacks (rest.ts). */
export async function startEngine(
  compiled: WebAssembly.Module,
  log: string[],
  rest: () => WebAssembly.Module,
): Promise<EngineModule> {
  const note = (line: string): void => {
    log.push(line);
    if (log.length > 50) log.shift();
  };
  let failed: (error: unknown) => void;
  const failure = new Promise<never>((_, reject) => {
    failed = reject;
  });
  return Promise.race([
    failure,
    createEngine({
      instantiateWasm: (
        imports: WebAssembly.Imports,
        received: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void,
      ) => {
        instantiate(compiled, imports, rest).then((instance) => received(instance, compiled), failed);
        return {};
      },
      print: note,
      printErr: note,
      onAbort: (what) => note(`abort: ${String(what)}`),
    }),
  ]);
}
