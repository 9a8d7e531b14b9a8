import type { Content } from '~/api/files'
import { LARGEST_SHOWN } from '~/api/files'
import { nameOf } from './file-tree'

const IMAGES: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  svg: 'image/svg+xml',
}

/** Shown part of a file that is too large. */
const HEAD = 256 * 1024
const HEX = 4 * 1024
const HEX_LINE = 16

/** Display form of a file. */
export type Shown =
  | { readonly kind: 'text'; readonly text: string; readonly isWhole: boolean }
  | { readonly kind: 'image'; readonly mediaType: string; readonly text: string | undefined }
  | { readonly kind: 'binary'; readonly lines: readonly string[] }

/** Image types by file extension; the content is not inspected. */
export function imageType(path: string): string | undefined {
  const [, end] = /\.([a-z]+)$/i.exec(nameOf(path)) ?? []
  return IMAGES[end?.toLowerCase() ?? '']
}

export function show(path: string, content: Content): Shown {
  const text = textOf(content)
  const mediaType = imageType(path)
  if (mediaType !== undefined) return { kind: 'image', mediaType, text }
  if (text === undefined) return { kind: 'binary', lines: hex(content.bytes.subarray(0, HEX)) }
  const isWhole = content.size <= LARGEST_SHOWN && content.bytes.length === content.size
  return { kind: 'text', text: isWhole ? text : head(text), isWhole }
}

/** Text of a file, or undefined for a binary file. A truncated last character is ignored. */
function textOf({ bytes, size }: Content): string | undefined {
  if (bytes.includes(0)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: bytes.length < size })
  } catch {
    return undefined
  }
}

function head(text: string): string {
  const cut = text.slice(0, HEAD)
  const end = cut.lastIndexOf('\n')
  return end > 0 ? cut.slice(0, end + 1) : cut
}

/** Hex dump: offset, sixteen bytes, and their characters. */
export function hex(bytes: Uint8Array): readonly string[] {
  const lines: string[] = []
  for (let at = 0; at < bytes.length; at += HEX_LINE) {
    const piece = [...bytes.subarray(at, at + HEX_LINE)]
    const digits = piece.map((byte) => byte.toString(16).padStart(2, '0')).join(' ')
    const letters = piece.map((byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : '.')).join('')
    lines.push(`${at.toString(16).padStart(8, '0')}  ${digits.padEnd(HEX_LINE * 3 - 1)}  ${letters}`)
  }
  return lines
}
