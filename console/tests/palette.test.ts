import { afterEach, describe, expect, it, vi } from 'vitest'
import { type Entry, found } from '~/keys/palette'
import { movePane } from '~/keys/panes'
import { shortcuts } from '~/keys/shortcuts'

function entry(name: string, hint = '', id = name): Entry {
  return { id, name, hint, run: () => undefined }
}

const ENTRIES = [
  entry('Go to the inbox', 'Everywhere'),
  entry('Fix the inbox', 'running · agent-77', 'sbx1'),
  entry('Inbox cleaning', 'failed · thread-2', 'sbx2'),
]

const names = (typed: string) => found(ENTRIES, typed).map((one) => one.name)

describe('the palette', () => {
  it('finds entries with all words, and lists prefix matches first', () => {
    expect(names('inbox')).toEqual(['Inbox cleaning', 'Go to the inbox', 'Fix the inbox'])
    expect(names('THE in')).toEqual(['Go to the inbox', 'Fix the inbox'])
    expect(names('zebra')).toEqual([])
  })

  it('finds a sandbox by its thread or id', () => {
    expect(names('agent-77')).toEqual(['Fix the inbox'])
    expect(names('sbx2')).toEqual(['Inbox cleaning'])
  })

  it('lists everything in order without a query, up to the limit', () => {
    expect(names('')).toEqual(ENTRIES.map((one) => one.name))
    expect(
      found(
        Array.from({ length: 900 }, (_, at) => entry(`${at}`)),
        '',
      ),
    ).toHaveLength(50)
  })
})

describe('the regions of a page', () => {
  afterEach(() => document.body.replaceChildren())

  function page(html: readonly [string, string][]) {
    for (const [tag, id] of html) {
      const part = document.body.appendChild(document.createElement(tag))
      if (tag === 'main') part.tabIndex = -1
      else part.dataset.pane = ''
      part.checkVisibility = () => true
      const button = part.appendChild(document.createElement('button'))
      button.id = id
      button.checkVisibility = () => true
    }
  }

  it('are cycled in both directions', () => {
    page([
      ['nav', 'rail'],
      ['header', 'bar'],
      ['main', 'content'],
    ])
    movePane(1)
    expect(document.activeElement?.id).toBe('rail')
    movePane(1)
    expect(document.activeElement?.id).toBe('bar')
    movePane(1)
    expect(document.activeElement?.tagName).toBe('MAIN')
    movePane(1)
    expect(document.activeElement?.id).toBe('rail')
    movePane(-1)
    expect(document.activeElement?.tagName).toBe('MAIN')
  })

  it('are left with F6 even from a text field', () => {
    const run = vi.fn()
    const remove = shortcuts.add({ name: 'Test', shortcuts: [{ keys: 'Shift+F6', does: 'back', run }] })
    document.addEventListener('keydown', shortcuts.onKeyDown)
    const box = document.body.appendChild(document.createElement('textarea'))
    box.dispatchEvent(new KeyboardEvent('keydown', { key: 'F6', shiftKey: true, bubbles: true }))
    document.removeEventListener('keydown', shortcuts.onKeyDown)
    remove()
    expect(run).toHaveBeenCalledTimes(1)
  })
})
