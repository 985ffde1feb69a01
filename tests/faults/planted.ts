// Into the copy's web/: is `fault` the one that is tried? Its number comes with the browser's name ("planted/1017") into
// pages and workers, and by GPUSTRATA_FAULT into Node. "reach" instead of a number tells a server of each place passed.
const named =
  /planted\/(\w+)/.exec(globalThis.navigator?.userAgent ?? '')?.[1] ??
  (globalThis as unknown as { process?: { env: Record<string, string> } }).process?.env['GPUSTRATA_FAULT'] ??
  '0';
const number = Number(named);
const server = 'http://127.0.0.1:4799';
const told = new Map<number, number>();

export function planted(fault: number): boolean {
  if (named === 'reach' && Date.now() - (told.get(fault) ?? 0) > 300) {
    told.set(fault, Date.now());
    void fetch(`${server}/${fault}`, { mode: 'no-cors', keepalive: true }).catch(() => undefined);
  }
  return fault === number;
}
