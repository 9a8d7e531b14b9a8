import type { Page } from 'playwright-core'
import { expect } from 'vitest'

/** Terminal on a page. Its rows are hidden from assistive technology, so the test reads the rendered text. */
export class TerminalOnPage {
  constructor(readonly page: Page) {}

  /** The visible lines. */
  async text(): Promise<string> {
    const rows = this.page.locator('.xterm-rows:visible > div')
    return (await rows.allTextContents()).join('\n')
  }

  async shows(words: string): Promise<void> {
    await expect.poll(() => this.text()).toContain(words)
  }

  /** Focuses the terminal and types. */
  async type(keys: string): Promise<void> {
    await this.page.getByRole('textbox', { name: /^Terminal: / }).focus()
    await this.page.keyboard.type(keys)
  }

  /** Types a command and waits for its output; `$(( ))` makes the output differ from the command. */
  async run(line: string, answer: string): Promise<void> {
    await this.type(`${line}\n`)
    await this.shows(answer)
  }

  /** Pastes text. */
  async paste(text: string): Promise<void> {
    await this.page.getByRole('textbox', { name: /^Terminal: / }).evaluate((box, pasted) => {
      const clipboardData = new DataTransfer()
      clipboardData.setData('text/plain', pasted)
      box.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }))
    }, text)
  }
}
