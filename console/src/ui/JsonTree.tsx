import { ChevronRight } from 'lucide-react'
import { useState } from 'react'
import { count, plain } from './format'
import css from './JsonTree.module.css'

/** Maximum numbers of entries and characters shown at first, because agents may send large values. */
const MOST_PARTS = 100
const MOST_CHARACTERS = 2_000

/** JSON as a tree. Content is rendered when it is opened; deceptive characters are made visible. */
export function JsonTree({ value, depth = 1 }: { value: unknown; depth?: number }) {
  return (
    <div className={css.tree}>
      <Node value={value} openTo={depth} />
    </div>
  )
}

interface NodeProps {
  readonly name?: string
  readonly value: unknown
  /** Levels that are expanded at first. */
  readonly openTo: number
}

function Node({ name, value, openTo }: NodeProps) {
  if (typeof value !== 'object' || value === null) {
    return (
      <div className={css.leaf}>
        <Name of={name} />
        <Leaf value={value} />
      </div>
    )
  }
  return <Branch name={name} value={value} openTo={openTo} />
}

function Branch({ name, value, openTo }: NodeProps & { value: object }) {
  const [isOpen, setOpen] = useState(openTo > 0)
  const [most, setMost] = useState(MOST_PARTS)
  const parts = Object.entries(value)
  const [before, behind] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  return (
    <div>
      <button type="button" className={css.branch} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <ChevronRight size={13} className={css.chevron} aria-hidden />
        <Name of={name} />
        <span className={css.brackets}>
          {before}
          {isOpen ? '' : `${count(parts.length)}${behind}`}
        </span>
      </button>
      {isOpen && (
        <div className={css.inside}>
          {parts.slice(0, most).map(([key, part]) => (
            <Node key={key} name={key} value={part} openTo={openTo - 1} />
          ))}
          {parts.length > most && (
            <button type="button" className={css.more} onClick={() => setMost(most + MOST_PARTS)}>
              {count(parts.length - most)} more
            </button>
          )}
        </div>
      )}
      {isOpen && <span className={css.brackets}>{behind}</span>}
    </div>
  )
}

function Name({ of }: { of: string | undefined }) {
  return of === undefined ? null : <span className={css.name}>{plain(of)}: </span>
}

function Leaf({ value }: { value: unknown }) {
  const [isWhole, setWhole] = useState(false)
  if (typeof value !== 'string') return <span className={css[typeof value]}>{String(value)}</span>
  const isLong = value.length > MOST_CHARACTERS
  return (
    <>
      <span className={css.string}>
        &quot;{plain(isLong && !isWhole ? value.slice(0, MOST_CHARACTERS) : value)}&quot;
      </span>
      {isLong && !isWhole && (
        <button type="button" className={css.more} onClick={() => setWhole(true)}>
          all {count(value.length)} characters
        </button>
      )}
    </>
  )
}
