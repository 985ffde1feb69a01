// The allocator as JavaScript sees it; written by hand, a test compares it with the module (tests/wasm).

export interface SimulateModule {
  /**
   * Runs a script of allocations through the caching allocator on a simulated device of so many bytes, with
   * settings as in PYTORCH_CUDA_ALLOC_CONF. The JSON is that of `gpustrata simulate --json`
   * (engine/answers/what_if/simulation_report.h), without the line's end.
   */
  simulate(script: string, deviceBytes: number, conf: string): string;
}

declare const createSimulate: (options: { wasmBinary?: ArrayBuffer | Uint8Array }) => Promise<SimulateModule>;
export default createSimulate;
