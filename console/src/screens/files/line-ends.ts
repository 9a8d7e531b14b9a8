import { EditorState, type Extension } from '@codemirror/state'

/**
 * Line separator of the editor, so that an unchanged text is saved byte for byte. A text with mixed separators keeps
 * its carriage returns as visible characters.
 */
export function lineEndsOf(text: string): Extension {
  if (!text.includes('\r')) return []
  const isAllOfOneKind = !/\r(?!\n)|(?<!\r)\n/.test(text)
  return EditorState.lineSeparator.of(isAllOfOneKind ? '\r\n' : '\n')
}
