import { describe, expect, it } from 'vitest'
import type { LogEvent } from '~/api/types'
import { IgnoreRules } from '~/store/ignored'
import { RowFilter } from '~/store/row-filter'
import { isError, KINDS, kindOf, wordsOf } from '~/store/row-kinds'
import { Timeline } from '~/store/timeline'
import { event } from './events'
import { randomFrom } from './random'

const ALL = { kinds: [], onlyErrors: false, word: '' }

/** Log of calls and commands that end later or never. */
function somethingLike(seed: number, length: number): LogEvent[] {
  const random = randomFrom(seed)
  const id = () => `t${random(length / 3)}`
  return Array.from({ length }, (_, index) => {
    const seq = index + 1
    switch (random(8)) {
      case 0:
        return event(seq, 'agent.tool_use', { tool_use_id: id(), tool_name: 'Bash', tool_input: { command: 'make' } })
      case 1:
        return event(seq, 'agent.tool_result', { tool_use_id: id(), content: 'needle', is_error: random(2) === 0 })
      case 2:
        return event(seq, 'command.started', { pid: random(9), command: 'ls' })
      case 3:
        return event(seq, 'command.output', { pid: random(9), stdout: random(2) === 0 ? 'needle\n' : 'hay\n' })
      case 4:
        return event(seq, 'command.completed', { pid: random(9), exit_code: random(2) })
      case 5:
        return event(seq, 'file.modified', { path: random(3) === 0 ? 'needle.txt' : 'hay.txt' })
      case 6:
        return event(seq, 'agent.thinking', { text: 'hm' })
      default:
        return event(seq)
    }
  })
}

describe('RowFilter', () => {
  it('leaves out rows of which all files are hidden', () => {
    const timeline = new Timeline()
    const filter = new RowFilter({ ...ALL, hides: (path) => path.startsWith('.git/') })
    timeline.append(event(1, 'file.created', { path: '.git/index' }))
    expect(filter.update(timeline.rows).shown).toEqual([])
    timeline.append(event(2, 'file.created', { path: 'a.txt' }))
    timeline.append(event(3))
    timeline.append(event(4, 'file.modified', { path: '.git/index' }))
    timeline.append(event(5))
    expect(filter.update(timeline.rows).shown).toEqual([0, 1, 3])
    expect(filter.isNarrow).toBe(false)
  })

  it('leaves out hidden directories', () => {
    const timeline = new Timeline()
    const filter = new RowFilter({ ...ALL, hides: (path) => new IgnoreRules().hides(path) })
    timeline.append(event(1, 'file.created', { path: '.git', directory: true }))
    timeline.append(event(2))
    timeline.append(event(3, 'file.created', { path: 'src', directory: true }))
    expect(filter.update(timeline.rows).shown).toEqual([1, 2])
  })

  it('leaves out counted changes if all their directories are hidden', () => {
    const timeline = new Timeline()
    const filter = new RowFilter({ ...ALL, hides: (path) => new IgnoreRules().hides(path) })
    const many = (seq: number, ...directories: string[]) => {
      timeline.append(event(seq, 'file.changes_folded', { created: 900, modified: 0, deleted: 0, directories }))
      timeline.append(event(seq + 1))
    }
    many(1, 'node_modules', '.git')
    many(3, 'node_modules', 'src')
    many(5, '.')
    many(7)
    // The server names ten directories at most: there may be others.
    many(9, ...Array.from({ length: 10 }, () => '.git'))
    expect(filter.update(timeline.rows).shown).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
  })

  it('always equals a search through all rows', () => {
    for (let seed = 1; seed <= 20; seed++) {
      const timeline = new Timeline()
      const errors = new RowFilter({ ...ALL, onlyErrors: true })
      const found = new RowFilter({ ...ALL, kinds: ['tools', 'commands', 'files'], word: 'NEEDLE' })
      for (const [index, one] of somethingLike(seed, 120).entries()) {
        timeline.append(one)
        // Not after each event: events between two frames are applied together.
        if (index % 3 > 0) continue
        const { rows } = timeline
        const places = (test: (row: (typeof rows)[number]) => boolean) =>
          rows.flatMap((row, at) => (test(row) ? [at] : []))
        expect(errors.update(rows).shown).toEqual(places(isError))
        expect(errors.errors).toBe(rows.filter(isError).length)
        for (const kind of KINDS) expect(errors.count(kind)).toBe(rows.filter((row) => kindOf(row) === kind).length)
        expect(found.update(rows).found?.found).toEqual(
          places((row) => ['tools', 'commands', 'files'].includes(kindOf(row)) && wordsOf(row).includes('needle')),
        )
      }
    }
  })

  it('returns everything without a filter', () => {
    const timeline = new Timeline()
    timeline.append(event(1))
    const filter = new RowFilter(ALL).update(timeline.rows)
    expect(filter.shown).toBeUndefined()
    expect(filter.found).toBeUndefined()
    expect(filter.count('messages')).toBe(1)
  })
})
