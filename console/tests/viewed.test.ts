import { beforeEach, describe, expect, it } from 'vitest'
import { TypeAhead } from '~/screens/files/type-ahead'
import { moments } from '~/store/moments'
import { bestMatches } from '~/store/near-paths'
import { lastVisit, noteVisit, Viewed } from '~/store/viewed'
import { event } from './events'

const now = (task: () => void) => task()

describe('Viewed', () => {
  beforeEach(() => localStorage.clear())

  it('is stored, and cleared when the file changes again', () => {
    new Viewed('sbx1', now).set('a.txt', 7, true)
    const again = new Viewed('sbx1', now)
    expect(again.has('a.txt', 7)).toBe(true)
    expect(again.has('a.txt', 9)).toBe(false)
    expect(new Viewed('sbx2', now).has('a.txt', 7)).toBe(false)
    again.set('a.txt', 7, false)
    expect(new Viewed('sbx1', now).has('a.txt', 7)).toBe(false)
  })

  it('ignores invalid stored values', () => {
    localStorage.setItem('viv.viewed.sbx1', '{"x": [')
    expect(new Viewed('sbx1', now).has('x', 1)).toBe(false)
  })

  it('stores the last visit', () => {
    expect(lastVisit('sbx1')).toBeUndefined()
    noteVisit('sbx1', 41)
    noteVisit('sbx1', 0)
    expect(lastVisit('sbx1')).toBe(41)
  })
})

describe('moments', () => {
  it('are notable events, the newest first', () => {
    const events = [
      event(1, 'sandbox.started', {}),
      event(2, 'file.created', { path: 'a' }),
      event(3, 'command.started', { command: 'pytest\n-q' }),
      event(4, 'user.guidance', { content: 'use the other API' }),
    ]
    expect(moments(events).map((moment) => `${moment.seq} ${moment.words}`)).toEqual([
      '4 guidance: use the other API',
      '3 $ pytest',
      '1 sandbox started',
    ])
  })
})

describe('bestMatches', () => {
  const paths = ['docs/app/readme.md', 'src/application.ts', 'src/main/app.ts', 'a/p/p.txt', 'other.txt']

  it('prefers the name over the path, and contiguous matches', () => {
    expect(bestMatches(paths, 'app', 9)).toEqual([
      'src/main/app.ts',
      'src/application.ts',
      'docs/app/readme.md',
      'a/p/p.txt',
    ])
  })

  it('returns everything for an empty query, up to the limit', () => {
    expect(bestMatches(paths, '', 2)).toEqual(paths.slice(0, 2))
  })
})

describe('TypeAhead', () => {
  const names = ['alpha', 'beta', 'bench', 'gamma']

  it('joins letters that follow each other', () => {
    const ahead = new TypeAhead()
    expect(ahead.find('b', names, 0, 0)).toBe(1)
    expect(ahead.find('e', names, 1, 100)).toBe(1)
    expect(ahead.find('n', names, 1, 200)).toBe(2)
    expect(ahead.find('g', names, 2, 5_000)).toBe(3)
  })

  it('cycles through entries with the same letter', () => {
    const ahead = new TypeAhead()
    expect(ahead.find('b', names, 0, 0)).toBe(1)
    expect(ahead.find('b', names, 1, 100)).toBe(2)
    expect(ahead.find('b', names, 2, 200)).toBe(1)
    expect(ahead.find('z', names, 2, 9_000)).toBeUndefined()
  })
})
