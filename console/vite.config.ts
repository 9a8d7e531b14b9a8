import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { loadEnv, type Plugin } from 'vite'
import { defineConfig } from 'vitest/config'

const SMALLEST_WORTH_COMPRESSING = 1024

/** Puts a `.gz` beside every asset, so that the server never compresses. */
function precompress(): Plugin {
  return {
    name: 'precompress',
    apply: 'build',
    generateBundle: {
      order: 'post',
      handler(_options, bundle) {
        for (const file of Object.values(bundle)) {
          const source = Buffer.from(file.type === 'chunk' ? file.code : file.source)
          if (source.length >= SMALLEST_WORTH_COMPRESSING) {
            this.emitFile({ type: 'asset', fileName: `${file.fileName}.gz`, source: gzipSync(source, { level: 9 }) })
          }
        }
      },
    },
  }
}

/** What the server answers itself, as it says; all else is the page or a source. */
function served(): string[] {
  const description = new URL('../server/target/classes/dev/vivarium/server/api/openapi.json', import.meta.url)
  const paths = Object.keys(JSON.parse(readFileSync(description, 'utf8')).paths)
  const first = paths.map((path) => path.match(/^\/console\/session|^\/[^/]+/)?.[0] ?? '/')
  return [...new Set(first)].filter((path) => path !== '/')
}

/**
 * `npm run dev` serves the sources and passes everything else to a running server: `VIV_SERVER`, or the default
 * address. With `VIV_KEY` in the environment the proxy signs every request with it; nothing of that is in the build.
 */
export default defineConfig(({ mode, command }) => {
  const env = loadEnv(mode, process.cwd(), 'VIV_')
  const target = env.VIV_SERVER ?? 'http://127.0.0.1:8000'
  const headers: Record<string, string> = env.VIV_KEY ? { Authorization: `Bearer ${env.VIV_KEY}` } : {}
  // The server compares the page's origin with the host that was asked: it must see the one of the browser.
  const proxy = { target, headers, changeOrigin: false, ws: true }
  return {
    base: '/',
    plugins: [react(), precompress()],
    resolve: { alias: { '~': fileURLToPath(new URL('./src', import.meta.url)) } },
    build: {
      // The first of each that know light-dark().
      target: ['chrome123', 'firefox121', 'safari17.5'],
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
    },
    server: {
      port: 5173,
      strictPort: true,
      proxy: command === 'serve' && mode !== 'test' ? Object.fromEntries(served().map((path) => [path, proxy])) : {},
    },
    // Patience for a busy machine; nothing there is a claim about time.
    test: {
      environment: 'happy-dom',
      include: ['tests/**/*.test.{ts,tsx}'],
      testTimeout: 120_000,
      hookTimeout: 120_000,
    },
  }
})
