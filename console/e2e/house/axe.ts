import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { AxeResults, RunOptions } from 'axe-core'
import type { Page } from 'playwright-core'

const SOURCE = createRequire(import.meta.url).resolve('axe-core/axe.min.js')
const RULES: RunOptions = {
  runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'],
  resultTypes: ['violations'],
}

/**
 * What the page breaks of WCAG 2.2, levels A and AA, a line each: the rule, and where. The checker is put in through
 * the debugger, which the page's content security policy does not concern.
 */
export async function axe(page: Page): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(await readFile(SOURCE, 'utf8'))
  await settled(page)
  const results: AxeResults = await page.evaluate((rules) => {
    return (window as unknown as { axe: typeof import('axe-core') }).axe.run(document, rules)
  }, RULES)
  return results.violations.flatMap(({ id, help, nodes }) =>
    nodes.map((node) => `${id}: ${help}: ${node.target.join(' ')} ${node.failureSummary?.replaceAll(/\s+/g, ' ')}`),
  )
}

/** Waits until nothing changes any more of itself: colours on their way to others are neither. From now on they jump. */
export async function settled(page: Page): Promise<void> {
  await page.emulateMedia({ reducedMotion: 'reduce' })
  await page.evaluate(() =>
    Promise.allSettled(
      document.getAnimations().flatMap((each) => (each instanceof CSSTransition ? each.finished : [])),
    ),
  )
}
