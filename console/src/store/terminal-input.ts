/** Text to paste into a terminal, and whether the user should confirm it. */
export interface Paste {
  /** Text without control sequences, which pages hide in copied text. */
  readonly text: string
  readonly lines: number
  /** Number of removed control characters. */
  readonly removed: number
  readonly needsLook: boolean
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g

export function inspectPaste(given: string): Paste {
  const unified = given.replaceAll('\r\n', '\n').replaceAll('\r', '\n')
  const text = unified.replace(CONTROL, '')
  const removed = unified.length - text.length
  const lines = text === '' ? 0 : text.replace(/\n$/, '').split('\n').length
  // A single line with a line end is executed at once, so it also needs a confirmation.
  return { text, lines, removed, needsLook: removed > 0 || text.includes('\n') }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal speaks in these
const REPLY = /^\u001b(?:\[[?>]?[\d;]*[cnRyt]|\[\?[\d;]*\$y|\[[IO]$|\]|P)/

/** Whether the input is a reply of the terminal to a program, not typed text. */
export function isReply(data: string): boolean {
  return REPLY.test(data)
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal speaks in these
const MOUSE = /^\u001b\[(?:<|M)/

/** Whether the input is a mouse report. */
export function isMouse(data: string): boolean {
  return MOUSE.test(data)
}

/** Splits a paste into messages, because a paste can exceed the size of a message. */
export function pieces(data: string, most: number): string[] {
  const found: string[] = []
  for (let at = 0; at < data.length; ) {
    let end = Math.min(data.length, at + most)
    const last = data.charCodeAt(end - 1)
    // Does not split a surrogate pair.
    if (end < data.length && last >= 0xd800 && last <= 0xdbff) end--
    found.push(data.slice(at, end))
    at = end
  }
  return found
}
