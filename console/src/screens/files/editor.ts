import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import {
  bracketMatching,
  HighlightStyle,
  indentOnInput,
  LanguageDescription,
  syntaxHighlighting,
} from '@codemirror/language'
import { languages } from '@codemirror/language-data'
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search'
import { type Extension, StateEffect } from '@codemirror/state'
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from '@codemirror/view'
import { tags } from '@lezer/highlight'

/** The colours of the page: a shadow root inherits custom properties, light and dark. */
const look = EditorView.theme({
  '&': { height: '100%', color: 'var(--text)', backgroundColor: 'var(--surface)', fontSize: '0.8125rem' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.55', overflow: 'auto' },
  '.cm-content': { caretColor: 'var(--text)', paddingBottom: '30px' },
  '.cm-cursor': { borderLeftColor: 'var(--text)', borderLeftWidth: '2px' },
  '.cm-gutters': { color: 'var(--muted)', backgroundColor: 'var(--surface)', borderRight: '1px solid var(--line)' },
  '.cm-lineNumbers .cm-gutterElement': { padding: '0 10px 0 12px', minWidth: '36px' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'color-mix(in srgb, var(--hover) 70%, transparent)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    background: 'light-dark(#bfe3d0, #2c5a45)',
  },
  '.cm-selectionMatch': { backgroundColor: 'var(--warn-ground)' },
  '.cm-matchingBracket, &.cm-focused .cm-matchingBracket': {
    backgroundColor: 'var(--chosen)',
    outline: '1px solid var(--line-strong)',
  },
  '.cm-searchMatch': { backgroundColor: 'var(--warn-ground)', outline: '1px solid var(--warn)' },
  '.cm-searchMatch-selected': { backgroundColor: 'var(--chosen)', outline: '2px solid var(--accent)' },
  '.cm-specialChar': { color: 'var(--bad)' },
  '.cm-panels': { color: 'var(--text)', backgroundColor: 'var(--raised)', fontFamily: 'var(--sans)' },
  '.cm-panels-top': { borderBottom: '1px solid var(--line)' },
  '.cm-panel.cm-search': {
    display: 'flex',
    flexWrap: 'wrap',
    alignItems: 'center',
    gap: '4px 6px',
    padding: '8px 36px 8px 12px',
  },
  '.cm-panel.cm-search br': { display: 'none' },
  '.cm-panel.cm-search label': { display: 'inline-flex', alignItems: 'center', gap: '4px', fontSize: 'var(--small)' },
  '.cm-textfield': {
    minHeight: '28px',
    margin: '0',
    padding: '0 8px',
    border: '1px solid var(--line-strong)',
    borderRadius: 'var(--round-small)',
    color: 'var(--text)',
    backgroundColor: 'var(--ground)',
    fontFamily: 'inherit',
    fontSize: 'var(--small)',
  },
  '.cm-textfield::placeholder': { color: 'var(--muted)', opacity: '1' },
  '.cm-button': {
    minHeight: '28px',
    margin: '0',
    padding: '0 10px',
    border: '1px solid var(--line-strong)',
    borderRadius: 'var(--round-small)',
    color: 'var(--text)',
    background: 'var(--surface)',
    fontFamily: 'inherit',
    fontSize: 'var(--small)',
  },
  '.cm-panel.cm-search [name=close]': {
    top: '6px',
    right: '8px',
    minWidth: '28px',
    minHeight: '28px',
    color: 'var(--text)',
    cursor: 'pointer',
  },
  '.cm-changedLine': { backgroundColor: 'var(--ok-ground) !important' },
  '.cm-deletedChunk': { backgroundColor: 'var(--bad-ground)' },
  '&.cm-merge-a .cm-changedLine': { backgroundColor: 'var(--bad-ground) !important' },
  '&.cm-merge-a .cm-changedText, .cm-deletedChunk .cm-deletedText': {
    background: 'color-mix(in srgb, var(--bad) 28%, transparent)',
  },
  '&.cm-merge-b .cm-changedText, .cm-changedText': { background: 'color-mix(in srgb, var(--ok) 28%, transparent)' },
  '.cm-collapsedLines': { color: 'var(--muted)', background: 'var(--sunken)', cursor: 'pointer' },
})

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier, tags.tagName, tags.controlKeyword], color: 'var(--mind)' },
  { tag: [tags.string, tags.special(tags.string), tags.regexp, tags.inserted], color: 'var(--ok)' },
  { tag: [tags.number, tags.bool, tags.null, tags.atom, tags.escape], color: 'var(--warn)' },
  { tag: [tags.comment, tags.meta, tags.processingInstruction], color: 'var(--muted)', fontStyle: 'italic' },
  {
    tag: [tags.function(tags.variableName), tags.function(tags.propertyName), tags.labelName, tags.heading],
    color: 'var(--info)',
  },
  {
    tag: [tags.typeName, tags.className, tags.namespace, tags.attributeName, tags.definition(tags.typeName)],
    color: 'var(--info)',
  },
  { tag: [tags.deleted, tags.invalid], color: 'var(--bad)' },
  { tag: [tags.heading, tags.strong], fontWeight: '650' },
  { tag: tags.emphasis, fontStyle: 'italic' },
  { tag: [tags.link, tags.url], color: 'var(--info)', textDecoration: 'underline' },
])

/** Extensions of every editor. */
export const basics: Extension = [
  look,
  syntaxHighlighting(colours),
  lineNumbers(),
  highlightSpecialChars(),
  drawSelection(),
  bracketMatching(),
  highlightSelectionMatches(),
  search({ top: true }),
]

/**
 * Replaces a selection itself. The browser would copy the colours of the old text as an inline style, which the content
 * security policy forbids.
 */
const overSelection = EditorView.domEventHandlers({
  beforeinput: (event, view) => {
    const isPlain = event.inputType === 'insertText' && event.data !== null && !view.composing
    if (!isPlain || view.state.readOnly || view.state.selection.main.empty) return false
    view.dispatch(view.state.replaceSelection(event.data), { userEvent: 'input.type', scrollIntoView: true })
    return true
  },
})

/** Extensions for editing. Tab leaves the editor. */
export const typing: Extension = [
  overSelection,
  history(),
  indentOnInput(),
  highlightActiveLine(),
  keymap.of([...defaultKeymap, ...historyKeymap]),
]

export const finding: Extension = keymap.of(searchKeymap)

/** Accessible name of the editor. */
export function named(label: string): Extension {
  return EditorView.contentAttributes.of({ 'aria-label': label })
}

/** Loads the language of a file name, and highlights with it. */
export async function highlight(view: EditorView, name: string): Promise<void> {
  const language = LanguageDescription.matchFilename(languages, name)
  if (language === null) return
  const support = await language.load().catch(() => undefined)
  if (support !== undefined && view.dom.isConnected) view.dispatch({ effects: StateEffect.appendConfig.of(support) })
}

/** Shadow root of the editor: the content security policy forbids style elements in the page. */
export function shadowOf(host: HTMLElement): ShadowRoot {
  return host.shadowRoot ?? host.attachShadow({ mode: 'open' })
}
