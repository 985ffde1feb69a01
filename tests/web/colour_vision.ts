// How colours look to whom: colour blindness by Machado, Oliveira and Fernandes (2009), severity 1, on linear light, and
// distances in CIE L*a*b* (1976), where 2.3 can just be told apart.

const matrices = {
  none: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protan: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deutan: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  tritan: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
} satisfies Record<string, readonly (readonly number[])[]>; // prettier-ignore
export type Vision = keyof typeof matrices;
export const visions = Object.keys(matrices) as Vision[];

/** `#rrggbb` as linear light, 0 to 1. */
function linear(hex: string): number[] {
  return [1, 3, 5].map((at) => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
}

export function seen(hex: string, vision: Vision = 'none'): [number, number, number] {
  const light = linear(hex);
  const rows: readonly (readonly number[])[] = matrices[vision];
  const [r = 0, g = 0, b = 0] = rows.map((row) =>
    Math.max(
      0,
      row.reduce((sum, part, i) => sum + part * (light[i] ?? 0), 0),
    ),
  );
  const f = (t: number): number => (t > 216 / 24389 ? Math.cbrt(t) : (t * 24389) / 27 / 116 + 16 / 116);
  const x = f((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505);
  const y = f(0.2126 * r + 0.7152 * g + 0.0722 * b);
  const z = f((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

export function distance(a: string, b: string, vision: Vision): number {
  const there = seen(b, vision);
  return Math.hypot(...seen(a, vision).map((value, i) => value - (there[i] ?? 0)));
}

/** By WCAG 2: 4.5 for text, 3 for lines and signs. */
export function contrast(a: string, b: string): number {
  const luminance = (hex: string): number => {
    const [r = 0, g = 0, b_ = 0] = linear(hex);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b_;
  };
  const [low = 0, high = 0] = [luminance(a), luminance(b)].sort((one, other) => one - other);
  return (high + 0.05) / (low + 0.05);
}
