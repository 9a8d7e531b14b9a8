import { describe, expect, it } from 'vitest'
import { EventStore } from '~/store/event-store'
import { findEvent } from '~/store/find-event'
import { MemoryLog, range } from './events'

async function live(log: MemoryLog): Promise<EventStore> {
  const store = new EventStore(log, { soon: (task) => task() })
  await store.open()
  return store
}

describe('findEvent', () => {
  it('loads the pages up to a near event', async () => {
    const log = new MemoryLog(range(1, 3_000))
    const store = await live(log)
    expect(await findEvent(store, log, 1_200)).toMatchObject({ kind: 'here', store })
    expect(store.firstSeq).toBeLessThanOrEqual(1_200)
  })

  it('requests one page for a distant event', async () => {
    const log = new MemoryLog(range(1, 30_000))
    const store = await live(log)
    const found = await findEvent(store, log, 12_345)
    expect(log.asked).toEqual(['newest 200', 'after 12244'])
    if (found.kind !== 'here') throw new Error(found.kind)
    expect(found.store).not.toBe(store)
    expect(found.store.timeline.rows[found.store.timeline.indexOf(12_345) ?? -1]?.seq).toBe(12_345)
  })

  it('continues from there in both directions', async () => {
    const log = new MemoryLog(range(1, 30_000))
    const found = await findEvent(await live(log), log, 12_345)
    if (found.kind !== 'here') throw new Error(found.kind)
    const { store } = found
    await Promise.all([store.loadNewer(), store.loadNewer()])
    await store.loadOlder()
    expect(store.events.map((one) => one.seq)).toEqual(range(12_045, 12_644).map((one) => one.seq))
    expect(store.behind).toBe(30_000 - 12_644)
  })

  it('reports events that the log no longer has or does not have yet', async () => {
    const log = new MemoryLog(range(5_000, 9_000))
    const store = await live(log)
    expect(await findEvent(store, log, 4_000)).toEqual({ kind: 'removed' })
    expect(await findEvent(store, log, 9_001)).toEqual({ kind: 'missing' })
  })
})

describe('the start of the loaded events', () => {
  it('is a row if older events were deleted', async () => {
    const log = new MemoryLog(range(51, 100))
    const store = await live(log)
    expect(store.timeline.rows[0]).toMatchObject({ kind: 'gap', seq: 1, until: 50, why: 'removed' })
    expect(store.timeline.indexOf(51)).toBe(1)
  })

  it('is a row once the oldest stored page is loaded', async () => {
    const log = new MemoryLog(range(51, 400))
    const store = await live(log)
    expect(store.timeline.rows[0]?.kind).toBe('message')
    await store.loadOlder()
    expect(store.timeline.rows[0]).toMatchObject({ kind: 'gap', until: 50, why: 'removed' })
  })

  it('is another row if the memory limit is reached', async () => {
    const log = new MemoryLog(range(1, 1_000))
    const store = new EventStore(log, { soon: (task) => task(), cap: 300 })
    await store.open()
    await store.loadAll(new AbortController().signal)
    expect(store.hasOlder).toBe(false)
    expect(store.timeline.rows[0]).toMatchObject({ kind: 'gap', why: 'unloaded' })
  })
})
