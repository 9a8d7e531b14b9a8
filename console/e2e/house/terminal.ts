import type { Page } from 'playwright-core'
import { expect } from 'vitest'

/** A terminal on somebody's page. What it draws is hidden from assistive technology, so it is read as drawn. */
export class TerminalOnPage {
  constructor(readonly page: Page) {}

  /** The lines in sight. */
  async text(): Promise<string> {
    const rows = this.page.locator('.xterm-rows:visible > div')
    return (await rows.allTextContents()).join('\n')
  }

  async shows(words: string): Promise<void> {
    await expect.poll(() => this.text()).toContain(words)
  }

  /** Goes into it and types. */
  async type(keys: string): Promise<void> {
    await this.page.getByRole('textbox', { name: /^Terminal: / }).focus()
    await this.page.keyboard.type(keys)
  }

  /** Types a line and waits for what it says; `$(( ))` tells an answer from its question. */
  async run(line: string, answer: string): Promise<void> {
    await this.type(`${line}\n`)
    await this.shows(answer)
  }

  /** Pastes, as if from another window. */
  async paste(text: string): Promise<void> {
    await this.page.getByRole('textbox', { name: /^Terminal: / }).evaluate((box, pasted) => {
      const clipboardData = new DataTransfer()
      clipboardData.setData('text/plain', pasted)
      box.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }))
    }, text)
  }
}
