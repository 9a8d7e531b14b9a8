// What the browser must load before it can show anything: the page, and all that it names.
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

const LIMIT = 300 * 1024
const dist = process.argv[2] ?? 'dist'
const page = readFileSync(join(dist, 'index.html'), 'utf8')
const named = [...page.matchAll(/(?:src|href)="\/(assets\/[^"]+)"/g)].map(([, file]) => file)

// Fonts that the first style names are used at once.
const fonts = named
  .filter((file) => file.endsWith('.css'))
  .flatMap((file) => [...readFileSync(join(dist, file), 'utf8').matchAll(/url\(\/(assets\/[^)]+\.woff2)\)/g)])
  .map(([, file]) => file)

let total = 0
for (const file of ['index.html', ...named, ...fonts]) {
  const size = gzipSync(readFileSync(join(dist, file)), { level: 9 }).length
  total += size
  console.log(`${String(size).padStart(8)} ${String(statSync(join(dist, file)).size).padStart(8)}  ${file}`)
}
console.log(`first load: ${(total / 1024).toFixed(1)} KiB gzipped of ${LIMIT / 1024}`)
if (total > LIMIT) {
  console.error('the first load is too large: load something later')
  process.exit(1)
}
