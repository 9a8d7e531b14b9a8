import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { shortcuts } from '~/keys/shortcuts'

function press(key: string, target: HTMLElement = document.body, more: KeyboardEventInit = {}): void {
  target.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...more }))
}

function pressAt(ms: number, key: string): void {
  const event = new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true })
  Object.defineProperty(event, 'timeStamp', { value: ms })
  document.body.dispatchEvent(event)
}

describe('shortcuts', () => {
  const help = vi.fn()
  const fleet = vi.fn()
  const stop = vi.fn()
  let remove: () => void

  beforeEach(() => {
    vi.clearAllMocks()
    document.addEventListener('keydown', shortcuts.onKeyDown)
    remove = shortcuts.add({
      name: 'Test',
      shortcuts: [
        { keys: '?', does: 'help', run: help },
        { keys: 'g f', does: 'fleet', run: fleet },
        { keys: 'Mod+.', does: 'stop', run: stop },
      ],
    })
  })
  afterEach(() => {
    remove()
    shortcuts.setSingle(true)
    document.removeEventListener('keydown', shortcuts.onKeyDown)
    document.body.replaceChildren()
  })

  it('are one key or a sequence of two', () => {
    press('?', document.body, { shiftKey: true })
    press('f')
    expect(fleet).not.toHaveBeenCalled()
    press('g')
    press('f')
    expect(help).toHaveBeenCalledTimes(1)
    expect(fleet).toHaveBeenCalledTimes(1)
  })

  it('are a sequence if pressed within a second, even if handled later', () => {
    vi.useFakeTimers()
    pressAt(10_000, 'g')
    vi.advanceTimersByTime(5_000)
    pressAt(10_900, 'f')
    expect(fleet).toHaveBeenCalledTimes(1)
    pressAt(20_000, 'g')
    pressAt(21_100, 'f')
    expect(fleet).toHaveBeenCalledTimes(1)
    vi.useRealTimers()
  })

  it('ignore letters in text fields, except with Ctrl', () => {
    const box = document.body.appendChild(document.createElement('textarea'))
    press('?', box)
    press('.', box, { ctrlKey: true })
    expect(help).not.toHaveBeenCalled()
    expect(stop).toHaveBeenCalledTimes(1)
  })

  it('ignore letters in an open dialog, but not in one that has just closed', () => {
    const dialog = document.body.appendChild(document.createElement('dialog'))
    const button = dialog.appendChild(document.createElement('button'))
    const box = dialog.appendChild(document.createElement('input'))
    dialog.setAttribute('open', '')
    press('?', button)
    press('?', box)
    expect(help).not.toHaveBeenCalled()
    dialog.removeAttribute('open')
    press('?', button)
    press('?', box)
    expect(help).toHaveBeenCalledTimes(2)
  })

  it('can be turned off if they are single keys', () => {
    shortcuts.setSingle(false)
    press('?')
    press('.', document.body, { metaKey: true })
    expect(help).not.toHaveBeenCalled()
    expect(stop).toHaveBeenCalledTimes(1)
  })

  it('belong to the innermost screen', () => {
    const near = vi.fn()
    const leave = shortcuts.add({ name: 'Near', shortcuts: [{ keys: '?', does: 'near', run: near }] })
    press('?')
    leave()
    press('?')
    expect(near).toHaveBeenCalledTimes(1)
    expect(help).toHaveBeenCalledTimes(1)
  })
})
