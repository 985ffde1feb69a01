// Names for numbers in signatures.

export type Bytes = number;
export type Microseconds = number;
/** Position on the horizontal axis: an event index or microseconds since the first event. */
export type AxisUnits = number;
export type CssPx = number;
export type DevicePx = number;
/** Number of a block in stack order; -1 = none. */
export type Rank = number;
