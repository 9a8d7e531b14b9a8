const FOCUSABLE = 'a[href], button:not(:disabled), input:not(:disabled), select, textarea, [tabindex="0"]'

const PARTS = ['[data-pane]', 'main', 'main [role="tablist"]', 'main [role="tabpanel"]', 'main aside']

/** The parts of the page, in reading order: the rail, the bar, and those of the screen. */
function panes(): HTMLElement[] {
  const found = [...document.querySelectorAll<HTMLElement>(PARTS.join(', '))]
  const seen = found.filter((pane) => pane.checkVisibility())
  // A screen that has parts is these parts.
  return seen.filter((pane) => !(pane.matches('main') && seen.some((other) => other !== pane && pane.contains(other))))
}

/** Puts the focus into the next part of the page, or with -1 into the one before. */
export function movePane(by: 1 | -1): void {
  const all = panes()
  const now = all.findLastIndex((pane) => pane.contains(document.activeElement))
  const next = all.at(now < 0 ? (by > 0 ? 0 : -1) : (now + by + all.length) % all.length)
  if (next === undefined) return
  const first = [...next.querySelectorAll<HTMLElement>(FOCUSABLE)].find((one) => one.checkVisibility())
  if (first !== undefined && !next.matches('main')) {
    first.focus()
    return
  }
  // One without anything to act on is still there to be read.
  next.tabIndex = -1
  next.focus()
}
