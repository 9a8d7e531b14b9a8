import type { Page } from 'playwright-core'

/** Scrolls through the whole timeline, and returns number and text of each row, once each. */
export function readThrough(page: Page): Promise<{ seq: number; kind: string; text: string }[]> {
  return page.getByRole('region', { name: 'Timeline' }).evaluate(async (box) => {
    const frame = () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
    const rows = new Map<number, { seq: number; kind: string; text: string }>()
    // The user scrolls, so the end is no longer followed.
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

/** Number of rows of the timeline, rendered or not. */
export async function length(page: Page): Promise<number> {
  const row = page.getByRole('region', { name: 'Timeline' }).locator('li').first()
  return Number(await row.getAttribute('aria-setsize'))
}
