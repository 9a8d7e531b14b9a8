import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { KeyRound, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { api, body } from '~/api/client'
import { sentence } from '~/api/problem'
import type { components } from '~/api/schema'
import { Button } from '~/ui/Button'
import { Confirm } from '~/ui/Confirm'
import form from '~/ui/form.module.css'
import { moment, plain } from '~/ui/format'
import { useNow } from '~/ui/now'
import { Section } from '~/ui/Section'
import { Failure, Skeleton } from '~/ui/States'
import { When } from '~/ui/When'
import css from './Admin.module.css'
import { IssueDialog } from './IssueDialog'

type Key = components['schemas']['Keys']['keys'][number]

const ABOUT =
  'A key gives one user access to the API and the console. The server shows a key once and stores its hash. The admin key is in the home of the server.'

/** Keys of users for sign-in and the API. */
export function KeysPart() {
  const { data, error, refetch } = useQuery({
    queryKey: ['admin', 'keys'],
    queryFn: async () => (await body(api.GET('/admin/keys'))).keys,
  })
  const [open, setOpen] = useState<Key | 'new'>()
  const revoke = useRevoke()
  const close = () => setOpen(undefined)
  const issue = (
    <Button look="primary" icon={KeyRound} onClick={() => setOpen('new')}>
      Issue an API key
    </Button>
  )
  return (
    <Section title="API keys" about={ABOUT} actions={issue}>
      {error && <Failure error={error} onRetry={() => void refetch()} />}
      {data === undefined && !error && <Skeleton rows={4} label="Loading the keys" />}
      {data?.length === 0 && <p className={css.quiet}>No user has a key yet.</p>}
      {revoke.error && (
        <p role="alert" className={form.problem}>
          {sentence(revoke.error)}
        </p>
      )}
      <ul className={css.list}>
        {data?.map((key) => (
          <KeyLine key={key.key_id} of={key} onRevoke={() => setOpen(key)} />
        ))}
      </ul>
      {open === 'new' && <IssueDialog onClose={close} />}
      {open && open !== 'new' && (
        <Confirm
          title={`Revoke a key of ${plain(open.user_id)}?`}
          keep="Keep it"
          confirm="Revoke"
          onClose={close}
          onConfirm={() => revoke.mutate(open.key_id)}
        >
          The server revokes <code>{open.key_id}</code>, ends its sessions and closes its streams and terminals. The
          sandboxes of the user stay. You cannot undo this, but you can issue another key.
        </Confirm>
      )}
    </Section>
  )
}

function KeyLine({ of: key, onRevoke }: { of: Key; onRevoke: () => void }) {
  return (
    <li className={css.line}>
      <span className={css.holder}>
        <strong className={css.who}>{plain(key.user_id)}</strong>
        {key.label && <span className={css.times}>{plain(key.label)}</span>}
      </span>
      <span className={css.actions}>
        <Button look="quiet" compact icon={Trash2} title="Revoke" onClick={onRevoke}>
          {`Revoke the key ${key.key_id} of ${key.user_id}`}
        </Button>
      </span>
      <span className={css.what}>
        <code>{key.key_id}</code>
        <span>
          issued <When at={key.created_at} />
        </span>
        <span>
          {key.last_used_at ? (
            <>
              last used <When at={key.last_used_at} />
            </>
          ) : (
            'never used'
          )}
        </span>
        <Expiry at={key.expires_at} />
      </span>
    </li>
  )
}

function Expiry({ at }: { at: string | undefined }) {
  const now = useNow()
  if (at === undefined) return <span>does not expire</span>
  const isOver = Date.parse(at) <= now
  return (
    <span className={isOver ? css.over : undefined}>
      {isOver ? 'expired' : 'expires'} <time dateTime={at}>{moment(at)}</time>
    </span>
  )
}

function useRevoke() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (id: string) => api.DELETE('/admin/keys/{key_id}', { params: { path: { key_id: id } } }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['admin', 'keys'] }),
  })
}
