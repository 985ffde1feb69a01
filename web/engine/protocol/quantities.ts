// What numbers in answers count.

export type Bytes = number;
export type Microseconds = number;
/** Position on the horizontal axis: an event index or microseconds since the first event. */
export type AxisUnits = number;

/** Rows of the state history: a block's life, a piece of a segment. -1 = none. */
export type BlockRow = number;
export type SegmentRow = number;
