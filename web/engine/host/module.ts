// Makes one engine from the compiled module. Used inside the worker only.
import createEngine, { type EngineModule } from 'engine-glue';

/** `log` receives the last lines the engine writes, newest last. */
export async function startEngine(compiled: WebAssembly.Module, log: string[]): Promise<EngineModule> {
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
        WebAssembly.instantiate(compiled, imports).then((instance) => received(instance, compiled), failed);
        return {};
      },
      print: note,
      printErr: note,
      onAbort: (what) => note(`abort: ${String(what)}`),
    }),
  ]);
}
