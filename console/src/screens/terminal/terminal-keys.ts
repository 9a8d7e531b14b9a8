const IS_MAC = navigator.platform.startsWith('Mac')

/** A key that is the terminal's and not the shell's. */
export type TerminalKey = 'leave' | 'search' | 'copy' | 'paste'

const WITH_SHIFT: Readonly<Record<string, TerminalKey>> = { c: 'copy', v: 'paste', f: 'search' }

/** What a press means to the terminal itself. Shift+Tab and Escape are not among them: programs use both. */
export function isKeyOf(event: KeyboardEvent): TerminalKey | undefined {
  if (event.key === 'F6') return 'leave'
  const isMeant = IS_MAC ? event.metaKey : event.ctrlKey && event.shiftKey && !event.altKey
  return isMeant ? WITH_SHIFT[event.key.toLowerCase()] : undefined
}

/** What people are told of these keys. */
export const KEYS = IS_MAC
  ? { copy: '⌘ C', paste: '⌘ V', search: '⌘ F' }
  : { copy: 'Ctrl Shift C', paste: 'Ctrl Shift V', search: 'Ctrl Shift F' }

/** Whether somebody stands on a tab with the keyboard. */
export function isOnTab(): boolean {
  return document.activeElement?.matches('[role="tab"]:focus-visible') === true
}

/** Goes into the terminal of a shell that is on the screen. */
export function enterTerminal(shell: string | undefined): void {
  document.querySelector<HTMLElement>(`#panel-${shell} textarea`)?.focus()
}
