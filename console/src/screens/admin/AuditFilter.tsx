import { Search, X } from 'lucide-react'
import type { ChangeEvent, FormEvent } from 'react'
import { KINDS, type Kind } from '~/store/audit'
import { Button } from '~/ui/Button'
import { Field } from '~/ui/Field'
import css from './Admin.module.css'
import { type AuditSearch, OUTCOMES } from './parts'

interface Props {
  readonly search: AuditSearch
  readonly onChoose: (search: AuditSearch) => void
}

/** Filter of the audit log by user, action, sandbox and result. Text applies with Enter, a choice at once. */
export function AuditFilter({ search, onChoose }: Props) {
  const choose = (form: HTMLFormElement) => onChoose(chosen(new FormData(form)))
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    choose(event.currentTarget)
  }
  const atOnce = (event: ChangeEvent<HTMLSelectElement>) => {
    if (event.target.form) choose(event.target.form)
  }
  const isFiltered = [search.user, search.kind, search.sandbox, search.outcome].some((value) => value !== undefined)
  return (
    <search>
      <form className={css.filter} onSubmit={submit}>
        <Field label="User">
          {(control) => (
            <input {...control} name="user" defaultValue={search.user} placeholder="user id" spellCheck={false} />
          )}
        </Field>
        <Field label="Action">
          {(control) => (
            <select {...control} name="kind" value={search.kind ?? ''} onChange={atOnce}>
              <option value="">everything</option>
              {Object.entries(KINDS).map(([kind, words]) => (
                <option key={kind} value={kind}>
                  {words}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label="Sandbox">
          {(control) => (
            <input {...control} name="sandbox" defaultValue={search.sandbox} placeholder="sbx…" spellCheck={false} />
          )}
        </Field>
        <Field label="Outcome">
          {(control) => (
            <select {...control} name="outcome" value={search.outcome ?? ''} onChange={atOnce}>
              <option value="">any</option>
              <option value="done">done</option>
              <option value="refused">refused or failed</option>
            </select>
          )}
        </Field>
        <Button type="submit" icon={Search}>
          Find
        </Button>
        {isFiltered && (
          <Button icon={X} onClick={() => onChoose({})}>
            Clear
          </Button>
        )}
      </form>
    </search>
  )
}

function chosen(fields: FormData): AuditSearch {
  const text = (name: string) => String(fields.get(name) ?? '').trim() || undefined
  return {
    user: text('user'),
    sandbox: text('sandbox'),
    kind: text('kind') as Kind | undefined,
    outcome: OUTCOMES.find((outcome) => outcome === text('outcome')),
  }
}
