import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { EventStore } from '~/store/event-store'
import { event, MemoryLog, range } from './events'

const now = (task: () => void) => task()

async function opened(log: MemoryLog, cap?: number): Promise<EventStore> {
  const store = new EventStore(log, { soon: now, cap })
  await store.open()
  return store
}

const seqs = (store: EventStore) => store.events.map((one) => one.seq)

describe('EventStore', () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it('shows the newest page first', async () => {
    const store = await opened(new MemoryLog(range(1, 500)))
    expect(seqs(store)).toEqual(range(301, 500).map((one) => one.seq))
    expect(store.hasOlder).toBe(true)
  })

  it('drops duplicates', async () => {
    const store = await opened(new MemoryLog(range(1, 3)))
    for (const seq of [3, 2, 4, 4, 1]) store.receive(event(seq))
    expect(seqs(store)).toEqual([1, 2, 3, 4])
  })

  it('sorts events that arrive out of order', async () => {
    const log = new MemoryLog(range(1, 2))
    const store = await opened(log)
    log.events = range(1, 5)
    store.receive(event(4))
    store.receive(event(3))
    store.receive(event(5))
    await vi.runAllTimersAsync()
    expect(seqs(store)).toEqual([1, 2, 3, 4, 5])
  })

  it('fetches a gap before it shows later events', async () => {
    const log = new MemoryLog(range(1, 2))
    const store = await opened(log)
    log.events = range(1, 2_500)
    store.receive(event(2_500))
    expect(store.lastSeq).toBe(2)
    expect(store.behind).toBe(2_498)
    await vi.runAllTimersAsync()
    expect(seqs(store)).toEqual(range(1, 2_500).map((one) => one.seq))
    expect(log.asked.filter((question) => question.startsWith('after'))).toEqual([
      'after 2',
      'after 1002',
      'after 2002',
    ])
    expect(store.behind).toBe(0)
  })

  it('marks removed events and continues', async () => {
    const log = new MemoryLog(range(1, 2))
    const store = await opened(log)
    log.events = range(8, 9)
    store.receive(event(9))
    await vi.runAllTimersAsync()
    expect(seqs(store)).toEqual([1, 2, 8, 9])
    expect(store.timeline.rows.map((row) => row.kind)).toEqual(['message', 'message', 'gap', 'message', 'message'])
    expect(store.timeline.rows[2]).toMatchObject({ seq: 3, until: 7 })
  })

  it('continues when the log has no event of the gap', async () => {
    const log = new MemoryLog(range(1, 2))
    const store = await opened(log)
    log.events = []
    store.receive(event(6))
    await vi.runAllTimersAsync()
    expect(seqs(store)).toEqual([1, 2, 6])
  })

  it('retries a gap that cannot be fetched', async () => {
    const log = new MemoryLog(range(1, 2))
    const store = await opened(log)
    log.isReachable = false
    store.receive(event(5))
    await vi.advanceTimersByTimeAsync(100)
    expect(store.lastSeq).toBe(2)
    log.events = range(1, 5)
    log.isReachable = true
    await vi.advanceTimersByTimeAsync(5_000)
    expect(seqs(store)).toEqual([1, 2, 3, 4, 5])
  })

  it('buffers stream events until the first page is loaded', async () => {
    const store = new EventStore(new MemoryLog(range(1, 3)), { soon: now })
    store.receive(event(4))
    await store.open()
    expect(seqs(store)).toEqual([1, 2, 3, 4])
  })

  it('loads older pages down to the start, each once', async () => {
    const log = new MemoryLog(range(1, 450))
    const store = await opened(log)
    await Promise.all([store.loadOlder(), store.loadOlder()])
    await store.loadOlder()
    await store.loadOlder()
    expect(seqs(store)).toEqual(range(1, 450).map((one) => one.seq))
    expect(log.asked).toEqual(['newest 200', 'before 251', 'before 51'])
    expect(store.hasOlder).toBe(false)
  })

  it('keeps an event that arrives while an older page is loading', async () => {
    const store = await opened(new MemoryLog(range(1, 300)))
    const older = store.loadOlder()
    store.receive(event(301))
    await older
    expect(seqs(store)).toEqual(range(1, 301).map((one) => one.seq))
    expect(store.timeline.rows).toHaveLength(301)
  })

  it('reaches a linked event through older pages', async () => {
    const store = await opened(new MemoryLog(range(1, 3_000)))
    expect(await store.reach(1_200)).toBe(true)
    expect(store.timeline.rows[store.timeline.indexOf(1_200) ?? -1]?.seq).toBe(1_200)
    expect(await store.reach(9_999)).toBe(false)
  })

  it('keeps a limited number of events, the newest', async () => {
    const store = await opened(new MemoryLog([]), 100)
    for (const one of range(1, 1_000)) store.receive(one)
    expect(store.events.length).toBeLessThanOrEqual(200)
    expect(store.lastSeq).toBe(1_000)
    expect(store.timeline.rows[0]).toMatchObject({ kind: 'gap', seq: 1, why: 'unloaded' })
    expect(store.timeline.rows).toHaveLength(store.events.length + 1)
    expect(store.timeline.indexOf(1_000)).toBe(store.events.length)
  })

  it('notifies listeners once per frame', async () => {
    const frames: (() => void)[] = []
    const store = new EventStore(new MemoryLog([]), { soon: (task) => frames.push(task) })
    await store.open()
    frames.splice(0).forEach((frame) => {
      frame()
    })
    const heard = vi.fn()
    store.notifier.subscribe(heard)
    for (const one of range(1, 1_000)) store.receive(one)
    expect(frames).toHaveLength(1)
    frames.splice(0).forEach((frame) => {
      frame()
    })
    expect(heard).toHaveBeenCalledTimes(1)
  })
})
