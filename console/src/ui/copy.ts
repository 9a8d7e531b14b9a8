/** Copies a text to the clipboard, also over plain HTTP, where browsers have no clipboard API. */
export async function copy(words: string): Promise<void> {
  if (navigator.clipboard !== undefined) {
    await navigator.clipboard.writeText(words)
    return
  }
  const box = document.createElement('textarea')
  box.value = words
  box.readOnly = true
  box.className = 'visually-hidden'
  const before = document.activeElement
  document.body.append(box)
  box.select()
  const isCopied = document.execCommand('copy')
  box.remove()
  if (before instanceof HTMLElement) before.focus()
  if (!isCopied) throw new Error('The browser blocked the copy. Select the text instead.')
}
