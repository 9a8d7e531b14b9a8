import { Choose } from '~/ui/Choose'
import { Field } from '~/ui/Field'
import { plain } from '~/ui/format'
import type { RepositoryDraft, RepositoryField } from './repository-draft'
import { useCredentials } from './use-credentials'

const ACTIONS = [
  ['', 'Nothing'],
  ['push', 'Push the branch'],
  ['pull_request', 'Open a pull request'],
] as const

interface Props {
  readonly draft: RepositoryDraft
  readonly problems: Partial<Record<RepositoryField, string>>
  /** The text of the choice of no credential. */
  readonly without: string
  readonly onChange: (part: Partial<RepositoryDraft>) => void
}

/** Whether the form can offer a repository that the server clones. */
export function useOffersClone({ credential }: RepositoryDraft): boolean {
  return useCredentials().length > 0 || credential !== ''
}

/** The credential for a repository, and what the server does with the work. Nothing without a stored credential. */
export function DeliveryFields({ draft, problems, without, onChange }: Props) {
  const credentials = useCredentials()
  if (!useOffersClone(draft)) return null
  return (
    <>
      <Choose
        name="credential"
        label="Credential"
        value={draft.credential}
        options={[
          ['', without],
          ...credentials.map(({ name, host }) => [name, `${plain(name)} (${plain(host)})`] as const),
        ]}
        problem={problems.credential}
        onChange={(credential) => onChange({ credential })}
      />
      {draft.credential !== '' && (
        <>
          <Field name="ticket" label="Ticket (optional)" problem={problems.ticket}>
            {(control) => (
              <input
                {...control}
                value={draft.ticket}
                placeholder="TICKET-456"
                autoComplete="off"
                onChange={({ target }) => onChange({ ticket: target.value })}
              />
            )}
          </Field>
          <Choose
            name="onSuccess"
            label="On success"
            value={draft.onSuccess}
            options={ACTIONS}
            problem={problems.onSuccess}
            onChange={(onSuccess) => onChange({ onSuccess })}
          />
        </>
      )}
    </>
  )
}
