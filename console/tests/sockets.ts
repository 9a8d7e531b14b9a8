import type { Socket } from '~/live/shell-link'
import type { ShellMessage } from '~/live/shell-messages'

/** Socket of a shell whose other end is the test. */
export class FakeSocket implements Socket {
  onopen: (() => void) | null = null
  onmessage: ((event: { data: unknown }) => void) | null = null
  onclose: ((event: { code: number; reason: string }) => void) | null = null
  readonly said: Record<string, unknown>[] = []
  isClosed = false

  send(text: string): void {
    this.said.push(JSON.parse(text))
  }

  close(): void {
    this.isClosed = true
  }

  tell(message: ShellMessage): void {
    this.onmessage?.({ data: JSON.stringify(message) })
  }

  /** Opens the socket and authenticates the client. */
  admit(role: 'typist' | 'watcher' = 'typist'): this {
    this.onopen?.()
    this.tell({ type: 'auth_ok', session_id: 'shl1', role, cols: 80, rows: 24 })
    return this
  }

  cut(code = 1006, reason = ''): void {
    this.onclose?.({ code, reason })
  }
}

/** All requested sockets, the newest last. */
export class FakeSockets {
  readonly all: FakeSocket[] = []

  readonly connect = (): FakeSocket => {
    const socket = new FakeSocket()
    this.all.push(socket)
    return socket
  }

  get last(): FakeSocket {
    const socket = this.all.at(-1)
    if (socket === undefined) throw new Error('nobody has connected')
    return socket
  }
}
