import { describe, expect, it } from 'vitest'
import { signs } from '~/screens/node/health'
import type { Node } from '~/screens/node/use-node'

const WELL: Node = {
  status: 'healthy',
  failing: {},
  version: '1',
  store: 'sqlite',
  image: 'host',
  provider: { name: 'native', isolates: true },
  pool: { target: 10, available: 10 },
  sandboxes: { active: 3, hibernated: 0, most: 200 },
  limits: { memory_mb: 1024, cpus: 2, processes: 512, disk_mb: 1024 },
  most_timeout_minutes: 1440,
  agents: { worker_image: 'worker', has_worker_image: true, models: ['anthropic'] },
  host: { cpus: 2, load: 0.4, memory_bytes: 100, memory_free_bytes: 50, disk_bytes: 100, disk_free_bytes: 40 },
}

function marked(part: Partial<Node>) {
  return signs({ ...WELL, ...part }).flatMap((sign) => (sign.tone ? [`${sign.name} ${sign.tone}`] : []))
}

describe('the indicators of a server', () => {
  it('have no mark without a problem', () => {
    expect(marked({})).toEqual([])
    expect(marked({ pool: { target: 0, available: 0 } })).toEqual([])
  })

  it('are marked when resources run low', () => {
    expect(marked({ host: { ...WELL.host, disk_free_bytes: 8, memory_free_bytes: 2 } })).toEqual([
      'memory bad',
      'disk warn',
    ])
    expect(marked({ sandboxes: { active: 190, hibernated: 0, most: 200 } })).toEqual(['sandboxes warn'])
    expect(marked({ sandboxes: { active: 200, hibernated: 0, most: 200 } })).toEqual(['sandboxes bad'])
    expect(marked({ pool: { target: 4, available: 0 } })).toEqual(['warm warn'])
    expect(marked({ host: { ...WELL.host, load: 4.5 } })).toEqual(['CPUs warn'])
  })

  it('include the queue, the failed runs and a slow store', () => {
    const work = {
      sampled_at: '2026-01-01T00:00:00Z',
      queue_depth: 3,
      runs_last_hour: 10,
      failure_rate: 0.1,
      store_latency_ms: 2,
    }
    const shown = signs({ ...WELL, work }).map((sign) => `${sign.value} ${sign.name}`)
    expect(shown).toEqual(expect.arrayContaining(['3 queued tasks', '10 % of runs failed']))
    expect(marked({ work })).toEqual([])
    expect(marked({ work: { ...work, oldest_ready_seconds: 720, failure_rate: 0.6, store_latency_ms: 140 } })).toEqual([
      'queued tasks warn',
      'of runs failed warn',
      'store warn',
    ])
    expect(marked({ work: { ...work, runs_last_hour: 2, failure_rate: 1 } })).toEqual([])
  })

  it('list failures first, and missing isolation', () => {
    const found = signs({ ...WELL, failing: { store: 'no answer' }, provider: { name: 'process', isolates: false } })
    expect(found[0]).toMatchObject({ name: 'store', tone: 'bad', why: 'no answer' })
    expect(found.at(-1)).toMatchObject({ name: 'isolation', tone: 'warn' })
  })
})
