/** A box and its dependencies. Dependencies that are not in the picture are left out. */
export interface Knot {
  readonly id: string
  readonly dependsOn: readonly string[]
}

export interface Point {
  readonly x: number
  readonly y: number
}

/** A line from a dependency to its dependent. */
export interface Edge {
  readonly from: string
  readonly to: string
  /** From the right side of one box to the left side of the other, around the boxes between them. */
  readonly points: readonly Point[]
  /** Part of a cycle: it goes back to an earlier layer. */
  readonly isBack: boolean
}

export interface Picture {
  readonly width: number
  readonly height: number
  /** The upper left corners of the boxes. */
  readonly boxes: ReadonlyMap<string, Point>
  readonly edges: readonly Edge[]
}

export const BOX = { width: 190, height: 46 } as const
const GAP = { x: 56, y: 16 } as const
const STEP = BOX.height + GAP.y
/** A line that passes a layer needs less room than a box. */
const LANE = 20
const SWEEPS = 6
/** Boxes without any line are put in rows. */
const COLUMNS = 5

/** A place in a layer: a box, or the point at which a long line passes the layer. */
interface Place {
  readonly key: string
  readonly layer: number
  readonly isBox: boolean
  readonly before: Place[]
  readonly after: Place[]
  y: number
}

/**
 * Draws a graph from left to right: each box is to the right of all that it depends on. Connected parts are drawn one
 * below the other, then the boxes without lines. Takes linear time, apart from sorting.
 */
export function draw(knots: readonly Knot[]): Picture {
  const boxes = new Map<string, Point>()
  const edges: Edge[] = []
  const alone: string[] = []
  let width = 0
  let top = 0
  for (const part of partsOf(knots)) {
    const only = part[0]
    if (part.length === 1 && only !== undefined) {
      alone.push(only.id)
      continue
    }
    const drawn = drawPart(part, top)
    for (const [id, point] of drawn.boxes) boxes.set(id, point)
    edges.push(...drawn.edges)
    width = Math.max(width, drawn.width)
    top = drawn.height + GAP.y * 2
  }
  for (const [index, id] of alone.entries()) {
    const x = (index % COLUMNS) * (BOX.width + GAP.y)
    boxes.set(id, { x, y: top + Math.floor(index / COLUMNS) * STEP })
    width = Math.max(width, x + BOX.width)
  }
  const height = Math.max(0, ...[...boxes.values()].map((point) => point.y + BOX.height))
  return { width, height, boxes, edges }
}

function dependenciesOf(knot: Knot, known: ReadonlyMap<string, Knot>): string[] {
  return [...new Set(knot.dependsOn)].filter((id) => id !== knot.id && known.has(id))
}

/** The connected parts, in the order of their first nodes. */
export function partsOf(knots: readonly Knot[]): Knot[][] {
  const known = new Map(knots.map((knot) => [knot.id, knot]))
  const neighbours = new Map([...known.keys()].map((id) => [id, [] as string[]]))
  for (const knot of known.values()) {
    for (const id of dependenciesOf(knot, known)) {
      neighbours.get(id)?.push(knot.id)
      neighbours.get(knot.id)?.push(id)
    }
  }
  const seen = new Set<string>()
  const found: Knot[][] = []
  for (const id of known.keys()) {
    if (seen.has(id)) continue
    const part: Knot[] = []
    const open = [id]
    seen.add(id)
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const knot = known.get(next)
      if (knot !== undefined) part.push(knot)
      for (const other of neighbours.get(next) ?? []) {
        if (seen.has(other)) continue
        seen.add(other)
        open.push(other)
      }
    }
    found.push(part)
  }
  return found
}

/**
 * The layer of each node: one more than the last layer of its dependencies. In a cycle, the first node ignores
 * dependencies without a layer.
 */
export function layersOf(knots: readonly Knot[]): Map<string, number> {
  const known = new Map(knots.map((knot) => [knot.id, knot]))
  const open = new Map<string, number>()
  const dependents = new Map(knots.map((knot) => [knot.id, [] as string[]]))
  for (const knot of knots) {
    const dependencies = dependenciesOf(knot, known)
    open.set(knot.id, dependencies.length)
    for (const id of dependencies) dependents.get(id)?.push(knot.id)
  }
  const layers = new Map<string, number>()
  const free = knots.filter((knot) => open.get(knot.id) === 0).map((knot) => knot.id)
  const layerOf = (id: string) => {
    const before = dependenciesOf(known.get(id) as Knot, known).flatMap((one) => layers.get(one) ?? [])
    return before.length === 0 ? 0 : Math.max(...before) + 1
  }
  const rest = knots.values()
  while (layers.size < known.size) {
    const id = free.shift() ?? nextOf(rest, layers)
    if (id === undefined) break
    if (layers.has(id)) continue
    layers.set(id, layerOf(id))
    for (const dependent of dependents.get(id) ?? []) {
      const left = (open.get(dependent) ?? 0) - 1
      open.set(dependent, left)
      if (left === 0) free.push(dependent)
    }
  }
  return layers
}

/** The next node without a layer. */
function nextOf(rest: Iterator<Knot>, layers: ReadonlyMap<string, number>): string | undefined {
  for (let next = rest.next(); !next.done; next = rest.next()) if (!layers.has(next.value.id)) return next.value.id
  return undefined
}

