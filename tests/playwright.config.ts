// A run from this folder, without --config, is the run of browser/: it is served, and its results go to build/.
export { default } from './browser/playwright.config.ts';
