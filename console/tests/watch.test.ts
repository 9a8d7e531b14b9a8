import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { worst } from '~/live/state'
import { Watch } from '~/store/watch'
import { MemoryLog, range } from './events'

describe('Watch', () => {
  let asked: number
  let watch: Watch

  beforeEach(() => {
    vi.useFakeTimers()
    asked = 0
    // Server that ends every stream immediately, as for an ended sandbox.
    vi.stubGlobal('fetch', () => {
      asked++
      return Promise.resolve(new Response('', { headers: { 'Content-Type': 'text/event-stream' } }))
    })
    watch = new Watch('sbx1', new MemoryLog(range(1, 3)), () => undefined)
  })
  afterEach(() => {
    watch.close()
    vi.unstubAllGlobals()
    vi.useRealTimers()
  })

  it('asks again when a stream ends without an end event', async () => {
    watch.start()
    await vi.advanceTimersByTimeAsync(120_000)
    expect(asked).toBeGreaterThan(2)
    expect(watch.state.kind).not.toBe('ended')
  })

  it('stops asking for a sandbox that ended without an end event', async () => {
    watch.start()
    await vi.advanceTimersByTimeAsync(0)
    watch.ended()
    await vi.advanceTimersByTimeAsync(120_000)
    expect(watch.state.kind).toBe('ended')
    const before = asked
    await vi.advanceTimersByTimeAsync(600_000)
    expect(asked).toBe(before)
  })
})

describe('worst', () => {
  it('reports the ended sandbox while the rest is connected', () => {
    const ended = { kind: 'ended', why: '' } as const
    expect(worst([{ kind: 'live' }, ended])).toBe(ended)
    expect(worst([{ kind: 'reconnecting', at: 0 }, ended])?.kind).toBe('reconnecting')
  })
})
