// Writes the hash of the OpenAPI document into the first line of the generated types. OpenApiTest compares it.
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'

const document = new URL('../../server/target/classes/dev/vivarium/server/api/openapi.json', import.meta.url)
const schema = new URL('../src/api/schema.ts', import.meta.url)
const hash = createHash('sha256').update(readFileSync(document)).digest('hex')
const types = readFileSync(schema, 'utf8').replace(/^\/\/ Made from openapi.json.*\n/, '')
writeFileSync(schema, `// Made from openapi.json with the SHA-256 ${hash}\n${types}`)
