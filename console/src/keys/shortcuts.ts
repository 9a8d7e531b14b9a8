import { useEffect, useLayoutEffect, useSyncExternalStore } from 'react'

/** Something that a key does. `keys` is one press (`?`, `Mod+.`) or two after each other (`g f`). */
export interface Shortcut {
  readonly keys: string
  readonly does: string
  readonly run: () => void
}

export interface Group {
  readonly name: string
  readonly shortcuts: readonly Shortcut[]
}

const SEQUENCE_MS = 1_000
const SETTING = 'viv.single-keys'

/** Keys that write nothing, wherever they are pressed. */
const FUNCTION = /^(Shift\+)?F\d+$/

/** The shortcuts of what is on the screen. Later groups win: the nearest meaning of a key counts. */
class Shortcuts {
  readonly #listeners = new Set<() => void>()
  #groups: readonly Group[] = []
  #first = ''
  #firstAt = 0
  #areSingleOn = localStorage.getItem(SETTING) !== 'off'

  readonly groups = (): readonly Group[] => this.#groups

  /** Keys without a modifier can be turned off: some speak to their computer, and words press keys. */
  readonly areSingleOn = (): boolean => this.#areSingleOn

  setSingle(isOn: boolean): void {
    this.#areSingleOn = isOn
    localStorage.setItem(SETTING, isOn ? 'on' : 'off')
    this.#changed()
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  add(group: Group): () => void {
    this.#groups = [...this.#groups, group]
    this.#changed()
    return () => {
      this.#groups = this.#groups.filter((other) => other !== group)
      this.#changed()
    }
  }

  readonly onKeyDown = (event: KeyboardEvent): void => {
    const press = pressOf(event)
    if (press === undefined || event.defaultPrevented || !this.#isMeant(event, press)) return
    // When it was pressed, which on a busy page is some time ago.
    const now = event.timeStamp
    const sequence = now - this.#firstAt < SEQUENCE_MS ? `${this.#first} ${press}` : press
    const found = this.#find(sequence) ?? this.#find(press)
    this.#first = found === undefined ? press : ''
    this.#firstAt = now
    if (found !== undefined) {
      event.preventDefault()
      found.run()
    }
  }

  #isMeant(event: KeyboardEvent, press: string): boolean {
    if (press.includes('Mod+') || press.includes('Alt+')) return true
    if (FUNCTION.test(press)) return document.querySelector('dialog:modal') === null
    // An editor has a tree of its own, out of which the event seems to come from the element around it.
    const target = event.composedPath()[0] ?? event.target
    // A dialog that has just closed keeps the focus until the next frame.
    if (!(target instanceof HTMLElement) || target.closest('dialog:not([open])') !== null) return this.#areSingleOn
    const isElsewhere = target.closest('input, textarea, select, [contenteditable], dialog') !== null
    return this.#areSingleOn && !isElsewhere
  }

  #find(keys: string): Shortcut | undefined {
    return this.#groups
      .toReversed()
      .flatMap((group) => group.shortcuts)
      .find((shortcut) => shortcut.keys === keys)
  }

  #changed(): void {
    for (const listener of this.#listeners) listener()
  }
}

function pressOf(event: KeyboardEvent): string | undefined {
  if (['Shift', 'Control', 'Alt', 'Meta'].includes(event.key)) return undefined
  // With a letter, Shift is in the key already.
  const shift = event.shiftKey && FUNCTION.test(event.key) ? 'Shift+' : ''
  return `${event.ctrlKey || event.metaKey ? 'Mod+' : ''}${event.altKey ? 'Alt+' : ''}${shift}${event.key}`
}

export const shortcuts = new Shortcuts()

/** Listens for the keys of the whole page. */
export function useKeyboard(): void {
  useEffect(() => {
    document.addEventListener('keydown', shortcuts.onKeyDown)
    return () => document.removeEventListener('keydown', shortcuts.onKeyDown)
  }, [])
}

/**
 * These keys mean this while the caller is on the screen, from the moment when it can be seen. `list` must be the same
 * between renderings: memoise it.
 */
export function useShortcuts(name: string, list: readonly Shortcut[]): void {
  useLayoutEffect(() => shortcuts.add({ name, shortcuts: list }), [name, list])
}

export function useShortcutGroups(): readonly Group[] {
  return useSyncExternalStore(shortcuts.subscribe, shortcuts.groups)
}

export function useSingleKeys(): boolean {
  return useSyncExternalStore(shortcuts.subscribe, shortcuts.areSingleOn)
}
