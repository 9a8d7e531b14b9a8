// Fails when the generated types are older than the server's description. `--stamp` notes what they were made from.
// A hash rather than generating again: the generator needs packages of its own, and this runs in every build.
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'

const description = new URL('../../server/src/main/resources/dev/vivarium/server/api/openapi.json', import.meta.url)
const schema = new URL('../src/api/schema.ts', import.meta.url)
const mark = '// Made from openapi.json with the SHA-256 '

const hash = createHash('sha256').update(readFileSync(description)).digest('hex')
const types = readFileSync(schema, 'utf8')
const body = types.startsWith(mark) ? types.slice(types.indexOf('\n') + 1) : types

if (process.argv.includes('--stamp')) {
  writeFileSync(schema, `${mark}${hash}\n${body}`)
} else if (!types.startsWith(mark + hash)) {
  console.error('src/api/schema.ts is not up to date with openapi.json: run `npm run api-types`')
  process.exit(1)
}
