import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type LinkState, ShellLink } from '~/live/shell-link'
import { FakeSockets } from './sockets'

describe('ShellLink', () => {
  let sockets: FakeSockets
  let states: LinkState[]
  let link: ShellLink

  const kinds = () => states.map((state) => state.kind)
  const pass = (ms: number) => vi.advanceTimersByTime(ms)

  beforeEach(() => {
    vi.useFakeTimers()
    sockets = new FakeSockets()
    states = []
    link = new ShellLink({
      connect: sockets.connect,
      first: () => ({ type: 'auth', session_id: 'shl1', window: 1000 }),
      onMessage: () => undefined,
      mayReturn: () => true,
      onState: (state) => states.push(state),
      random: () => 0.5,
    })
  })
  afterEach(() => {
    link.close()
    vi.useRealTimers()
  })

  it('does nothing before it is opened', () => {
    pass(120_000)
    expect(sockets.all).toHaveLength(0)
    expect(link.state).toEqual({ kind: 'idle' })
  })

  it('sends its hello first and is live when accepted', () => {
    link.open()
    expect(kinds()).toEqual(['connecting'])
    sockets.last.admit()
    expect(sockets.last.said).toEqual([{ type: 'auth', session_id: 'shl1', window: 1000 }])
    expect(kinds()).toEqual(['connecting', 'live'])
  })

  it('reconnects with growing delays', () => {
    link.open()
    sockets.last.admit().cut()
    expect(states.at(-1)).toEqual({ kind: 'reconnecting', at: Date.now() + 500 })
    pass(500)
    sockets.last.cut()
    expect(states.at(-1)).toEqual({ kind: 'reconnecting', at: Date.now() + 1000 })
    pass(1000)
    sockets.last.admit().cut(1001, 'the server is stopping')
    expect(states.at(-1)).toEqual({ kind: 'reconnecting', at: Date.now() + 500 })
    expect(sockets.all).toHaveLength(3)
  })

  it('reconnects immediately on request or when the network returns', () => {
    link.open()
    sockets.last.cut()
    link.retryNow()
    expect(sockets.all).toHaveLength(2)
    sockets.last.cut()
    window.dispatchEvent(new Event('online'))
    expect(sockets.all).toHaveLength(3)
  })

  it('closes a connection that is not accepted within ten seconds', () => {
    link.open()
    sockets.last.onopen?.()
    pass(10_000)
    expect(sockets.all[0]?.isClosed).toBe(true)
    expect(kinds()).toEqual(['connecting', 'reconnecting'])
  })

  it('sends pings and reconnects without an answer', () => {
    link.open()
    sockets.last.admit()
    pass(20_000)
    expect(sockets.last.said.at(-1)).toEqual({ type: 'ping' })
    sockets.last.tell({ type: 'pong' })
    pass(44_000)
    expect(link.state.kind).toBe('live')
    pass(1_000)
    expect(link.state.kind).toBe('reconnecting')
  })

  it('ends immediately with the exit code of the shell', () => {
    link.open()
    sockets.last.admit().tell({ type: 'exit', code: 3, cause: 'exited' })
    expect(link.state).toEqual({ kind: 'exited', code: 3, cause: 'exited' })
    sockets.last.cut(1000, 'the shell has ended')
    pass(120_000)
    expect(link.state).toEqual({ kind: 'exited', code: 3, cause: 'exited' })
    expect(sockets.all).toHaveLength(1)
  })

  it('stays disconnected after a rejection and shows the reason', () => {
    link.open()
    sockets.last.tell({ type: 'error', code: 'no-such-shell', message: 'there is no such shell in this sandbox' })
    sockets.last.cut(4404, 'there is no such…')
    pass(120_000)
    expect(link.state).toEqual({ kind: 'refused', status: 404, why: 'there is no such shell in this sandbox' })
    link.open()
    sockets.last.admit().cut(1008, 'you tried too often')
    expect(link.state).toEqual({ kind: 'refused', status: 1008, why: 'you tried too often' })
    expect(sockets.all).toHaveLength(2)
  })

  it('retries a limited number of times after a missed hello', () => {
    link.open()
    for (let tries = 0; tries < 3; tries++) {
      pass(5_000)
      sockets.last.cut(4401, 'nothing was said within 5 s')
      expect(link.state.kind).toBe('reconnecting')
      link.retryNow()
    }
    pass(5_000)
    sockets.last.cut(4401, 'nothing was said within 5 s')
    expect(link.state).toEqual({ kind: 'refused', status: 401, why: 'nothing was said within 5 s' })
    link.open()
    sockets.last.cut(4401, 'this token has expired')
    expect(link.state.kind).toBe('refused')
  })

  it('reconnects after a server failure or a full server', () => {
    for (const code of [4429, 4500, 4503, 1013]) {
      link.open()
      sockets.last.cut(code)
      expect(link.state.kind).toBe('reconnecting')
    }
  })

  it('sends nothing without a connection', () => {
    link.open()
    expect(link.send({ type: 'stdin', data: 'x' })).toBe(false)
    sockets.last.admit()
    expect(link.send({ type: 'stdin', data: 'x' })).toBe(true)
    sockets.last.cut()
    expect(link.send({ type: 'stdin', data: 'x' })).toBe(false)
  })

  it('pauses reconnects on request and keeps an open connection', () => {
    link.open()
    sockets.last.admit()
    link.rest()
    expect(link.state.kind).toBe('live')
    sockets.last.cut()
    link.rest()
    pass(120_000)
    expect(link.state).toEqual({ kind: 'idle' })
    expect(sockets.all).toHaveLength(1)
  })

  it('does nothing after close', () => {
    link.open()
    sockets.last.admit()
    link.close()
    expect(sockets.last.isClosed).toBe(true)
    sockets.last.cut()
    pass(120_000)
    expect(sockets.all).toHaveLength(1)
  })
})
