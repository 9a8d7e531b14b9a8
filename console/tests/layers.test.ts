import { describe, expect, it } from 'vitest'
import { BOX, draw, type Knot, layersOf, pathOf } from '~/store/layers'
import { randomFrom } from './random'

function knot(id: string, ...dependsOn: string[]): Knot {
  return { id, dependsOn }
}

/** A random graph: each node depends only on earlier ones. */
function randomGraph(size: number, seed: number): Knot[] {
  const next = randomFrom(seed)
  return Array.from({ length: size }, (_, index) => {
    const count = next(Math.min(3, index + 1))
    return knot(`k${index}`, ...Array.from({ length: count }, () => `k${next(index)}`))
  })
}

describe('the picture of a graph', () => {
  it('has each box to the right of all that it depends on', () => {
    for (const seed of [1, 2, 3, 4, 5]) {
      const knots = randomGraph(60, seed)
      const { boxes } = draw(knots)
      for (const { id, dependsOn } of knots) {
        for (const other of dependsOn) expect(boxes.get(id)?.x).toBeGreaterThan(boxes.get(other)?.x ?? Number.NaN)
      }
    }
  })

  it('has no box on another, and none outside', () => {
    for (const seed of [1, 2, 3, 4, 5]) {
      const { boxes, width, height } = draw(randomGraph(60, seed))
      const all = [...boxes.values()]
      for (const [index, a] of all.entries()) {
        expect(a.x).toBeGreaterThanOrEqual(0)
        expect(a.y).toBeGreaterThanOrEqual(0)
        expect(a.x + BOX.width).toBeLessThanOrEqual(width)
        expect(a.y + BOX.height).toBeLessThanOrEqual(height)
        for (const b of all.slice(index + 1)) {
          const isApart = Math.abs(a.x - b.x) >= BOX.width || Math.abs(a.y - b.y) >= BOX.height
          expect(isApart).toBe(true)
        }
      }
    }
  })

  it('leads a long line around the boxes between its ends', () => {
    const { boxes, edges } = draw([knot('a'), knot('b', 'a'), knot('c', 'b', 'a')])
    const long = edges.find((edge) => edge.from === 'a' && edge.to === 'c')
    const between = boxes.get('b') ?? { x: 0, y: 0 }
    const passing = long?.points.filter((point) => point.x >= between.x && point.x <= between.x + BOX.width) ?? []
    expect(passing).toHaveLength(2)
    for (const { y } of passing) expect(y < between.y || y > between.y + BOX.height).toBe(true)
  })

  it('draws boxes without lines in rows below the others', () => {
    const { boxes, width } = draw([knot('a'), knot('b', 'a'), ...Array.from({ length: 7 }, (_, at) => knot(`s${at}`))])
    const lowest = Math.max(boxes.get('a')?.y ?? 0, boxes.get('b')?.y ?? 0)
    expect(boxes.get('s0')?.y).toBeGreaterThan(lowest)
    expect(boxes.get('s5')).toMatchObject({ x: 0 })
    expect(width).toBeGreaterThan(5 * BOX.width)
  })

  it('marks the line that closes a cycle, and ends', () => {
    const { edges, boxes } = draw([knot('a', 'c'), knot('b', 'a'), knot('c', 'b')])
    expect(boxes.size).toBe(3)
    expect(edges.filter((edge) => edge.isBack)).toMatchObject([{ from: 'c', to: 'a' }])
  })

  it('ignores dependencies that are not drawn, repeated ones, and one on itself', () => {
    const { edges } = draw([knot('a', 'elsewhere', 'a'), knot('b', 'a', 'a')])
    expect(edges).toMatchObject([{ from: 'a', to: 'b' }])
  })

  it('is empty without knots', () => {
    expect(draw([])).toMatchObject({ width: 0, height: 0 })
  })

  it('of a thousand tasks is made in a moment', () => {
    const { boxes } = draw(randomGraph(1000, 7))
    expect(boxes.size).toBe(1000)
  })

  it('gives a knot one layer more than its last dependency', () => {
    const layers = layersOf([knot('c', 'b', 'a'), knot('b', 'a'), knot('a')])
    expect([...layers]).toEqual([
      ['a', 0],
      ['b', 1],
      ['c', 2],
    ])
  })

  it('joins points with level curves', () => {
    expect(
      pathOf([
        { x: 0, y: 0 },
        { x: 10, y: 20 },
      ]),
    ).toBe('M0 0 C5 0 5 20 10 20')
    expect(pathOf([])).toBe('')
  })
})
