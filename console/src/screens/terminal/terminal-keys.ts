const IS_MAC = navigator.platform.startsWith('Mac')

/** Shortcut of the terminal that the shell does not receive. */
export type TerminalKey = 'leave' | 'search' | 'copy' | 'paste'

const WITH_SHIFT: Readonly<Record<string, TerminalKey>> = { c: 'copy', v: 'paste', f: 'search' }

/** Maps a key press to an action of the terminal. Shift+Tab and Escape are not mapped, because programs use both. */
export function isKeyOf(event: KeyboardEvent): TerminalKey | undefined {
  if (event.key === 'F6') return 'leave'
  const isMeant = IS_MAC ? event.metaKey : event.ctrlKey && event.shiftKey && !event.altKey
  return isMeant ? WITH_SHIFT[event.key.toLowerCase()] : undefined
}

/** Descriptions of these shortcuts. */
export const KEYS = IS_MAC
  ? { copy: '⌘ C', paste: '⌘ V', search: '⌘ F' }
  : { copy: 'Ctrl Shift C', paste: 'Ctrl Shift V', search: 'Ctrl Shift F' }

/** Whether a tab has the keyboard focus. */
export function isOnTab(): boolean {
  return document.activeElement?.matches('[role="tab"]:focus-visible') === true
}

/** Moves the focus into the terminal of a visible shell. */
export function enterTerminal(shell: string | undefined): void {
  document.querySelector<HTMLElement>(`#panel-${shell} textarea`)?.focus()
}
