import { cleanup, fireEvent, screen, within } from '@testing-library/react'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Alert } from '~/api/supervision'
import { AlertList } from '~/screens/alerts/AlertList'
import { GuardPart } from '~/screens/sandbox/rows/GuardPart'
import { StatePart } from '~/screens/sandbox/rows/StateParts'
import { Webhooks } from '~/screens/settings/Webhooks'
import { outcomeOf } from '~/screens/settings/webhook-form'
import { GraphPicture } from '~/screens/tasks/GraphPicture'
import { routed } from './routed'

afterEach(cleanup)

describe('the picture of tasks', () => {
  it('has a link with title and status for each task, in the order of the layers', async () => {
    const tasks = [
      { id: 't2', dependsOn: ['t1'], title: 'Test it', status: 'running' as const, note: 'attempt 2' },
      { id: 't1', dependsOn: [], title: 'Build it', status: 'completed' as const },
    ]
    await routed(<GraphPicture tasks={tasks} label="Graph of the tasks" isLinked />)
    const links = within(screen.getByRole('region', { name: 'Graph of the tasks' })).getAllByRole('link')
    expect(links.map((link) => link.textContent)).toEqual(['Build it Completed', 'Test it Running · attempt 2'])
    expect(links[0]?.getAttribute('href')).toBe('/console/tasks/t1')
  })

  it('is one image with a text without links', async () => {
    const tasks = [
      { id: 'a', dependsOn: ['b'], title: 'Test it\u202e' },
      { id: 'b', dependsOn: [], title: 'Build it' },
    ]
    await routed(<GraphPicture tasks={tasks} label="Picture" />)
    screen.getByRole('img', { name: 'Test it\\u202e, after Build it; Build it' })
  })
})

describe('a note of the guardian', () => {
  it('has its rule, its text, links to events and its outcome', async () => {
    await routed(
      <GuardPart
        row={{
          kind: 'guard',
          seq: 9,
          at: '2026-01-01T10:00:00Z',
          by: 'guardian',
          act: 'nudged',
          rule: 'repeated_failure',
          text: 'The same call failed 5 times.',
          evidence: [1, 2, 3, 4, 5, 6, 7],
          outcome: { hasEnded: false, at: '2026-01-01T10:05:00Z' },
        }}
      />,
    )
    screen.getByText('repeated_failure')
    screen.getByText('The same call failed 5 times.')
    screen.getByText('The pattern continued.')
    expect(screen.getAllByRole('link').map((link) => link.textContent)).toEqual(['3', '4', '5', '6', '7'])
  })
})

describe('the row of collected forensics', () => {
  it('is a download', async () => {
    const row = { seq: 1, at: '2026-01-01T10:00:00Z', title: 'Forensics collected', detail: '', mood: 'plain' as const }
    await routed(<StatePart row={{ kind: 'state', ...row, forensicsOf: 'run1' }} />)
    const link = screen.getByRole('link', { name: 'Download' })
    expect(link.getAttribute('href')).toBe('/api/v1/runs/run1/forensics')
  })
})

/** As the server sends it. */
const STUCK: Alert = {
  alert_id: 'alr7',
  user_id: 'ann',
  at: '2026-01-01T10:00:00Z',
  type: 'workflow.stuck',
  severity: 'critical',
  title: 'A workflow is stuck',
  detail: 'tsk1 (Build it) failed: no disk. 2 tasks wait for this',
  task_id: 'tsk1',
  log: 'tasks-ann',
  seq: 12,
}

const DEAD = {
  delivery_id: 'dlv1',
  webhook_id: 'whk1',
  event_id: 'e1',
  event_type: 'task.failed',
  status: 'dead',
  attempts: 8,
  response_status: 500,
  error: 'the receiver answered 500',
  created_at: '2026-01-01T10:00:00Z',
}

