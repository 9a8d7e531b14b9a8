import { describe, expect, it, vi } from 'vitest'
import type { Sandbox } from '~/api/types'
import { Fleet, type FleetEvent } from '~/store/fleet'
import { arrange, isIdle, keepOrder, quietFor } from '~/store/fleet-view'
import { event } from './events'

const AT = '2026-01-01T10:00:00Z'

function sandbox(id: string, more: Partial<Sandbox> = {}): Sandbox {
  return {
    sandbox_id: id,
    thread_id: `thread-${id}`,
    user_id: 'ann',
    status: 'running',
    state: 'running',
    created_at: AT,
    last_activity: AT,
    expires_at: AT,
    ends_at: AT,
    expires_by: 'idle',
    on_idle: 'end',
    limits: { memory_mb: 1024, cpus: 1, processes: 100, disk_mb: 1024 },
    ...more,
  }
}

const RUN: NonNullable<Sandbox['run']> = {
  run_id: 'run1',
  runtime: 'claude',
  status: 'running',
  cost_usd: 1,
  tokens: 0,
  tool_calls: 4,
  usage: { input_tokens: 0, output_tokens: 0, cache_read_tokens: 0, cache_write_tokens: 0 },
  started_at: AT,
}

function news(id: string, type: string, data = {}, timestamp = '2026-01-01T10:01:00Z'): FleetEvent {
  return { seq: 1, sandbox_id: id, event_type: type, timestamp, data }
}

function fleetOf(...sandboxes: Sandbox[]) {
  const reload = vi.fn()
  const fleet = new Fleet(reload, (task) => task())
  fleet.load(sandboxes)
  return { fleet, reload }
}

describe('Fleet', () => {
  it('patches only the row of the sandbox of an event', () => {
    const { fleet, reload } = fleetOf(sandbox('a', { run: RUN }), sandbox('b'))
    const other = fleet.find('b')
    fleet.receive(news('a', 'agent.tool_use', { tool_name: 'Bash', tool_input: { command: 'make\nall' } }))
    fleet.receive(news('a', 'agent.model_call', { cost_usd: '0.5' }))
    expect(fleet.find('a')).toMatchObject({ action: 'Bash make', toolCalls: 5, costUsd: 1.5 })
    expect(fleet.find('a')?.lastEventAt).toBe(Date.parse('2026-01-01T10:01:00Z'))
    expect(fleet.find('b')).toBe(other)
    expect(reload).not.toHaveBeenCalled()
  })

  it('reloads after events that do not contain the new state', () => {
    const { fleet, reload } = fleetOf(sandbox('a'))
    fleet.receive(news('a', 'sandbox.paused'))
    fleet.receive(news('new', 'sandbox.started'))
    expect(reload).toHaveBeenCalledTimes(2)
  })

  it('keeps samples and the current action over a reload', () => {
    const { fleet } = fleetOf(sandbox('a'))
    fleet.receive(news('a', 'sandbox.metrics', { cpu_percent: 20, memory_bytes: 5 }))
    fleet.receive(news('a', 'sandbox.metrics', { cpu_percent: 40, memory_bytes: 6 }))
    fleet.receive(news('a', 'agent.thinking'))
    fleet.load([sandbox('a', { status: 'paused' })])
    expect(fleet.find('a')).toMatchObject({ status: 'paused', cpu: [20, 40], memory: [5, 6], action: 'thinking' })
  })

  it('knows what an agent does from the events before the page was loaded', () => {
    const { fleet } = fleetOf(sandbox('a', { run: RUN }), sandbox('b', { run: RUN }))
    const call = event(1, 'agent.tool_use', { tool_name: 'Bash', tool_input: { command: 'make' } })
    fleet.receive(news('b', 'agent.model_call_started'))
    expect(fleet.find('b')).toMatchObject({ action: 'waiting for the model' })
    fleet.receive(news('b', 'agent.thinking'))
    fleet.remember('a', [call, event(2, 'agent.tool_result', {}), event(3, 'agent.model_call', { cost_usd: 9 })])
    fleet.remember('b', [call])
    expect(fleet.find('a')).toMatchObject({ action: 'Bash make', toolCalls: 4, costUsd: 1 })
    expect(fleet.find('b')).toMatchObject({ action: 'thinking' })
  })

  it('distinguishes idle sandboxes from running agents', () => {
    const { fleet } = fleetOf(sandbox('agent', { run: RUN }), sandbox('plain'), sandbox('held', { status: 'paused' }))
    const idle = () => fleet.rows.filter(isIdle).map((row) => row.sandbox.sandbox_id)
    expect(idle()).toEqual(['plain'])
    fleet.receive(news('plain', 'command.started', { command: 'sleep 1', kind: 'process' }))
    expect(idle()).toEqual(['plain'])
    fleet.receive(news('plain', 'command.started', { command: 'make', kind: 'exec' }))
    expect(idle()).toEqual([])
    fleet.receive(news('plain', 'command.completed', { exit_code: 0 }))
    expect(idle()).toEqual(['plain'])
  })

  it('does not take the worker process for an action', () => {
    const { fleet } = fleetOf(sandbox('a', { run: RUN }))
    fleet.receive(news('a', 'command.started', { command: 'vivarium-worker claude', kind: 'detached' }))
    expect(fleet.find('a')).toMatchObject({ action: '' })
  })

  it('returns the same list until something changes', () => {
    const { fleet } = fleetOf(sandbox('a'))
    const { rows } = fleet
    expect(fleet.rows).toBe(rows)
    fleet.receive(news('a', 'agent.message', { text: 'hello' }))
    expect(fleet.rows).not.toBe(rows)
  })
})

describe('the fleet table', () => {
  const rows = fleetOf(
    sandbox('a', { task_title: 'Fix the parser', runtime: 'claude', run: RUN }),
    sandbox('b', { task_title: 'Write docs', status: 'paused', last_activity: '2026-01-01T11:00:00Z' }),
    sandbox('c', { user_id: 'ben', status: 'failed', reason: 'budget' }),
  ).fleet.rows
  const ids = (list: readonly { sandbox: Sandbox }[]) => list.map((row) => row.sandbox.sandbox_id)

  it('finds rows that contain all words', () => {
    expect(ids(arrange(rows, { q: 'CLAUDE parser', status: undefined, sort: 'title' }))).toEqual(['a'])
    expect(ids(arrange(rows, { q: 'budget', status: undefined, sort: 'title' }))).toEqual(['c'])
    expect(ids(arrange(rows, { q: '', status: 'paused', sort: 'title' }))).toEqual(['b'])
  })

  it('sorts sandboxes that need attention first by status', () => {
    expect(ids(arrange(rows, { q: '', status: undefined, sort: 'status' }))).toEqual(['c', 'b', 'a'])
    expect(ids(arrange(rows, { q: '', status: undefined, sort: 'activity' }))).toEqual(['b', 'a', 'c'])
  })

  it('keeps the current order and appends new rows', () => {
    expect(ids(keepOrder(rows, ['c', 'a']))).toEqual(['c', 'a', 'b'])
  })

  it('marks only a running agent as quiet after two minutes', () => {
    const now = Date.parse(AT) + 240_000
    expect(rows.map((row) => quietFor(row, now))).toEqual([240_000, undefined, undefined])
    expect(rows.map((row) => quietFor(row, Date.parse(AT) + 60_000))[0]).toBeUndefined()
  })
})
