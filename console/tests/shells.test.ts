import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ShellSession } from '~/store/shell-session'
import { type Shell, Shells } from '~/store/shells'
import { FakeSockets } from './sockets'

function shell(session_id: string, running = true): Shell {
  return { session_id, started_at: '2026-01-01T10:00:00Z', cols: 80, rows: 24, running, people: [] }
}

describe('Shells', () => {
  let sockets: FakeSockets
  let there: Shell[]
  let asked: number
  let refusal: Error | undefined
  let shells: Shells

  const names = () => shells.tabs.map((tab) => tab.session_id)

  beforeEach(() => {
    sessionStorage.clear()
    sockets = new FakeSockets()
    there = [shell('a'), shell('b', false)]
    asked = 0
    refusal = undefined
    shells = makeShells()
  })
  afterEach(() => shells.close())

  function makeShells(): Shells {
    const soon = (task: () => void) => task()
    return new Shells(
      {
        list: async () => {
          asked++
          if (refusal) throw refusal
          return [...there]
        },
        open: async () => {
          there.push(shell('new'))
          return shell('new')
        },
        end: async (id) => {
          there = there.map((each) => (each.session_id === id ? { ...each, running: false, exit_code: 137 } : each))
        },
        session: (parts) => new ShellSession({ ...parts, connect: sockets.connect, soon }),
      },
      soon,
    )
  }

  it('has a tab for each running shell and connects to none', async () => {
    await shells.refresh()
    expect(shells.isLoaded).toBe(true)
    expect(names()).toEqual(['a'])
    expect(sockets.all).toHaveLength(0)
  })

  it('connects to a shell once', async () => {
    await shells.refresh()
    shells.session('a').open()
    shells.session('a').open()
    expect(sockets.all).toHaveLength(1)
  })

  it('opens another shell with its own tab', async () => {
    await shells.refresh()
    expect(await shells.open()).toBe('new')
    expect(names()).toEqual(['a', 'new'])
  })

  it('keeps an ended shell until it is dismissed', async () => {
    await shells.refresh()
    shells.session('a').open()
    await shells.end('a')
    sockets.last.admit().tell({ type: 'exit', code: 137, cause: 'signalled' })
    expect(names()).toEqual(['a'])
    shells.dismiss('a')
    expect(names()).toEqual([])
    expect(sockets.last.isClosed).toBe(true)
  })

  it('marks a shell as ended without a request', async () => {
    await shells.refresh()
    shells.session('a').open()
    sockets.last.admit().tell({ type: 'exit', code: 7, cause: 'exited' })
    expect(shells.find('a')).toMatchObject({ running: false, exit_code: 7 })
    expect(asked).toBe(1)
  })

  it('merges concurrent refreshes', async () => {
    void shells.refresh()
    void shells.refresh()
    await shells.refresh()
    await Promise.resolve()
    expect(asked).toBe(2)
  })

  it('checks the session when a socket is not authenticated', async () => {
    await shells.refresh()
    shells.session('a').open()
    sockets.last.cut(4401, 'no')
    expect(asked).toBe(2)
  })

  it('types in its own shells, also after a reload, and watches others', async () => {
    await shells.refresh()
    await shells.open()
    expect(shells.session('new').wantsToWatch).toBe(false)
    expect(shells.session('a').wantsToWatch).toBe(true)
    expect(shells.own).toBe('new')
    const reloaded = makeShells()
    await reloaded.refresh()
    expect(reloaded.own).toBe('new')
    expect(reloaded.session('new').wantsToWatch).toBe(false)
    reloaded.close()
  })

  it('can type in and rename the shells of others', async () => {
    await shells.refresh()
    shells.watchOnly('a', false)
    expect(shells.session('a').wantsToWatch).toBe(false)
    expect(shells.nameOf('a')).toBe('Shell 1')
    shells.rename('a', ' build ')
    expect(shells.nameOf('a')).toBe('build')
    shells.rename('a', '')
    expect(shells.nameOf('a')).toBe('Shell 1')
  })

  it('keeps its list and shows the error when the server does not answer', async () => {
    await shells.refresh()
    refusal = new Error('no')
    await shells.refresh()
    expect(shells.failure).toBe(refusal)
    expect(names()).toEqual(['a'])
  })

  it('does not resume a paused sandbox and connects after it resumes', async () => {
    shells.setPaused(true)
    shells.session('a').open()
    expect(sockets.all).toHaveLength(0)
    shells.setPaused(false)
    expect(sockets.all).toHaveLength(1)
  })
})
