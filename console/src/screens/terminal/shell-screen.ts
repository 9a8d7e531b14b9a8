import { FitAddon } from '@xterm/addon-fit'
import { type ISearchOptions, SearchAddon } from '@xterm/addon-search'
import { Unicode11Addon } from '@xterm/addon-unicode11'
import { WebLinksAddon } from '@xterm/addon-web-links'
import { type ITheme, Terminal } from '@xterm/xterm'
import type { Size } from '~/live/shell-messages'
import type { Screen } from '~/store/shell-intake'
import { isReply } from '~/store/terminal-input'
import type { TerminalSettings } from '~/store/terminal-settings'
import { copy } from '~/ui/copy'
import { AdoptedStyles, setSpanStylesByScript } from './adopted-styles'
import { isKeyOf } from './terminal-keys'
import '@xterm/xterm/css/xterm.css'

const SETTLE_MS = 100
const FEWEST_COLUMNS = 20
const FEWEST_ROWS = 5
const SCROLLBACK = 10_000
const RESET = '\u001bc'
/** Minimum font size. */
const SMALLEST_PX = 8
/** Minimum contrast of text, also with colours of a program. */
const CONTRAST = 4.5

export interface ShellScreenParts {
  readonly onType: (data: string) => void
  readonly onReply: (data: string) => void
  readonly onPaste: (text: string) => void
  /** Size of the terminal that fits the window. */
  readonly onRoom: (room: Size) => void
  readonly onLeave: () => void
  readonly onSearch: () => void
  readonly onResults: (index: number, count: number) => void
  /** The link below the pointer. */
  readonly onLink: (address: string | undefined) => void
  /** Whether the user scrolled up. */
  readonly onScroll: (isBack: boolean) => void
}

setSpanStylesByScript()

/** Terminal in an element of the page. It has no connection. */
export class ShellScreen implements Screen {
  readonly #host: HTMLElement
  readonly #parts: ShellScreenParts
  readonly #terminal: Terminal
  readonly #fit = new FitAddon()
  readonly #search = new SearchAddon()
  readonly #styles = new AdoptedStyles()
  readonly #observer: ResizeObserver
  #settling: ReturnType<typeof setTimeout> | undefined
  /** Font size of the user. It is reduced while a larger terminal must fit. */
  #fontSize: number
  #room: Size | undefined

