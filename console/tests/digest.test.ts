import { describe, expect, it } from 'vitest'
import { digest } from '~/store/digest'
import { Timeline } from '~/store/timeline'
import { event } from './events'

describe('digest', () => {
  it('counts new events by kind', () => {
    const timeline = new Timeline()
    for (const one of [
      event(1),
      event(2, 'agent.tool_use', { tool_use_id: 'a' }),
      event(3, 'agent.tool_use', { tool_use_id: 'b' }),
      event(4),
      event(5, 'sandbox.metrics', {}),
    ]) {
      timeline.append(one)
    }
    expect(digest(timeline.rows, 1)).toBe('New: 1 message, 2 tool calls')
    expect(digest(timeline.rows, 4)).toBe('')
  })
})
