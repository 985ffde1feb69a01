// What numbers in answers count.

export type Bytes = number;
export type Microseconds = number;
/** Position on the horizontal axis: an event index or microseconds since the first event. */
export type AxisUnits = number;
