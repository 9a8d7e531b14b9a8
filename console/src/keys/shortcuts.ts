import { useEffect, useLayoutEffect, useSyncExternalStore } from 'react'

/** Keyboard shortcut. `keys` is one key (`?`, `Mod+.`) or a sequence of two (`g f`). */
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

/** Keys that type no character, so they work in text fields too. */
const FUNCTION = /^(Shift\+)?F\d+$/

/** Shortcuts of the current screen. If two groups have the same key, the later one applies. */
class Shortcuts {
  readonly #listeners = new Set<() => void>()
  #groups: readonly Group[] = []
  #first = ''
  #firstAt = 0
  #areSingleOn = localStorage.getItem(SETTING) !== 'off'

  readonly groups = (): readonly Group[] => this.#groups

  /** Shortcuts without a modifier can be turned off, because speech input types letters. */
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
    // Time of the key press, which is earlier than the handler on a busy page.
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
    // The editor has a shadow root, so the event appears to come from its host element.
    const target = event.composedPath()[0] ?? event.target
    // A closed dialog keeps the focus until the next frame.
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
  // For a letter, the key already contains Shift.
  const shift = event.shiftKey && FUNCTION.test(event.key) ? 'Shift+' : ''
  return `${event.ctrlKey || event.metaKey ? 'Mod+' : ''}${event.altKey ? 'Alt+' : ''}${shift}${event.key}`
}

export const shortcuts = new Shortcuts()

/** Installs the key listener of the page. */
export function useKeyboard(): void {
  useEffect(() => {
    document.addEventListener('keydown', shortcuts.onKeyDown)
    return () => document.removeEventListener('keydown', shortcuts.onKeyDown)
  }, [])
}

/** Registers shortcuts while the caller is mounted. `list` must be stable between renders: memoise it. */
export function useShortcuts(name: string, list: readonly Shortcut[]): void {
  useLayoutEffect(() => shortcuts.add({ name, shortcuts: list }), [name, list])
}

export function useShortcutGroups(): readonly Group[] {
  return useSyncExternalStore(shortcuts.subscribe, shortcuts.groups)
}

export function useSingleKeys(): boolean {
  return useSyncExternalStore(shortcuts.subscribe, shortcuts.areSingleOn)
}
