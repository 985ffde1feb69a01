// Written by generate.mjs from engine/session: page and engine must be of the same. Do not edit.
export const protocolVersion = 1;
