/** One event of a `text/event-stream`. */
export interface Message {
  readonly event: string
  readonly data: string
  readonly id: string | undefined
}

/** Parser of server-sent events in chunks of any size. */
export class MessageReader {
  #rest = ''

  /** Returns the events that this chunk completes. Skips comments: the watchdog counts bytes. */
  read(piece: string): Message[] {
    const blocks = (this.#rest + piece).replaceAll('\r\n', '\n').split('\n\n')
    this.#rest = blocks.pop() ?? ''
    return blocks.map(parse).filter((message) => message !== undefined)
  }
}

function parse(block: string): Message | undefined {
  let event = 'message'
  let id: string | undefined
  const data: string[] = []
  for (const line of block.split('\n')) {
    const colon = line.indexOf(':')
    if (colon <= 0) continue
    const value = line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    const name = line.slice(0, colon)
    if (name === 'data') data.push(value)
    else if (name === 'event') event = value
    else if (name === 'id') id = value
  }
  return data.length > 0 ? { event, data: data.join('\n'), id } : undefined
}
