// Runs tests/browser/*.spec.ts against build/site in the Chromium that is installed.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from '@playwright/test';

const results = join(import.meta.dirname, '../../build/test-results');
const chromium = [
  process.env.GPUSTRATA_CHROMIUM,
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find((path) => path !== undefined && existsSync(path));

export default defineConfig({
  testDir: import.meta.dirname,
  outputDir: join(results, 'browser'),
  globalSetup: join(import.meta.dirname, 'server.ts'),
  workers: 2,
  fullyParallel: false,
  forbidOnly: true,
  // Machines that run this are often busy with other work.
  timeout: 120_000,
  expect: { timeout: 20_000 },
  retries: 0, // what passes only when it is tried again is a fault
  reporter: [['list'], ['junit', { outputFile: join(results, 'browser.xml') }]],
  use: {
    browserName: 'chromium',
    viewport: { width: 1440, height: 900 },
    screenshot: 'only-on-failure',
    serviceWorkers: 'block', // the tests of offline.spec.ts allow them
    launchOptions: {
      executablePath: chromium,
      // Chromium as root needs --no-sandbox; the others keep the network still.
      args: [
        '--no-sandbox',
        '--disable-background-networking',
        '--disable-quic',
        '--no-first-run',
        '--disable-component-update',
        '--disable-sync',
      ],
    },
  },
});
