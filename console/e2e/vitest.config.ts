import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

/** The console in a real browser, in front of a real server: see README.md. */
export default defineConfig({
  root: import.meta.dirname,
  resolve: { alias: { '~': fileURLToPath(new URL('../src', import.meta.url)) } },
  test: {
    include: ['*.test.ts'],
    environment: 'node',
    globalSetup: 'house/setup.ts',
    maxWorkers: 2,
    // Patience for a busy machine; nothing here is a claim about time.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    teardownTimeout: 60_000,
    expect: { poll: { timeout: 20_000, interval: 50 } },
  },
})
