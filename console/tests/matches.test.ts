import { describe, expect, it, vi } from 'vitest'
import { after, Matches } from '~/store/matches'
import { randomFrom } from './random'

interface Item {
  readonly value: number
  readonly isOpen: boolean
}

describe('Matches', () => {
  it('finds what a full search finds after any change', () => {
    for (let seed = 1; seed <= 40; seed++) {
      const random = randomFrom(seed)
      const make = (): Item => ({ value: random(4), isOpen: random(3) === 0 })
      let items: Item[] = []
      const matches = new Matches<Item>({ test: (item) => item.value === 0, isOpen: (item) => item.isOpen })
      for (let step = 0; step < 60; step++) {
        if (random(12) === 0) items = [make(), make(), ...items]
        for (let added = random(4); added > 0; added--) items.push(make())
        for (const [index, item] of items.entries()) if (item.isOpen && random(3) === 0) items[index] = make()
        const expected = items.flatMap((item, index) => (item.value === 0 ? [index] : []))
        expect(matches.update(items).found).toEqual(expected)
      }
    }
  })

  it('searches unchanged items once', () => {
    const test = vi.fn((item: number) => item > 2)
    const matches = new Matches<number>({ test })
    const items = [1, 2, 3]
    matches.update(items)
    items.push(4)
    matches.update(items).update(items)
    expect(test).toHaveBeenCalledTimes(4)
    expect(matches.found).toEqual([2, 3])
  })

  it('returns the same list until something changes', () => {
    const items = [1, 2]
    const matches = new Matches<number>({ test: (item) => item > 1, isOpen: () => true }).update(items)
    const before = matches.found
    items.push(0)
    expect(matches.update(items).found).toBe(before)
  })

  it('goes to the next and the previous match, and wraps around', () => {
    const matches = new Matches<number>({ test: (item) => item > 0 }).update([0, 1, 0, 1, 1])
    expect(matches.next(1, 1)).toBe(3)
    expect(matches.next(4, 1)).toBe(1)
    expect(matches.next(3, -1)).toBe(1)
    expect(matches.next(1, -1)).toBe(4)
    expect(matches.next(2, -1)).toBe(1)
    expect(matches.countUntil(3)).toBe(2)
    expect(new Matches<number>({ test: () => false }).update([1]).next(0, 1)).toBeUndefined()
  })
})

describe('after', () => {
  it('counts the numbers that are not greater', () => {
    const sorted = [1, 3, 3, 7]
    expect([0, 1, 2, 3, 6, 7, 8].map((value) => after(sorted, value))).toEqual([0, 1, 1, 3, 3, 4, 4])
  })
})
