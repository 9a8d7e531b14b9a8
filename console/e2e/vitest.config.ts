import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const TESTS = { include: ['*.test.ts'], globalSetup: 'house/setup.ts', maxWorkers: 2 }
const SCREENSHOTS = { include: ['screenshots/screenshots.ts'], globalSetup: 'screenshots/setup.ts', maxWorkers: 1 }

/** The console in a real browser, in front of a real server: see README.md. */
export default defineConfig(({ mode }) => ({
  root: import.meta.dirname,
  cacheDir: '../node_modules/.vite-e2e',
  resolve: { alias: { '~': fileURLToPath(new URL('../src', import.meta.url)) } },
  test: {
    ...(mode === 'screenshots' ? SCREENSHOTS : TESTS),
    environment: 'node',
    // Timeout for a busy machine; no test measures time.
    testTimeout: 1_200_000,
    hookTimeout: 600_000,
    teardownTimeout: 600_000,
    expect: { poll: { timeout: 300_000, interval: 50 } },
  },
}))
