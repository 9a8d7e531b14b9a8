const KEY = 'viv.shells'
const MOST = 50

interface Kept {
  readonly id: string
  readonly types: boolean
  readonly name?: string
}

/** Shells in which the user of this tab types, and their titles. Survives a reload. */
export class TypedShells {
  #kept: readonly Kept[] = read()

  has(id: string): boolean {
    return this.#find(id)?.types === true
  }

  nameOf(id: string): string | undefined {
    return this.#find(id)?.name
  }

  add(id: string): void {
    this.#put({ ...this.#find(id), id, types: true })
  }

  remove(id: string): void {
    this.#put({ ...this.#find(id), id, types: false })
  }

  rename(id: string, name: string): void {
    this.#put({ id, types: this.has(id), ...(name.trim() !== '' && { name: name.trim() }) })
  }

  #find(id: string): Kept | undefined {
    return this.#kept.find((each) => each.id === id)
  }

  #put(kept: Kept): void {
    this.#kept = [...this.#kept.filter((each) => each.id !== kept.id), kept].slice(-MOST)
    sessionStorage.setItem(KEY, JSON.stringify(this.#kept))
  }
}

function read(): readonly Kept[] {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? '[]')
    return Array.isArray(kept) ? kept : []
  } catch {
    return []
  }
}