function drawPart(part: readonly Knot[], top: number): Picture {
  const layers = layersOf(part)
  const known = new Map(part.map((knot) => [knot.id, knot]))
  const rows: Place[][] = []
  const put = (key: string, layer: number, isBox: boolean): Place => {
    const place: Place = { key, layer, isBox, before: [], after: [], y: 0 }
    rows[layer] ??= []
    rows[layer].push(place)
    return place
  }
  const places = new Map(part.map((knot) => [knot.id, put(knot.id, layers.get(knot.id) ?? 0, true)]))
  const chains: { from: string; to: string; chain: readonly Place[]; isBack: boolean }[] = []
  for (const knot of part) {
    for (const id of dependenciesOf(knot, known)) {
      const [from, to] = [places.get(id), places.get(knot.id)] as [Place, Place]
      const isBack = from.layer >= to.layer
      chains.push({ from: id, to: knot.id, chain: isBack ? [from, to] : chainOf(from, to, put), isBack })
    }
  }
  order(rows)
  settle(rows, top)
  const boxes = new Map([...places].map(([id, place]) => [id, { x: xOf(place.layer), y: place.y }]))
  const bottoms = rows.flat().map((place) => place.y + heightOf(place))
  return {
    width: xOf(rows.length - 1) + BOX.width,
    height: Math.max(...bottoms),
    boxes,
    edges: chains.map(({ from, to, chain, isBack }) => ({ from, to, isBack, points: pointsOf(chain) })),
  }
}

function xOf(layer: number): number {
  return layer * (BOX.width + GAP.x)
}

function heightOf(place: Place): number {
  return place.isBox ? BOX.height : LANE
}

/** Puts a place into each layer that a line passes, so that the line has room there. */
function chainOf(from: Place, to: Place, put: (key: string, layer: number, isBox: boolean) => Place): Place[] {
  const chain = [from]
  for (let layer = from.layer + 1; layer < to.layer; layer++) {
    chain.push(put(`${from.key}>${to.key}>${layer}`, layer, false))
  }
  chain.push(to)
  for (let at = 1; at < chain.length; at++) {
    const [before, after] = [chain[at - 1], chain[at]] as [Place, Place]
    before.after.push(after)
    after.before.push(before)
  }
  return chain
}

/** Orders each layer by the mean place of the neighbours, to and fro, so that few lines cross. */
function order(rows: Place[][]): void {
  const number = (row: readonly Place[]) => {
    for (const [index, place] of row.entries()) place.y = index
  }
  rows.forEach(number)
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const isForth = sweep % 2 === 0
    for (const row of isForth ? rows : rows.toReversed()) {
      const wanted = new Map(row.map((place) => [place, mean(isForth ? place.before : place.after) ?? place.y]))
      row.sort((a, b) => (wanted.get(a) ?? 0) - (wanted.get(b) ?? 0))
      number(row)
    }
  }
}

function mean(places: readonly Place[]): number | undefined {
  return places.length === 0 ? undefined : places.reduce((sum, place) => sum + place.y, 0) / places.length
}

/** Gives each place its height on the page: near its neighbours, below the place before it. */
function settle(rows: readonly Place[][], top: number): void {
  for (const row of rows) stack(row, () => 0)
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const isForth = sweep % 2 === 0
    for (const row of isForth ? rows : rows.toReversed()) {
      stack(row, (place) => centre(isForth ? place.before : place.after, place))
    }
  }
  const first = Math.min(...rows.flat().map((place) => place.y))
  for (const place of rows.flat()) place.y += top - first
}

/** The height at which a place is level with the middle of others. */
function centre(others: readonly Place[], place: Place): number {
  if (others.length === 0) return place.y
  const middle = others.reduce((sum, one) => sum + one.y + heightOf(one) / 2, 0) / others.length
  return middle - heightOf(place) / 2
}

/** Puts a row in order without overlaps. The row then moves up by as much as its places moved down on average. */
function stack(row: readonly Place[], wanted: (place: Place) => number): void {
  const goals = row.map(wanted)
  let floor = Number.NEGATIVE_INFINITY
  let pushed = 0
  for (const [index, place] of row.entries()) {
    const goal = goals[index] ?? 0
    place.y = Math.max(goal, floor)
    pushed += place.y - goal
    floor = place.y + heightOf(place) + GAP.y
  }
  const back = row.length === 0 ? 0 : pushed / row.length
  for (const place of row) place.y -= back
}

function pointsOf(chain: readonly Place[]): Point[] {
  return chain.flatMap((place, index) => {
    const y = place.y + heightOf(place) / 2
    const left = { x: xOf(place.layer), y }
    const right = { x: xOf(place.layer) + BOX.width, y }
    if (index === 0) return [right]
    return index === chain.length - 1 ? [left] : [left, right]
  })
}

/** A line through points as the `d` of an SVG path: level at each point, and curved between layers. */
export function pathOf(points: readonly Point[]): string {
  const [first, ...rest] = points
  if (first === undefined) return ''
  let at = first
  let path = `M${round(first.x)} ${round(first.y)}`
  for (const next of rest) {
    const middle = (at.x + next.x) / 2
    path += ` C${round(middle)} ${round(at.y)} ${round(middle)} ${round(next.y)} ${round(next.x)} ${round(next.y)}`
    at = next
  }
  return path
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
