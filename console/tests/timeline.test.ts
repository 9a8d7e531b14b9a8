import { describe, expect, it } from 'vitest'
import type { LogEvent } from '~/api/types'
import { Timeline } from '~/store/timeline'
import { event } from './events'

function folded(...events: LogEvent[]): Timeline {
  const timeline = new Timeline()
  timeline.rebuild(events)
  return timeline
}

describe('Timeline', () => {
  it('merges a tool call and its result into one row', () => {
    const timeline = folded(
      event(1, 'agent.tool_use', { tool_use_id: 'a', tool_name: 'Bash', tool_input: { command: 'make' } }),
      event(2, 'agent.tool_use', { tool_use_id: 'b', tool_name: 'Read', tool_input: { path: 'x' } }),
      event(3, 'agent.tool_result', { tool_use_id: 'b', content: [{ type: 'text', text: 'the file' }] }),
      event(4, 'agent.tool_result', { tool_use_id: 'a', content: 'no rule', is_error: true }),
    )
    expect(timeline.rows).toMatchObject([
      { kind: 'tool', name: 'Bash', input: { command: 'make' }, result: { text: 'no rule', isError: true } },
      { kind: 'tool', name: 'Read', result: { text: 'the file', isError: false } },
    ])
    expect([1, 2, 3, 4].map((seq) => timeline.indexOf(seq))).toEqual([0, 1, 1, 0])
  })

  it('shows a result without its call and merges it later', () => {
    const call = event(1, 'agent.tool_use', { tool_use_id: 'a', tool_name: 'Bash', tool_input: { command: 'ls' } })
    const result = event(2, 'agent.tool_result', { tool_use_id: 'a', tool_name: 'Bash', content: 'files' })
    const timeline = folded(result)
    expect(timeline.rows).toMatchObject([{ kind: 'tool', name: 'Bash', result: { text: 'files' } }])
    timeline.rebuild([call, result])
    expect(timeline.rows).toMatchObject([{ seq: 1, input: { command: 'ls' }, result: { text: 'files' } }])
  })

  it('merges the output and exit of a command into its row', () => {
    const timeline = folded(
      event(1, 'command.started', { pid: 7, kind: 'exec', command: 'make test' }),
      event(2, 'command.output', { pid: 7, stdout: 'one\n' }),
      event(3, 'command.started', { pid: 8, process_id: 'p1', kind: 'detached', command: 'serve' }),
      event(4, 'command.output', { pid: 7, stdout: 'two\n', stderr: 'bad\n' }),
      event(5, 'command.completed', { pid: 7, exit_code: 2, cause: 'exited', duration_ms: 1500 }),
    )
    expect(timeline.rows).toMatchObject([
      { kind: 'command', line: 'make test', output: 'one\ntwo\nbad\n', end: { exitCode: 2, durationMs: 1500 } },
      { kind: 'command', line: 'serve', how: 'detached', end: undefined },
    ])
  })

  it("shows the shell command of an agent's tool once, in the row of the tool", () => {
    const timeline = folded(
      event(1, 'agent.tool_use', { tool_use_id: 't1', tool_name: 'Bash', tool_input: { command: 'ls' } }),
      event(2, 'command.started', { pid: 0, process_id: 't1', kind: 'exec', command: 'ls' }),
      event(3, 'command.output', { pid: 0, process_id: 't1', stdout: 'files' }),
      event(4, 'command.completed', { pid: 0, process_id: 't1', exit_code: 0 }),
    )
    expect(timeline.rows).toMatchObject([{ kind: 'tool', name: 'Bash' }])
  })

  it('distinguishes processes with the same pid', () => {
    const timeline = folded(
      event(1, 'command.started', { pid: 7, command: 'first' }),
      event(2, 'command.completed', { pid: 7, exit_code: 0 }),
      event(3, 'command.started', { pid: 7, command: 'second' }),
      event(4, 'command.output', { pid: 7, stdout: 'of the second' }),
    )
    expect(timeline.rows).toMatchObject([
      { line: 'first', output: '' },
      { line: 'second', output: 'of the second' },
    ])
  })

  it('keeps the end of a long output and counts the rest', () => {
    const timeline = folded(event(1, 'command.started', { pid: 1, command: 'yes' }))
    for (let seq = 2; seq < 22; seq++)
      timeline.append(event(seq, 'command.output', { pid: 1, stdout: 'y\n'.repeat(5000) }))
    const row = timeline.rows[0]
    expect(row).toMatchObject({ kind: 'command', dropped: 200_000 - 65_536 })
    expect(row?.kind === 'command' && row.output.length).toBe(65_536)
  })

  it('replaces only a changed row', () => {
    const timeline = folded(event(1), event(2, 'command.started', { pid: 1, command: 'ls' }))
    const [message, command] = timeline.rows
    timeline.append(event(3, 'command.output', { pid: 1, stdout: 'a' }))
    expect(timeline.rows[0]).toBe(message)
    expect(timeline.rows[1]).not.toBe(command)
  })

  it('marks messages as delivered', () => {
    const timeline = folded(
      event(1, 'user.guidance', { message_id: 'm1', content: 'use the other API', source: 'ann' }),
      event(2, 'user.message', { message_id: 'm2', content: 'and hurry' }),
      event(3, 'user.message_delivered', { message_id: 'm1', latency_ms: 40 }),
    )
    expect(timeline.rows).toMatchObject([
      { kind: 'said', tone: 'guidance', by: 'ann', heard: { latencyMs: 40 } },
      { kind: 'said', tone: 'message', heard: undefined },
    ])
  })

  it('shows the answer with the question', () => {
    const timeline = folded(
      event(1, 'agent.review_requested', { review_id: 'r1', reason: 'Delete it?', description: 'all of it' }),
      event(2, 'user.reject', { review_id: 'r1', decision: 'reject', comment: 'keep it', user_id: 'ann' }),
    )
    expect(timeline.rows).toMatchObject([
      { kind: 'review', answer: { decision: 'reject', by: 'ann', comment: 'keep it' } },
    ])
  })

  it('groups consecutive file changes', () => {
    const timeline = folded(
      event(1, 'file.created', { path: 'a' }),
      event(2, 'file.changes_folded', { created: 40, modified: 2, deleted: 1 }),
      event(3, 'file.deleted', { path: 'b' }),
      event(4),
      event(5, 'file.modified', { path: 'c', diff: '+x' }),
    )
    expect(timeline.rows).toMatchObject([
      { kind: 'files', changes: [{ path: 'a' }, { path: 'b', how: 'deleted' }], floods: [{ count: 43 }] },
      { kind: 'message' },
      { kind: 'files', changes: [{ path: 'c', diff: '+x' }] },
    ])
  })

  it('has no row for counted events and links them to the row before', () => {
    const timeline = folded(
      event(1),
      event(2, 'agent.model_call_started', { model: 'm' }),
      event(3, 'agent.model_call', { cost_usd: 0.1 }),
      event(4, 'sandbox.metrics', {}),
    )
    expect(timeline.rows).toHaveLength(1)
    expect(timeline.indexOf(4)).toBe(0)
  })

  it('shows unknown events unchanged', () => {
    expect(folded(event(1, 'acme.thing', { a: 1 })).rows).toMatchObject([
      { kind: 'note', type: 'acme.thing', data: { a: 1 } },
    ])
  })

  it('has one row for the end of a run', () => {
    const timeline = folded(
      event(1, 'sandbox.run_started', {}),
      event(2),
      event(3, 'agent.results', { results: { summary: 'No database' } }),
      event(4, 'file.created', { path: 'log.txt' }),
      event(5, 'agent.status', { status: 'failed', message: 'No database' }),
      event(6, 'agent.failed', { reason: 'psql: no database' }),
      event(7, 'sandbox.run_ended', { status: 'failed', reason: 'psql: no database' }),
    )
    expect(timeline.rows.filter((row) => row.kind === 'state')).toMatchObject([
      { title: 'Agent started' },
      { title: 'Run failed', mood: 'bad', detail: 'psql: no database' },
    ])
    expect([3, 5, 6, 7].map((seq) => timeline.indexOf(seq))).toEqual([2, 2, 2, 2])
  })

  it('keeps the summary of a completed run in the row of its end', () => {
    const timeline = folded(
      event(1, 'agent.completed', { summary: 'Both tests pass.' }),
      event(2, 'sandbox.run_ended', { status: 'completed', cost_usd: 0.1 }),
    )
    expect(timeline.rows).toMatchObject([{ title: 'Run completed', detail: 'Both tests pass.', mood: 'ok' }])
  })

  it('shows a failure once, even if the agent continued after it', () => {
    const timeline = folded(
      event(1, 'agent.failed', { reason: 'out of memory' }),
      event(2),
      event(3, 'sandbox.run_ended', { status: 'failed', reason: 'out of memory' }),
      event(4, 'sandbox.run_started', {}),
      event(5, 'sandbox.run_ended', { status: 'failed', reason: 'out of memory' }),
    )
    expect(timeline.rows).toMatchObject([
      { title: 'Agent failed', detail: 'out of memory' },
      { kind: 'message' },
      { title: 'Run failed', detail: '' },
      { title: 'Agent started' },
      { title: 'Run failed', detail: 'out of memory' },
    ])
  })

  it('keeps the status of a task that goes on', () => {
    expect(folded(event(1, 'agent.status', { status: 'in_progress' })).rows).toMatchObject([
      { title: 'Task', detail: 'in_progress' },
    ])
  })

  it('marks the tool call of a question, so that the question is shown once', () => {
    const asks = { tool_use_id: 'a', tool_name: 'AskPerson', tool_input: { reason: 'Push?', description: 'To main.' } }
    const timeline = folded(
      event(1, 'agent.tool_use', { tool_use_id: 'b', tool_name: 'Bash', tool_input: { command: 'ls' } }),
      event(2, 'agent.tool_use', asks),
      event(3, 'agent.review_requested', { review_id: 'r1', reason: 'Push?', description: 'To main.' }),
      event(4, 'agent.tool_result', { tool_use_id: 'a', content: 'approve' }),
    )
    expect(timeline.rows).toMatchObject([
      { kind: 'tool', name: 'Bash' },
      { kind: 'tool', name: 'AskPerson', asks: true, result: { text: 'approve' } },
      { kind: 'review', reason: 'Push?' },
    ])
    expect(timeline.rows[0]).not.toHaveProperty('asks')
    const later = folded(
      event(1, 'agent.review_requested', { review_id: 'r1', reason: 'Push?', description: 'To main.' }),
      event(2, 'agent.tool_use', asks),
    )
    expect(later.rows).toMatchObject([{ kind: 'review' }, { kind: 'tool', asks: true }])
  })

  it('has one row for the start of a run, and none for its worker process', () => {
    const timeline = folded(
      event(1, 'command.started', { process_id: 'p', pid: 2, kind: 'detached', command: 'vivarium-worker command' }),
      event(2, 'sandbox.run_started', { runtime: 'command' }),
      event(3, 'agent.status', { status: 'in_progress', message: 'command' }),
      event(4, 'agent.started', { runtime: 'command' }),
      event(5),
      event(6, 'command.completed', { process_id: 'p', pid: 2, exit_code: 0 }),
    )
    expect(timeline.rows).toMatchObject([{ title: 'Agent started' }, { kind: 'message' }])
    expect(timeline.indexOf(4)).toBe(0)
  })

  it.each([
    ['adopted', 'Recovered after a restart of the server'],
    ['revived', 'Started again on its disk'],
    ['reconnected', 'Reconnected to the sandbox'],
    ['restored', 'Restored from a snapshot'],
    ['something new', 'Recovered'],
  ])('says how a sandbox was recovered: %s', (how, title) => {
    expect(folded(event(1, 'sandbox.recovered', { how })).rows).toMatchObject([{ title, detail: '' }])
  })

  it('leaves nothing running in a sandbox that ended', () => {
    const timeline = folded(
      event(1, 'agent.tool_use', { tool_use_id: 'a', tool_name: 'Bash' }),
      event(2, 'command.started', { pid: 7, command: 'sleep 9' }),
      event(3, 'user.message', { message_id: 'm1', content: 'hurry' }),
      event(4, 'agent.review_requested', { review_id: 'r1', reason: 'Push?' }),
      event(5, 'sandbox.terminated', { reason: 'idle' }),
    )
    expect(timeline.rows.slice(0, 4)).toMatchObject([1, 2, 3, 4].map(() => ({ isCut: true })))
  })

  it('ends the calls of a run with the run, but not the commands of users', () => {
    const timeline = folded(
      event(1, 'agent.tool_use', { tool_use_id: 'a', tool_name: 'Bash' }),
      event(2, 'command.started', { pid: 7, command: 'sleep 9' }),
      event(3, 'sandbox.run_ended', { status: 'failed' }),
      event(4, 'command.started', { pid: 8, command: 'ls' }),
    )
    expect(timeline.rows[0]).toMatchObject({ kind: 'tool', isCut: true })
    expect(timeline.rows[1]).not.toHaveProperty('isCut')
    timeline.append(event(5, 'sandbox.recovered', { how: 'restored' }))
    expect(timeline.rows[1]).toMatchObject({ line: 'sleep 9', isCut: true })
  })

  it('accepts data of any shape', () => {
    const odd = {
      text: 7,
      tool_input: 'no object',
      content: { deep: [null] },
      exit_code: 'x',
      path: 3,
      review_id: null,
    }
    const types = [
      'agent.message',
      'agent.tool_use',
      'agent.tool_result',
      'command.output',
      'file.created',
      'user.approve',
    ]
    expect(() => folded(...types.map((type, index) => event(index + 1, type, odd)))).not.toThrow()
  })
})

