/** What somebody wants to paste into a terminal, and whether they should look at it first. */
export interface Paste {
  /** Without what a terminal would take for a command: pages hide such things in what they let one copy. */
  readonly text: string
  readonly lines: number
  /** How many control characters were taken out. */
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
  // A line with its end is run at once, so that one is worth a look too.
  return { text, lines, removed, needsLook: removed > 0 || text.includes('\n') }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal speaks in these
const REPLY = /^\u001b(?:\[[?>]?[\d;]*[cnRyt]|\[\?[\d;]*\$y|\[[IO]$|\]|P)/

/** Whether this is what a terminal answers to a program, and not what somebody typed. */
export function isReply(data: string): boolean {
  return REPLY.test(data)
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal speaks in these
const MOUSE = /^\u001b\[(?:<|M)/

/** Whether this is a move or a click of the mouse, as programs are told of it. */
export function isMouse(data: string): boolean {
  return MOUSE.test(data)
}

/** A message may be large, but not as large as what somebody can paste. */
export function pieces(data: string, most: number): string[] {
  const found: string[] = []
  for (let at = 0; at < data.length; ) {
    let end = Math.min(data.length, at + most)
    const last = data.charCodeAt(end - 1)
    // No character is cut in two.
    if (end < data.length && last >= 0xd800 && last <= 0xdbff) end--
    found.push(data.slice(at, end))
    at = end
  }
  return found
}
