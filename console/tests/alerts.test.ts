import { afterEach, describe, expect, it, vi } from 'vitest'
import { type Alert, acknowledge, readAlerts, readDead, readWebhooks, replay } from '~/api/supervision'
import { arranged, isAlerting, openCount } from '~/store/alerts'

function alert(id: string, severity: Alert['severity'], at: string, more: Partial<Alert> = {}): Alert {
  return { alert_id: id, at, type: 'task.failed', severity, title: id, log: 'sbx1', seq: 1, ...more }
}

const ALERTS = [
  alert('old', 'warning', '2026-01-01T08:00:00Z'),
  alert('done', 'critical', '2026-01-01T12:00:00Z', { acknowledged_at: '2026-01-01T13:00:00Z' }),
  alert('note', 'info', '2026-01-01T11:00:00Z'),
  alert('new', 'warning', '2026-01-01T09:00:00Z'),
  alert('worst', 'critical', '2026-01-01T07:00:00Z'),
]

const ids = (...args: Parameters<typeof arranged>) => arranged(...args).map((one) => one.alert_id)

describe('alerts', () => {
  it('are ordered by severity, then the newest first', () => {
    expect(ids(ALERTS, undefined, false)).toEqual(['worst', 'new', 'old', 'note'])
  })

  it('are hidden when they are acknowledged, unless asked for, and then come last', () => {
    expect(ids(ALERTS, undefined, true)).toEqual(['worst', 'new', 'old', 'note', 'done'])
    expect(ids(ALERTS, 'critical', false)).toEqual(['worst'])
  })

  it('count if they need a person', () => {
    expect(openCount(ALERTS)).toBe(3)
  })

  it('are read again after the events that make them', () => {
    expect(['workflow.stuck', 'task.failed', 'guardian.paused', 'anomaly.detected'].every(isAlerting)).toBe(true)
    expect(['task.ready', 'guardian.nudged', 'agent.message'].some(isAlerting)).toBe(false)
  })
})

describe('the routes of alerts and webhooks', () => {
  afterEach(() => vi.unstubAllGlobals())

  /** Answers with these bodies by path, and with 404 otherwise. Returns the requests. */
  function serving(bodies: Record<string, unknown>): string[] {
    const asked: string[] = []
    vi.stubGlobal('fetch', (path: string, init?: RequestInit) => {
      asked.push(`${init?.method ?? 'GET'} ${path}`)
      const found = bodies[path]
      const missing = { type: 'urn:vivarium:problem:no-such-route', title: 'No such route', detail: '', status: 404 }
      return Promise.resolve(new Response(JSON.stringify(found ?? missing), { status: found ? 200 : 404 }))
    })
    return asked
  }

  it('are null if the server does not have them', async () => {
    serving({})
    expect(await readAlerts()).toBeNull()
    expect(await readWebhooks()).toBeNull()
  })

  it('are read, acknowledged and replayed', async () => {
    const dead = { delivery_id: 'dlv1', webhook_id: 'whk1', event_type: 'task.failed', status: 'dead', attempts: 8 }
    const asked = serving({
      '/api/v1/alerts?limit=200': { alerts: ALERTS },
      '/api/v1/alerts/new/acknowledge': {},
      '/api/v1/webhooks': { webhooks: [] },
      '/api/v1/webhooks/whk1/deliveries?status=dead': { deliveries: [dead] },
      '/api/v1/webhooks/whk1/deliveries/dlv1/replay': {},
    })
    expect(await readAlerts()).toHaveLength(5)
    await acknowledge('new')
    expect(await readWebhooks()).toEqual([])
    const [first] = await readDead('whk1')
    expect(first).toMatchObject({ event_type: 'task.failed', attempts: 8 })
    if (first) await replay(first)
    expect(asked.filter((one) => one.startsWith('POST'))).toEqual([
      'POST /api/v1/alerts/new/acknowledge',
      'POST /api/v1/webhooks/whk1/deliveries/dlv1/replay',
    ])
  })

  it('fail for any other reason', async () => {
    vi.stubGlobal('fetch', () => Promise.resolve(new Response('{}', { status: 500 })))
    await expect(readAlerts()).rejects.toThrow()
  })
})