describe('notes of the guardian', () => {
  const pattern = {
    run_id: 'run1',
    task_id: 'tsk1',
    rule: 'repeated_failure',
    summary: 'The same call failed 5 times.',
  }

  it('are rows with their rule, their text and the events that show them', () => {
    const timeline = folded(
      event(1, 'guardian.observed', { ...pattern, evidence: [3, 5, 'x'], action: 'none' }),
      event(2, 'guardian.stopped', { ...pattern, evidence: [], action: 'stop' }),
    )
    expect(timeline.rows).toMatchObject([
      { kind: 'guard', by: 'guardian', act: 'observed', rule: 'repeated_failure', evidence: [3, 5] },
      { kind: 'guard', act: 'stopped', text: 'The same call failed 5 times.' },
    ])
  })

  it('get their outcome in the same row', () => {
    const timeline = folded(
      event(1, 'guardian.nudged', { ...pattern, evidence: [], action: 'nudge' }),
      event(2, 'guardian.nudged', { ...pattern, rule: 'oscillation', evidence: [], action: 'nudge' }),
      event(3, 'guardian.outcome', { ...pattern, evidence: [], ended: true }),
    )
    expect(timeline.rows).toMatchObject([
      { rule: 'repeated_failure', outcome: { hasEnded: true } },
      { rule: 'oscillation', outcome: undefined },
    ])
    expect(timeline.indexOf(3)).toBe(0)
  })

  it('contain the judgement of a model and the report of the conductor', () => {
    const timeline = folded(
      event(1, 'guardian.judged', { alignment: 0.4, state: 'drifting', message: 'Back to the task.', confidence: 0.8 }),
      event(2, 'conductor.report', {
        runs: 3,
        coherence: 0.5,
        overlaps: [{ kind: 'duplicate', summary: 'run1 and run2 fix the same test.', files: [] }],
      }),
      event(3, 'conductor.report', { runs: 1, coherence: 1, overlaps: [] }),
    )
    expect(timeline.rows).toMatchObject([
      { act: 'judged', rule: 'drifting', text: 'Back to the task. (confidence 80 %)' },
      { by: 'conductor', act: 'report', text: 'run1 and run2 fix the same test.' },
      { text: 'The active runs do not overlap.' },
    ])
  })

  it('do not separate the events of the end of a run', () => {
    const timeline = folded(
      event(1, 'agent.failed', { problem: 'stopped' }),
      event(2, 'guardian.stopped', { ...pattern, evidence: [], action: 'stop' }),
      event(3, 'sandbox.run_ended', { status: 'failed', reason: 'stopped by the guardian' }),
    )
    expect(timeline.rows.map((row) => row.kind)).toEqual(['state', 'guard'])
  })
})

describe('the supervision of a worker', () => {
  it('is told in words, with the next run and the forensics', () => {
    const timeline = folded(
      event(1, 'sandbox.heartbeat_missed', { run_id: 'run1', last_heartbeat_at: '2026-01-01T10:00:00Z' }),
      event(2, 'sandbox.forensics_collected', { run_id: 'run1', bytes: 1234 }),
      event(3, 'sandbox.restarted', {
        run_id: 'run1',
        reason_code: 'worker_lost',
        next_sandbox_id: 'sbx2',
        files: true,
        conversation: true,
      }),
      event(4, 'sandbox.terminated_idle', { run_id: 'run1', idle_duration: 1800 }),
      event(5, 'sandbox.quarantined', { run_id: 'run1', reason: '4 restarts in 30 minutes' }),
    )
    expect(timeline.rows).toMatchObject([
      { kind: 'state', title: 'Heartbeat missed', mood: 'warn' },
      { title: 'Forensics collected', forensicsOf: 'run1' },
      { detail: 'worker_lost; with its files and its conversation', next: 'sbx2' },
      { detail: 'No work for 30 minutes' },
      { title: 'Quarantined', mood: 'bad', detail: '4 restarts in 30 minutes' },
    ])
  })
})