  constructor(host: HTMLElement, look: { colours: ITheme; settings: TerminalSettings }, parts: ShellScreenParts) {
    this.#host = host
    this.#parts = parts
    this.#fontSize = look.settings.fontSize
    this.#terminal = new Terminal({
      allowProposedApi: true,
      cursorBlink: false,
      fontFamily: getComputedStyle(host).fontFamily,
      fontSize: look.settings.fontSize,
      screenReaderMode: look.settings.isForReaders,
      lineHeight: 1.15,
      scrollback: SCROLLBACK,
      minimumContrastRatio: CONTRAST,
      theme: look.colours,
      linkHandler: { activate: (_, address) => visit(address), ...this.#hovering() },
    })
    this.#load()
    this.#styles.during(() => this.#terminal.open(host))
    this.#listen()
    this.#observer = new ResizeObserver(() => this.#settle())
    this.#observer.observe(host)
  }

  write(data: string, taken: () => void): void {
    this.#terminal.write(data, taken)
  }

  reset(): void {
    // Written into the stream, so that it is in order with pending output.
    this.#terminal.write(RESET)
  }

  /** Sets the size regardless of the window, because all participants see the same lines. */
  setSize({ cols, rows }: Size): void {
    if (this.#terminal.cols !== cols || this.#terminal.rows !== rows) this.#terminal.resize(cols, rows)
    this.#squeeze()
  }

  setColours(colours: ITheme): void {
    this.#terminal.options.theme = colours
  }

  setSettings(settings: TerminalSettings): void {
    this.#fontSize = settings.fontSize
    this.#terminal.options.fontSize = settings.fontSize
    this.#terminal.options.screenReaderMode = settings.isForReaders
    this.measure()
  }

  /** Reports the size that fits, unless the element is hidden. */
  measure(): void {
    const room = this.#fit.proposeDimensions()
    if (room === undefined || !Number.isFinite(room.cols) || !Number.isFinite(room.rows)) return
    const share = (this.#terminal.options.fontSize ?? this.#fontSize) / this.#fontSize
    this.#room = {
      cols: Math.max(FEWEST_COLUMNS, Math.floor(room.cols * share)),
      rows: Math.max(FEWEST_ROWS, Math.floor(room.rows * share)),
    }
    this.#squeeze()
    this.#parts.onRoom(this.#room)
  }

  describe(labels: { label: string; describedBy: string }): void {
    this.#terminal.textarea?.setAttribute('aria-label', labels.label)
    this.#terminal.textarea?.setAttribute('aria-describedby', labels.describedBy)
  }

  focus(): void {
    this.#terminal.focus()
  }

  /** Pastes with bracketed paste, if the program supports it. */
  paste(text: string): void {
    this.#terminal.paste(text)
  }

  toEnd(): void {
    this.#terminal.scrollToBottom()
  }

  find(words: string, direction: 'next' | 'previous', options: ISearchOptions): void {
    if (direction === 'next') this.#search.findNext(words, options)
    else this.#search.findPrevious(words, options)
  }

  stopSearch(): void {
    this.#search.clearDecorations()
    this.#terminal.clearSelection()
  }

  dispose(): void {
    clearTimeout(this.#settling)
    this.#observer.disconnect()
    this.#terminal.dispose()
    this.#styles.remove()
  }

  #load(): void {
    this.#terminal.loadAddon(this.#fit)
    this.#terminal.loadAddon(this.#search)
    this.#terminal.loadAddon(new WebLinksAddon((_, address) => visit(address), this.#hovering()))
    this.#terminal.loadAddon(new Unicode11Addon())
    this.#terminal.unicode.activeVersion = '11'
  }

  #hovering() {
    return {
      hover: (_: MouseEvent, address: string) => this.#parts.onLink(address),
      leave: () => this.#parts.onLink(undefined),
    }
  }

  #listen(): void {
    const { onType, onReply, onPaste, onResults } = this.#parts
    this.#terminal.onData((data) => (isReply(data) ? onReply(data) : onType(data)))
    this.#terminal.attachCustomKeyEventHandler((event) => this.#isForShell(event))
    this.#search.onDidChangeResults(({ resultIndex, resultCount }) => onResults(resultIndex, resultCount))
    this.#terminal.onScroll(() => this.#scrolled())
    this.#host.addEventListener('wheel', () => requestAnimationFrame(() => this.#scrolled()), { passive: true })
    // The terminal receives every key; shortcuts of the page are off while it has the focus.
    this.#host.addEventListener('keydown', (event) => event.stopPropagation())
    this.#host.addEventListener('paste', (event) => takePaste(event, onPaste), true)
  }

  #isForShell(event: KeyboardEvent): boolean {
    if (event.type !== 'keydown') return true
    const key = isKeyOf(event)
    if (key === undefined) return true
    if (key === 'paste') return false // The browser dispatches an event for it.
    event.preventDefault()
    if (key === 'leave') this.#parts.onLeave()
    else if (key === 'search') this.#parts.onSearch()
    else if (this.#terminal.hasSelection()) void copy(this.#terminal.getSelection()).catch(() => undefined)
    return false
  }

  /** Reduces the font, so that a terminal with the size of another participant's window fits. */
  #squeeze(): void {
    if (this.#room === undefined) return
    const share = Math.min(1, this.#room.cols / this.#terminal.cols, this.#room.rows / this.#terminal.rows)
    const size = share === 1 ? this.#fontSize : Math.max(SMALLEST_PX, Math.floor(this.#fontSize * share * 10) / 10)
    if (this.#terminal.options.fontSize !== size) this.#terminal.options.fontSize = size
  }

  #scrolled(): void {
    const { viewportY, baseY } = this.#terminal.buffer.active
    this.#parts.onScroll(viewportY < baseY)
  }

  #settle(): void {
    clearTimeout(this.#settling)
    this.#settling = setTimeout(() => this.measure(), SETTLE_MS)
  }
}

function takePaste(event: ClipboardEvent, onPaste: (text: string) => void): void {
  event.preventDefault()
  event.stopPropagation()
  onPaste(event.clipboardData?.getData('text/plain') ?? '')
}

/** Opens a web address in a new tab. Other schemes are refused, because the output of programs is untrusted. */
function visit(address: string): void {
  if (/^https?:\/\//i.test(address)) window.open(address, '_blank', 'noopener,noreferrer')
}
