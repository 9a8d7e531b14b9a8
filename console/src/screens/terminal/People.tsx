import { Eye, Keyboard } from 'lucide-react'
import type { Participant } from '~/live/shell-messages'
import { clock, plain } from '~/ui/format'
import css from './People.module.css'

const MOST = 4

interface Person {
  readonly name: string
  readonly types: boolean
  readonly times: number
  readonly since: string
}

/** Participants of a shell, and whether they type or watch. */
export function People({ people, me }: { people: readonly Participant[]; me: string }) {
  const all = together(people)
  if (all.length === 0) return null
  return (
    <ul className={css.people} aria-label="Users in this shell">
      {all.slice(0, MOST).map((person) => (
        <li key={person.name} className={css.person} title={words(person, me)}>
          {person.types ? <Keyboard size={14} aria-hidden /> : <Eye size={14} aria-hidden />}
          <span className={css.name}>{person.name === me ? 'you' : plain(person.name)}</span>
          {person.times > 1 && <span>×{person.times}</span>}
          <span className="visually-hidden">{person.types ? ' types' : ' watches'}</span>
        </li>
      ))}
      {all.length > MOST && (
        <li
          className={css.person}
          title={all
            .slice(MOST)
            .map((person) => words(person, me))
            .join('\n')}
        >
          +{all.length - MOST}
        </li>
      )}
    </ul>
  )
}

/** A user with two windows counts once. */
function together(people: readonly Participant[]): readonly Person[] {
  const found = new Map<string, Person>()
  for (const { user_id: name, role, since } of people) {
    const known = found.get(name)
    found.set(name, {
      name,
      since: known?.since ?? since,
      types: role === 'typist' || known?.types === true,
      times: (known?.times ?? 0) + 1,
    })
  }
  return [...found.values()]
}

function words(person: Person, me: string): string {
  const subject = person.name === me ? 'You' : plain(person.name)
  const verb = person.name === me ? (person.types ? 'type' : 'watch') : person.types ? 'types' : 'watches'
  const windows = person.times > 1 ? `, in ${person.times} windows` : ''
  return `${subject} ${verb} here since ${clock(person.since)}${windows}`
}