describe('alerts and webhooks', () => {
  let asked: string[]
  let bodiesSent: unknown[]

  beforeEach(() => {
    asked = []
    bodiesSent = []
    const hook = { webhook_id: 'whk1', url: 'https://ci.example.com/hook', event_types: ['task.'], format: 'json' }
    const bodies: Record<string, unknown> = {
      '/api/v1/webhooks': { webhooks: [{ ...hook, created_at: '2026-01-01T09:00:00Z' }] },
      '/api/v1/webhooks/whk1/deliveries?status=dead': { deliveries: [DEAD] },
      '/api/v1/webhooks/whk1/test': { ...DEAD, delivery_id: 'dlv2', status: 'pending', attempts: 0, error: undefined },
      '/api/v1/webhooks/whk1/deliveries?limit=100': {
        deliveries: [{ ...DEAD, delivery_id: 'dlv2', status: 'delivered', response_status: 204, error: undefined }],
      },
    }
    vi.stubGlobal('fetch', (path: string, init?: RequestInit) => {
      asked.push(`${init?.method ?? 'GET'} ${path}`)
      if (typeof init?.body === 'string') bodiesSent.push(JSON.parse(init.body))
      return Promise.resolve(new Response(JSON.stringify(bodies[path] ?? {})))
    })
  })
  afterEach(() => vi.unstubAllGlobals())

  it('lead to the task, and are acknowledged', async () => {
    await routed(
      <AlertList alerts={[STUCK, { ...STUCK, alert_id: 'alr8', acknowledged_at: STUCK.at, acknowledged_by: 'bo' }]} />,
    )
    const [open, done] = screen.getAllByRole('listitem')
    if (open === undefined || done === undefined) throw new Error('two alerts')
    within(open).getByText('Critical')
    expect(within(open).getByRole('link', { name: 'Open the task' }).getAttribute('href')).toBe('/console/tasks/tsk1')
    within(done).getByText('Acknowledged by bo')
    within(open)
      .getByRole('button', { name: /^Acknowledge/ })
      .click()
    await vi.waitFor(() => expect(asked).toContain('POST /api/v1/alerts/alr7/acknowledge'))
  })

  it('show dead letters, and replay one', async () => {
    await routed(<Webhooks />)
    const letters = await screen.findByRole('list', { name: 'Dead letters of https://ci.example.com/hook' })
    within(letters).getByText('the receiver answered 500, after 8 attempts')
    within(letters)
      .getByRole('button', { name: /^Replay/ })
      .click()
    await vi.waitFor(() => expect(asked).toContain('POST /api/v1/webhooks/whk1/deliveries/dlv1/replay'))
  })

  it('add a webhook with a secret that is shown once', async () => {
    await routed(<Webhooks />)
    fireEvent.click(await screen.findByRole('button', { name: 'Add a webhook' }))
    fireEvent.change(screen.getByLabelText('Address'), { target: { value: ' https://a.example/hook ' } })
    fireEvent.change(screen.getByLabelText('Event types (optional)'), { target: { value: 'task.failed, guardian.' } })
    const form = screen.getByText('Add the webhook').closest('form')
    if (form !== null) fireEvent.submit(form)
    const secret = (await screen.findByLabelText<HTMLTextAreaElement>('Secret')).value
    expect(secret).toMatch(/^[0-9a-f]{64}$/)
    expect(bodiesSent).toEqual([
      { url: 'https://a.example/hook', event_types: ['task.failed', 'guardian.'], format: 'json', secret },
    ])
  })

  it('test a webhook and show the outcome', async () => {
    await routed(<Webhooks />)
    fireEvent.click(await screen.findByRole('button', { name: 'Test https://ci.example.com/hook' }))
    await screen.findByText('Test delivered, status 204')
  })

  it('remove a webhook after a question', async () => {
    await routed(<Webhooks />)
    fireEvent.click(await screen.findByRole('button', { name: 'Remove https://ci.example.com/hook' }))
    expect(asked).not.toContain('DELETE /api/v1/webhooks/whk1')
    fireEvent.click(screen.getByText('Remove', { selector: 'span' }))
    await vi.waitFor(() => expect(asked).toContain('DELETE /api/v1/webhooks/whk1'))
  })

  it('explain why a test failed', () => {
    const sent = { ...DEAD, status: 'pending' as const, attempts: 0, error: undefined }
    expect(outcomeOf(sent).text).toBe('Test sent. Waiting for the receiver…')
    expect(outcomeOf({ ...sent, attempts: 1, error: 'no route' }).text).toBe(
      'Test failed: no route. The server tries again.',
    )
    expect(outcomeOf({ ...sent, status: 'dead', error: 'no route' }).text).toBe('Test failed: no route')
  })
})
