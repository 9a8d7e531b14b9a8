import { expect, it } from 'vitest'
import { commandOf } from '~/store/agent-commands'
import { Timeline } from '~/store/timeline'
import { event } from './events'

it('takes the commands of an agent from its tool calls', () => {
  const timeline = new Timeline()
  timeline.rebuild([
    event(1, 'agent.tool_use', { tool_use_id: 'a', tool_name: 'Bash', tool_input: { command: 'make' } }),
    event(2, 'agent.tool_use', { tool_use_id: 'b', tool_name: 'Read', tool_input: { path: 'x' } }),
    event(3, 'agent.tool_result', { tool_use_id: 'a', content: 'no rule', is_error: true }),
    event(4, 'command.started', { pid: 1, command: 'ls' }),
    event(5, 'command.started', { pid: 2, kind: 'process', command: 'sleep 1' }),
    event(6, 'command.completed', { pid: 2, kind: 'process', exit_code: 1 }),
    event(7, 'command.processes_folded', { processes: 9 }),
  ])
  expect(timeline.rows.map(commandOf)).toMatchObject([
    { line: 'make', how: 'agent', output: 'no rule', end: { cause: 'failed', durationMs: 2000 } },
    undefined,
    { line: 'ls', end: undefined },
  ])
})
