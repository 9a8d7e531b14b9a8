import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Participant } from '~/live/shell-messages'
import { ShellSession } from '~/store/shell-session'
import { FakeSockets } from './sockets'

/** Terminal that consumes output when the test allows it. */
class FakeScreen {
  shown = ''
  resets = 0
  readonly #waiting: (() => void)[] = []

  write(data: string, taken: () => void): void {
    this.shown += data
    this.#waiting.push(taken)
  }

  reset(): void {
    this.resets++
    this.shown = ''
  }

  takeAll(): void {
    for (const taken of this.#waiting.splice(0)) taken()
  }
}

function person(user_id: string, role: Participant['role']): Participant {
  return { user_id, role, since: '2026-01-01T10:00:00Z' }
}

describe('ShellSession', () => {
  let sockets: FakeSockets
  let screen: FakeScreen
  let ended: number
  let session: ShellSession

  const typed = () => sockets.last.said.filter((message) => message.type === 'stdin').map((message) => message.data)
  const seen = () => sockets.last.said.filter((message) => message.type === 'seen').map((message) => message.characters)

  beforeEach(() => {
    vi.useFakeTimers()
    sockets = new FakeSockets()
    screen = new FakeScreen()
    ended = 0
    session = new ShellSession({
      id: 'shl1',
      connect: sockets.connect,
      onEnd: () => ended++,
      random: () => 0.5,
      soon: (task) => task(),
    })
    session.attach(screen)
  })
  afterEach(() => {
    session.close()
    vi.useRealTimers()
  })

  it('joins with the window size and a flow-control window', () => {
    session.resize({ cols: 100, rows: 30 })
    session.open()
    sockets.last.admit()
    const first = { type: 'auth', session_id: 'shl1', window: 131_072, cols: 100, rows: 30 }
    expect(sockets.last.said).toEqual([first])
    expect(session.role).toBe('typist')
    expect(session.size).toEqual({ cols: 80, rows: 24 })
  })

  it('sends input and shows output', () => {
    session.open()
    sockets.last.admit()
    expect(session.type('ls\r')).toBeUndefined()
    expect(typed()).toEqual(['ls\r'])
    sockets.last.tell({ type: 'stdout', data: 'README.md\r\n' })
    expect(screen.shown).toBe('README.md\r\n')
  })

  it('drops input while disconnected', () => {
    session.open()
    sockets.last.admit().cut()
    expect(session.type('rm -rf .\r')).toBe('away')
    vi.advanceTimersByTime(500)
    sockets.last.admit()
    expect(typed()).toEqual([])
  })

  it('clears the screen on reconnect, because the server replays', () => {
    session.open()
    sockets.last.admit().tell({ type: 'stdout', data: 'one\r\n' })
    sockets.last.cut()
    vi.advanceTimersByTime(500)
    sockets.last.admit().tell({ type: 'stdout', data: 'one\r\ntwo\r\n' })
    expect(screen.shown).toBe('one\r\ntwo\r\n')
  })

  it('sends nothing as a watcher', () => {
    session.open()
    sockets.last.admit('watcher')
    expect(session.deaf).toBe('watching')
    expect(session.type('x')).toBe('watching')
    session.reply('\u001b[?1;2c')
    session.resize({ cols: 10, rows: 10 })
    expect(sockets.last.said.map((message) => message.type)).toEqual(['auth'])
  })

  it('rejoins when the user switches between watching and typing', () => {
    session.open()
    sockets.last.admit()
    session.watchOnly(true)
    expect(sockets.all).toHaveLength(2)
    sockets.last.admit('watcher')
    expect(sockets.last.said[0]).toMatchObject({ observe: true })
    session.watchOnly(false)
    sockets.last.admit()
    expect(sockets.last.said[0]).not.toHaveProperty('observe')
    expect(session.deaf).toBeUndefined()
  })

  it('neither joins nor types while the sandbox is paused', () => {
    session.setPaused(true)
    session.open()
    expect(sockets.all).toHaveLength(0)
    session.setPaused(false)
    sockets.last.admit()
    session.setPaused(true)
    expect(session.type('x')).toBe('paused')
    expect(typed()).toEqual([])
  })

  it('reconnects to a paused sandbox only after it resumes', () => {
    session.open()
    sockets.last.admit()
    session.setPaused(true)
    sockets.last.cut()
    vi.advanceTimersByTime(120_000)
    expect(sockets.all).toHaveLength(1)
    session.setPaused(false)
    expect(sockets.all).toHaveLength(2)
  })

  it('delays a role change until a paused sandbox resumes', () => {
    session.open()
    sockets.last.admit()
    session.setPaused(true)
    session.watchOnly(true)
    expect(sockets.all).toHaveLength(1)
    session.setPaused(false)
    expect(sockets.all).toHaveLength(2)
    sockets.last.admit('watcher')
    expect(sockets.last.said[0]).toMatchObject({ observe: true })
  })

  it('does not reconnect to a sandbox that was paused meanwhile', () => {
    session.open()
    sockets.last.admit().cut()
    session.setPaused(true)
    vi.advanceTimersByTime(120_000)
    expect(sockets.all).toHaveLength(1)
    session.setPaused(false)
    expect(sockets.all).toHaveLength(2)
  })

  it('shows participants and clears them on disconnect', () => {
    session.open()
    sockets.last.admit()
    const people = [person('ann', 'typist'), person('ben', 'watcher')]
    sockets.last.tell({ type: 'presence', people })
    expect(session.people).toEqual(people)
    sockets.last.cut()
    expect(session.people).toEqual([])
  })

  it('lets one of several terminals answer a query', () => {
    session.open()
    sockets.last.admit().tell({ type: 'presence', people: [person('ann', 'typist'), person('ben', 'typist')] })
    session.reply('\u001b[0n')
    expect(typed()).toEqual([])
    session.type('vim\r')
    session.reply('\u001b[0n')
    expect(typed()).toEqual(['vim\r', '\u001b[0n'])
  })

  it('uses the size that the server sends', () => {
    session.open()
    sockets.last.admit('watcher').tell({ type: 'size', cols: 132, rows: 50 })
    expect(session.size).toEqual({ cols: 132, rows: 50 })
  })

  it('sends a size once', () => {
    session.open()
    sockets.last.admit()
    session.resize({ cols: 90, rows: 20 })
    session.resize({ cols: 90, rows: 20 })
    expect(sockets.last.said.filter((message) => message.type === 'resize')).toHaveLength(1)
  })

  it('grants credit after the screen has consumed the output', () => {
    session.open()
    sockets.last.admit()
    for (let i = 0; i < 4; i++) sockets.last.tell({ type: 'stdout', data: 'y\n'.repeat(10_000) })
    expect(seen()).toEqual([])
    screen.takeAll()
    expect(seen()).toEqual([40_000, 40_000])
  })

  it('keeps only the newest output while the page is hidden', () => {
    session.open()
    sockets.last.admit()
    const visibility = vi.spyOn(document, 'visibilityState', 'get').mockReturnValue('hidden')
    document.dispatchEvent(new Event('visibilitychange'))
    for (let i = 0; i < 20; i++) sockets.last.tell({ type: 'stdout', data: String(i % 10).repeat(32 * 1024) })
    expect(seen()).toHaveLength(20)
    expect(screen.shown).toBe('')
    visibility.mockRestore()
    document.dispatchEvent(new Event('visibilitychange'))
    expect(screen.shown).toHaveLength(256 * 1024)
    expect(screen.shown.endsWith('9')).toBe(true)
  })

  it('shows every rejection of the server', () => {
    session.open()
    sockets.last.admit()
    sockets.last.tell({ type: 'error', code: 'not-allowed', message: 'you may only watch this shell' })
    const first = session.notice
    expect(first?.text).toBe('You may only watch this shell.')
    sockets.last.tell({ type: 'error', code: 'not-allowed', message: 'you may only watch this shell' })
    expect(session.notice).not.toEqual(first)
  })

  it('reports the exit', () => {
    session.open()
    sockets.last.admit().tell({ type: 'exit', code: 0, cause: 'exited' })
    expect(ended).toBe(1)
    expect(session.state).toEqual({ kind: 'exited', code: 0, cause: 'exited' })
    expect(session.type('x')).toBe('away')
  })
})
