// The engine may come in two modules (site/split_engine.mjs): the first has imports in the places of the functions that
// are in the rest, named by those places in its table. Whichever is called first puts the whole rest there.

/** A new engine. `rest` is asked at most once, in the midst of a call: it cannot be waited for. */
export async function instantiate(
  first: WebAssembly.Module,
  imports: WebAssembly.Imports,
  rest: () => WebAssembly.Module,
): Promise<WebAssembly.Instance> {
  const inPlace = (name: string) => {
    const place = Number(name);
    return (...args: unknown[]): unknown => {
      const { exports } = instance;
      const table = Object.values(exports).find((one) => one instanceof WebAssembly.Table);
      void new WebAssembly.Instance(rest(), { primary: exports }); // writes itself into the table
      return (table?.get(place) as (...args: unknown[]) => unknown)(...args);
    };
  };
  const missing = WebAssembly.Module.imports(first).filter(({ module }) => module === 'placeholder');
  const placeholder = Object.fromEntries(missing.map(({ name }) => [name, inPlace(name)]));
  const instance = await WebAssembly.instantiate(first, { ...imports, placeholder });
  return instance;
}
