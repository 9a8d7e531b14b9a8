import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ApiError, unreachable } from '~/api/problem'
import { backoff } from '~/live/backoff'
import type { Message } from '~/live/sse'
import type { LiveState } from '~/live/state'
import { LiveStream } from '~/live/stream'

/** Server whose streams the test feeds, closes and rejects. */
class Server {
  readonly urls: string[] = []
  refusal: Error | undefined
  isSilent = false
  #body: ReadableStreamDefaultController<Uint8Array> | undefined

  readonly fetch = (url: string, { signal }: RequestInit): Promise<Response> => {
    this.urls.push(url)
    if (this.isSilent) {
      return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
    }
    if (this.refusal) return Promise.reject(this.refusal)
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#body = controller
        signal?.addEventListener('abort', () => controller.error(signal.reason))
      },
    })
    return Promise.resolve(new Response(body))
  }

  send(text: string): void {
    this.#body?.enqueue(new TextEncoder().encode(text))
  }

  cut(): void {
    this.#body?.close()
  }
}

describe('LiveStream', () => {
  let server: Server
  let states: LiveState[]
  let messages: Message[]
  let stream: LiveStream
  let last: number
  let isOver: boolean

  const kinds = () => states.map((state) => state.kind)
  const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)

  beforeEach(() => {
    vi.useFakeTimers()
    server = new Server()
    states = []
    messages = []
    last = 0
    isOver = false
    stream = new LiveStream({
      url: () => `/events?after_seq=${last}`,
      fetch: server.fetch,
      onMessage: (message) => {
        messages.push(message)
        last = Number(message.id)
      },
      onState: (state) => states.push(state),
      isOver: () => isOver,
      random: () => 0.5,
    })
    stream.start()
  })
  afterEach(() => {
    stream.close()
    vi.useRealTimers()
  })

  it('is live while connected and delivers events', async () => {
    await pass(0)
    server.send('id: 1\nevent: event\ndata: {}\n\n')
    await pass(0)
    expect(kinds()).toEqual(['connecting', 'live'])
    expect(messages).toMatchObject([{ event: 'event', id: '1' }])
  })

  it('reconnects from the last event', async () => {
    await pass(0)
    server.send('id: 41\ndata: {}\n\n')
    await pass(0)
    server.cut()
    await pass(0)
    expect(states.at(-1)).toEqual({ kind: 'reconnecting', at: Date.now() + 500 })
    await pass(500)
    expect(server.urls).toEqual(['/events?after_seq=0', '/events?after_seq=41'])
    expect(kinds()).toEqual(['connecting', 'live', 'reconnecting', 'live'])
  })

  it('waits longer each time, up to half a minute', async () => {
    server.refusal = unreachable()
    await pass(0)
    server.cut()
    const waits: number[] = []
    for (let attempt = 0; attempt < 7; attempt++) {
      await pass(0)
      const state = states.at(-1)
      const wait = state?.kind === 'reconnecting' ? state.at - Date.now() : 0
      waits.push(wait)
      await pass(wait)
    }
    expect(waits.slice(-6)).toEqual([1000, 2000, 4000, 8000, 15_000, 15_000])
  })

  it('closes a connection that is silent for 40 seconds', async () => {
    await pass(39_000)
    server.send(': keep-alive\n\n')
    await pass(39_000)
    expect(kinds()).toEqual(['connecting', 'live'])
    await pass(1_500)
    expect(kinds()).toContain('reconnecting')
  })

  it('stops connecting after 10 seconds and retries', async () => {
    await pass(0)
    server.isSilent = true
    server.cut()
    await pass(600)
    expect(server.urls).toHaveLength(2)
    await pass(10_000)
    expect(kinds()).toEqual(['connecting', 'live', 'reconnecting', 'reconnecting'])
  })

  it('reconnects immediately on request or when the network returns', async () => {
    await pass(0)
    server.cut()
    await pass(0)
    stream.retryNow()
    await pass(0)
    expect(server.urls).toHaveLength(2)
    server.cut()
    await pass(0)
    window.dispatchEvent(new Event('online'))
    await pass(0)
    expect(server.urls).toHaveLength(3)
  })

  it('ends after a permanent rejection', async () => {
    await pass(0)
    server.refusal = new ApiError({ type: 't', title: 'Gone', detail: 'It is gone.', status: 404 })
    server.cut()
    await pass(600)
    expect(states.at(-1)).toEqual({ kind: 'ended', why: 'It is gone.' })
    await pass(120_000)
    expect(server.urls).toHaveLength(2)
  })

  it('ends with a finished stream', async () => {
    await pass(0)
    isOver = true
    server.cut()
    await pass(120_000)
    expect(kinds()).toEqual(['connecting', 'live', 'ended'])
    expect(server.urls).toHaveLength(1)
  })

  it('does nothing after close', async () => {
    await pass(0)
    stream.close()
    await pass(120_000)
    expect(server.urls).toHaveLength(1)
    expect(kinds()).toEqual(['connecting', 'live'])
  })
})

describe('backoff', () => {
  it('is random between zero and its limit', () => {
    expect(backoff(3, () => 0)).toBe(0)
    expect(backoff(3, () => 1)).toBe(8000)
    expect(backoff(50, () => 1)).toBe(30_000)
  })
})
