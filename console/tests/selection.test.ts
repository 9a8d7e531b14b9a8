import { describe, expect, it } from 'vitest'
import type { Sandbox } from '~/api/types'
import type { FleetRow } from '~/store/fleet'
import { allOrNone, applicable, chosen, needsAsking, toggled, wordsFor } from '~/store/selection'

function row(id: string, state: Sandbox['state'], status: Sandbox['status'], hasRun = true): FleetRow {
  const sandbox = { sandbox_id: id, state, status, run: hasRun ? {} : undefined } as Sandbox
  return { sandbox, status } as FleetRow
}

const ROWS = [
  row('running', 'running', 'running'),
  row('plain', 'running', 'running', false),
  row('frozen', 'paused', 'paused'),
  row('over', 'running', 'completed'),
  row('gone', 'terminated', 'terminated'),
]

const ids = (rows: readonly FleetRow[]) => rows.map((one) => one.sandbox.sandbox_id)

describe('a selection', () => {
  it('adds and removes entries', () => {
    const one = toggled(new Set(), 'a')
    expect([...one]).toEqual(['a'])
    expect([...toggled(one, 'a')]).toEqual([])
    expect([...one]).toEqual(['a'])
  })

  it('toggles all visible entries', () => {
    const all = allOrNone(new Set(['running']), ROWS)
    expect(all.size).toBe(5)
    expect(allOrNone(all, ROWS).size).toBe(0)
  })

  it('drops entries that are no longer visible', () => {
    expect(ids(chosen(new Set(['gone', 'filtered-away']), ROWS))).toEqual(['gone'])
  })
})

describe('a bulk action', () => {
  it('applies only to sandboxes that support it', () => {
    expect(ids(applicable('pause', ROWS))).toEqual(['running', 'plain', 'over'])
    expect(ids(applicable('resume', ROWS))).toEqual(['frozen'])
    expect(ids(applicable('interrupt', ROWS))).toEqual(['running'])
    expect(ids(applicable('end', ROWS))).toEqual(['running', 'plain', 'frozen', 'over'])
  })

  it('asks if it cannot be undone, and needs typing from five on', () => {
    expect(needsAsking('pause', 4)).toBe(false)
    expect(needsAsking('end', 1)).toBe(true)
    expect(wordsFor('end', 4)).toBeUndefined()
    expect(wordsFor('pause', 5)).toBe('pause 5')
  })
})
