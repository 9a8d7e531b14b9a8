import type { Page } from 'playwright-core'

/** Scrolls through the whole timeline as a person does, and returns the number and the words of each row, once each. */
export function readThrough(page: Page): Promise<{ seq: number; kind: string; text: string }[]> {
  return page.getByRole('region', { name: 'Timeline' }).evaluate(async (box) => {
    const frame = () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
    const rows = new Map<number, { seq: number; kind: string; text: string }>()
    // A hand is at it: the end is not followed any more.
    box.dispatchEvent(new WheelEvent('wheel', { deltaY: -1, bubbles: true }))
    box.scrollTop = 0
    for (let before = -1; before < box.scrollTop; ) {
      await frame()
      for (const row of box.querySelectorAll<HTMLElement>('article[data-seq]')) {
        const seq = Number(row.dataset.seq)
        rows.set(seq, { seq, kind: row.dataset.kind ?? '', text: row.textContent ?? '' })
      }
      before = box.scrollTop
      box.scrollTop += box.clientHeight / 2
      await frame()
    }
    return [...rows.values()].sort((a, b) => a.seq - b.seq)
  })
}

/** How many rows the timeline has, drawn or not. */
export async function length(page: Page): Promise<number> {
  const row = page.getByRole('region', { name: 'Timeline' }).locator('li').first()
  return Number(await row.getAttribute('aria-setsize'))
}
