const FOCUSABLE = 'a[href], button:not(:disabled), input:not(:disabled), select, textarea, [tabindex="0"]'

const PARTS = ['[data-pane]', 'main', 'main [role="tablist"]', 'main [role="tabpanel"]', 'main aside']

/** Panes of the page in reading order: navigation, top bar, and the panes of the screen. */
function panes(): HTMLElement[] {
  const found = [...document.querySelectorAll<HTMLElement>(PARTS.join(', '))]
  const seen = found.filter((pane) => pane.checkVisibility())
  // A screen with panes of its own counts as these panes.
  return seen.filter((pane) => !(pane.matches('main') && seen.some((other) => other !== pane && pane.contains(other))))
}

/** Moves the focus to the next pane, or with -1 to the previous one. */
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
  // A pane without a control can still get the focus.
  next.tabIndex = -1
  next.focus()
}
