// What the browser must load before it can show anything: the entry, all it imports statically, and their styles.
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

const LIMIT = 300 * 1024
const dist = process.argv[2] ?? 'dist'
const manifest = JSON.parse(readFileSync(join(dist, '.vite/manifest.json'), 'utf8'))

const files = new Set(['index.html'])
const visit = (name) => {
  const chunk = manifest[name]
  if (files.has(chunk.file)) return
  files.add(chunk.file)
  for (const style of chunk.css ?? []) files.add(style)
  for (const imported of chunk.imports ?? []) visit(imported)
}
for (const [name, chunk] of Object.entries(manifest)) if (chunk.isEntry) visit(name)

let total = 0
for (const file of files) {
  const size = gzipSync(readFileSync(join(dist, file)), { level: 9 }).length
  total += size
  console.log(`${String(size).padStart(8)} ${String(statSync(join(dist, file)).size).padStart(8)}  ${file}`)
}
console.log(`first load: ${(total / 1024).toFixed(1)} KiB gzipped of ${LIMIT / 1024}`)
if (total > LIMIT) {
  console.error('the first load is too large: load something later')
  process.exit(1)
}
