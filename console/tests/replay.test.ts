import { describe, expect, it } from 'vitest'
import type { LogEvent } from '~/api/types'
import { EventStore } from '~/store/event-store'
import { Replay } from '~/store/replay'
import { Tape } from '~/store/tape'
import { Timeline } from '~/store/timeline'
import { event, MemoryLog, range } from './events'
import { randomFrom } from './random'

const now = (task: () => void) => task()

async function opened(log: MemoryLog): Promise<EventStore> {
  const store = new EventStore(log, { soon: now })
  await store.open()
  return store
}

function at(seq: number, ms: number, type?: string): LogEvent {
  return { ...event(seq, type), created_at: new Date(ms).toISOString() }
}

function folded(events: readonly LogEvent[]): Timeline {
  const timeline = new Timeline()
  timeline.rebuild(events)
  return timeline
}

describe('Tape', () => {
  it('has the length of the run, with idle time shortened', () => {
    const tape = new Tape()
    tape.update([at(1, 0), at(2, 500), at(3, 600_000), at(4, 599_000), at(5, 601_000)])
    expect([0, 1, 2, 3, 4].map((index) => tape.placeOf(index))).toEqual([0, 500, 2_500, 2_500, 4_500])
    expect(tape.length).toBe(4_500)
    expect([0, 499, 500, 2_499, 2_500, 9_999].map((place) => tape.indexAt(place))).toEqual([0, 0, 1, 1, 3, 4])
  })

  it('grows with its list and finds events by number', () => {
    const events = [at(3, 0), at(5, 100, 'user.interrupt')]
    const tape = new Tape()
    expect(tape.update(events)).toBe(true)
    events.push(at(9, 300, 'agent.error'))
    expect(tape.update(events)).toBe(false)
    expect(tape.length).toBe(300)
    expect([1, 3, 4, 5, 8, 9, 10].map((seq) => tape.indexOf(seq))).toEqual([0, 0, 0, 1, 1, 2, 2])
    expect(tape.marks).toEqual([
      { index: 1, mark: 'intervention' },
      { index: 2, mark: 'error' },
    ])
  })

  it('maps events to positions and back', () => {
    for (let seed = 1; seed <= 30; seed++) {
      const random = randomFrom(seed)
      let time = 0
      const events = Array.from({ length: 100 }, (_, index) => {
        time += random(4_000) - 200
        return at(index + 1, time)
      })
      const tape = new Tape()
      tape.update(events)
      for (let index = 0; index < 100; index++) {
        const place = tape.placeOf(index)
        expect(place).toBeGreaterThanOrEqual(tape.placeOf(index - 1))
        expect(tape.placeOf(tape.indexAt(place))).toBe(place)
      }
    }
  })
})

describe('Replay', () => {
  it('shows the state of a moment, however it was reached', async () => {
    const events = range(1, 120).map((one) => {
      if (one.seq % 5 === 1) return event(one.seq, 'agent.tool_use', { tool_use_id: `t${one.seq}`, tool_name: 'Bash' })
      if (one.seq % 5 === 3) return event(one.seq, 'agent.tool_result', { tool_use_id: `t${one.seq - 2}`, content: '' })
      return one
    })
    const replay = new Replay(await opened(new MemoryLog(events)), 1, now)
    const random = randomFrom(7)
    for (let step = 0; step < 200; step++) {
      const seq = 1 + random(120)
      replay.seek(seq)
      expect(replay.timeline.rows).toEqual(folded(events.slice(0, seq)).rows)
      expect(replay.event?.seq).toBe(seq)
    }
    replay.seek(7)
    expect(replay.tools.get('Bash')).toBe(2)
    expect(replay.timeline.rows.at(-2)).toMatchObject({ kind: 'tool', result: undefined })
  })

  it('plays at its speed and stops at the end', async () => {
    const replay = new Replay(await opened(new MemoryLog(range(1, 21))), 1, now)
    replay.play(1_000)
    replay.tick(3_500)
    expect(replay.event?.seq).toBe(3)
    replay.setSpeed(4)
    replay.tick(4_000)
    expect(replay.event?.seq).toBe(5)
    replay.setSpeed(16)
    replay.tick(5_000)
    expect(replay.event?.seq).toBe(21)
    expect(replay.isPlaying).toBe(false)
  })

  it('restarts when played at its end', async () => {
    const replay = new Replay(await opened(new MemoryLog(range(1, 5))), 5, now)
    replay.play(0)
    expect(replay.event?.seq).toBe(1)
    replay.tick(1_000)
    expect(replay.event?.seq).toBe(2)
  })

  it('does not move while paused', async () => {
    const replay = new Replay(await opened(new MemoryLog(range(1, 5))), 1, now)
    replay.play(0)
    replay.tick(1_500)
    replay.pause()
    replay.tick(60_000)
    expect(replay.event?.seq).toBe(2)
    replay.play(90_000)
    replay.tick(90_500)
    expect(replay.event?.seq).toBe(3)
  })

  it('steps from event to event within the ends', async () => {
    const replay = new Replay(await opened(new MemoryLog(range(1, 3))), 2, now)
    replay.step(1)
    replay.step(1)
    expect(replay.event?.seq).toBe(3)
    replay.step(-10)
    expect(replay.event?.seq).toBe(1)
  })

  it('stays at its event when older ones are loaded', async () => {
    const store = await opened(new MemoryLog(range(1, 700)))
    const near = new Replay(store, 600, now)
    const far = new Replay(store, 50, now)
    expect(far.event?.seq).toBe(501)
    await store.loadAll(new AbortController().signal)
    near.sync()
    far.sync()
    expect(near.event?.seq).toBe(600)
    expect(near.timeline.rows).toHaveLength(600)
    expect(far.event?.seq).toBe(50)
    expect(far.timeline.rows).toHaveLength(50)
  })

  it('does not move when new events arrive', async () => {
    const store = await opened(new MemoryLog(range(1, 10)))
    const replay = new Replay(store, 4, now)
    for (const one of range(11, 30)) store.receive(one)
    replay.sync()
    expect(replay.event?.seq).toBe(4)
    expect(replay.tape.length).toBe(29_000)
  })
})
