// For all TypeScript and JavaScript of the repository. Run from its root:
//   web/node_modules/.bin/eslint --config web/eslint.config.js web site tests
// Formatting is Prettier's business; here are only rules that find mistakes.
import eslint from '@eslint/js';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  // The declarations of the package are checked by its test, which compiles against them.
  { ignores: ['build/**', '**/node_modules/**', 'tests/golden/**', 'tests/data/**', 'site/package/*.d.ts'] },
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  eslint.configs.recommended,
  {
    rules: {
      eqeqeq: 'error',
      'no-eval': 'error',
      'no-implied-eval': 'error',
      'no-new-func': 'error',
      'prefer-const': 'error',
    },
  },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/no-floating-promises': [
        'error',
        { allowForKnownSafeCalls: [{ from: 'package', name: ['test', 'default'], package: 'node:test' }] },
      ],
      // Lit calls event handlers with `this` bound.
      '@typescript-eslint/unbound-method': 'off',
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: false }],
    },
  },
  {
    // TypeScript knows the names of its files; scripts run in Node.
    files: ['**/*.{js,jsx,mjs}'],
    languageOptions: {
      globals: Object.fromEntries(
        [
          'process',
          'console',
          'Buffer',
          'URL',
          'AbortController',
          'globalThis',
          'setTimeout',
          'clearTimeout',
          'performance',
          'structuredClone',
          'TextDecoder',
          'TextEncoder',
          'fetch',
          'Blob',
          'Response',
          'DecompressionStream',
          'CompressionStream',
          'WebAssembly',
        ].map((name) => [name, 'readonly']),
      ),
    },
  },
  {
    files: ['**/*.jsx'],
    languageOptions: { parserOptions: { ecmaFeatures: { jsx: true } } },
    rules: { 'no-unused-vars': 'off' }, // what only markup names counts as unused here
  },
  {
    // Programs of pages, and the worker that keeps the site.
    files: [
      'site/examples/**/*.{js,jsx}',
      'site/package/*.mjs',
      'site/service_worker.js',
      'site/guide/*.mjs',
    ],
    languageOptions: {
      globals: Object.fromEntries(
        ['document', 'addEventListener', 'self', 'caches', 'site', 'File', 'ReadableStream'].map((name) => [
          name,
          'readonly',
        ]),
      ),
    },
  },
  {
    // Parts of these run in the page.
    files: ['tests/bench/*.mjs'],
    languageOptions: {
      globals: Object.fromEntries(
        [
          'Worker',
          'document',
          'requestAnimationFrame',
          'WheelEvent',
          'PointerEvent',
          'KeyboardEvent',
          'MessageChannel',
        ].map((name) => [name, 'readonly']),
      ),
    },
  },
);
