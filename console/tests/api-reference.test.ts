import { describe, expect, it } from 'vitest'
import { byGroup, matching, type OpenApi, operations } from '~/store/api-reference'

const DOCUMENT: OpenApi = {
  paths: {
    '/health': { get: { operationId: 'health', summary: 'Report health', security: [] } },
    '/api/v1/sandboxes/{sandbox_id}': {
      get: {
        operationId: 'getSandbox',
        summary: 'Return a sandbox',
        parameters: [{ name: 'sandbox_id', in: 'path', required: true, schema: { type: 'string' } }],
        responses: {
          '200': {
            description: 'The sandbox.',
            content: { 'application/json': { schema: { $ref: '#/components/schemas/Sandbox' } } },
          },
          '404': { content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } } },
        },
      },
      post: {
        operationId: 'spawn',
        requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Sandbox' } } } },
      },
    },
  },
  components: {
    schemas: {
      Sandbox: {
        type: 'object',
        required: ['id'],
        properties: {
          id: { type: 'string', description: 'Its id.' },
          state: { enum: ['running', 'paused'] },
          limits: { type: 'object', properties: { cpus: { type: ['number', 'null'] } } },
          parent: { $ref: '#/components/schemas/Sandbox' },
          tags: { type: 'array', items: { type: 'string' } },
        },
      },
    },
  },
}

describe('API reference', () => {
  const all = operations(DOCUMENT)

  it('lists each method of each path', () => {
    expect(all.map((one) => `${one.method} ${one.path}`)).toEqual([
      'GET /health',
      'GET /api/v1/sandboxes/{sandbox_id}',
      'POST /api/v1/sandboxes/{sandbox_id}',
    ])
    expect(all.map((one) => one.needsCredential)).toEqual([false, true, true])
  })

  it('shows the fields of bodies with their types, and ends at recursion', () => {
    const body = all[2]?.body ?? []
    expect(body.slice(0, 4).map((field) => [field.name, field.type, field.isRequired, field.depth])).toEqual([
      ['id', 'string', true, 0],
      ['state', '"running" | "paused"', false, 0],
      ['limits', 'object', false, 0],
      ['cpus', 'number | null', false, 1],
    ])
    expect(body.at(-1)).toMatchObject({ name: 'tags', type: 'list of string', depth: 0 })
    expect(Math.max(...body.map((field) => field.depth))).toBe(2)
  })

  it('shows the fields of a response, but not those of every problem', () => {
    const replies = all[1]?.replies ?? []
    expect(replies[0]?.fields[0]).toMatchObject({ name: 'id', about: 'Its id.' })
    expect(replies[1]?.fields).toEqual([])
  })

  it('finds operations by words and groups them', () => {
    expect(matching(all, 'get SANDBOX').map((one) => one.id)).toEqual(['getSandbox'])
    expect(byGroup(all).map(([name, ones]) => [name, ones.length])).toEqual([
      ['health', 1],
      ['sandboxes', 2],
    ])
  })
})
