// What columns of tables are called and mean, in the engine's own words. Apart from index.ts, so that only those who show such a table
// load them.
export { holderHeads, opLineHeads, profilerLineHeads } from './protocol/answers_described.ts';
