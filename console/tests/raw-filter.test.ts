import { describe, expect, it } from 'vitest'
import { indexUntil, isFailed, markOf, previewOf } from '~/store/log-events'
import { RawFilter } from '~/store/raw-filter'
import { partInSight } from '~/store/window'
import { event, range } from './events'
import { randomFrom } from './random'

const TYPES = ['agent.message', 'agent.error', 'command.completed', 'sandbox.metrics']

describe('RawFilter', () => {
  it('always equals a search through all events', () => {
    for (let seed = 1; seed <= 20; seed++) {
      const random = randomFrom(seed)
      const make = (seq: number) =>
        event(seq, TYPES[random(TYPES.length)], { text: random(3) === 0 ? 'a Needle' : 'hay', exit_code: random(2) })
      let events = [make(50)]
      const filter = new RawFilter({ types: ['agent.error', 'command.completed'], onlyFailed: true, word: 'needle' })
      for (let step = 0; step < 30; step++) {
        const first = events[0]?.seq ?? 1
        if (random(6) === 0 && first > 1) events = [make(first - 1), ...events]
        events.push(make((events.at(-1)?.seq ?? 0) + 1))
        filter.update(events)
        const shown = events.flatMap((one, index) =>
          one.event_type === 'agent.error' || (one.event_type === 'command.completed' && isFailed(one)) ? [index] : [],
        )
        expect(filter.shown).toEqual(shown)
        expect(filter.found?.found).toEqual(shown.filter((index) => events[index]?.event_data.text === 'a Needle'))
        expect([...filter.types.values()].reduce((sum, total) => sum + total, 0)).toBe(events.length)
        expect(filter.failed.found).toEqual(events.flatMap((one, index) => (isFailed(one) ? [index] : [])))
      }
    }
  })

  it('returns everything without a filter', () => {
    const filter = new RawFilter({ types: [], onlyFailed: false, word: '' }).update(range(1, 3))
    expect(filter.shown).toBeUndefined()
    expect(filter.types.get('agent.message')).toBe(3)
  })
})

describe('an event', () => {
  it('has failed if its type or data reports a failure', () => {
    expect(isFailed(event(1, 'agent.tool_result', { is_error: true }))).toBe(true)
    expect(isFailed(event(1, 'command.completed', { exit_code: 0 }))).toBe(false)
    expect(isFailed(event(1, 'sandbox.run_ended', { status: 'failed' }))).toBe(true)
    expect(isFailed(event(1, 'agent.failed', {}))).toBe(true)
    expect(markOf(event(1, 'agent.review_requested', {}))).toBe('review')
    expect(markOf(event(1))).toBeUndefined()
  })

  it('has a one-line summary', () => {
    expect(previewOf(event(1, 'x', { text: '\n  two\nlines' }))).toBe('two')
    expect(previewOf(event(1, 'x', { a: 1 }))).toBe('{"a":1}')
    expect(previewOf(event(1, 'x', {}))).toBe('')
  })

  it('is found by its number, or else the last before it', () => {
    const events = [event(3), event(4), event(9)]
    expect([2, 3, 8, 9, 10].map((seq) => indexUntil(events, seq))).toEqual([-1, 0, 1, 2, 2])
  })
})

describe('partInSight', () => {
  it('covers the visible rows and a margin within the list', () => {
    expect(partInSight(2_800, 280, 28, 10_000, 5)).toEqual({ from: 95, until: 115 })
    expect(partInSight(0, 280, 28, 3, 5)).toEqual({ from: 0, until: 3 })
    expect(partInSight(99_999, 280, 28, 3, 5)).toEqual({ from: 3, until: 3 })
  })
})
