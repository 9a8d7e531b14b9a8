import { Notifier, type Soon } from './notifier'

const MOST = 1_000

/** Reviewed changes, stored in the browser. A file that changes again needs another review. */
export class Viewed {
  readonly notifier: Notifier
  readonly #key: string
  readonly #seqs: Map<string, number>

  constructor(sandboxId: string, soon?: Soon) {
    this.#key = `viv.viewed.${sandboxId}`
    this.#seqs = new Map(read(this.#key))
    this.notifier = new Notifier(soon)
  }

  has(path: string, seq: number): boolean {
    return this.#seqs.get(path) === seq
  }

  set(path: string, seq: number, isViewed: boolean): void {
    this.#seqs.delete(path)
    if (isViewed) this.#seqs.set(path, seq)
    localStorage.setItem(this.#key, JSON.stringify([...this.#seqs].slice(-MOST)))
    this.notifier.changed()
  }
}

function read(key: string): [string, number][] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(key) ?? '[]')
    return Array.isArray(kept) ? kept.filter(isPair) : []
  } catch {
    return []
  }
}

function isPair(one: unknown): one is [string, number] {
  return Array.isArray(one) && typeof one[0] === 'string' && typeof one[1] === 'number'
}

const visitKey = (sandboxId: string) => `viv.visit.${sandboxId}`

/** Number of the newest event at the last visit of the changes; undefined before the first visit. */
export function lastVisit(sandboxId: string): number | undefined {
  const kept = Number(localStorage.getItem(visitKey(sandboxId)) ?? Number.NaN)
  return Number.isSafeInteger(kept) && kept > 0 ? kept : undefined
}

export function noteVisit(sandboxId: string, seq: number): void {
  if (seq > 0) localStorage.setItem(visitKey(sandboxId), String(seq))
}
