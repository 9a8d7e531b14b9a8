import { useNavigate, useRouteContext } from '@tanstack/react-router'
import { LogOut, Pencil, UserMinus, UserPlus } from 'lucide-react'
import { useMemo, useState } from 'react'
import { sentence } from '~/api/problem'
import type { components } from '~/api/schema'
import type { Sandbox } from '~/api/types'
import { useShortcuts } from '~/keys/shortcuts'
import { Button } from '~/ui/Button'
import form from '~/ui/form.module.css'
import { Section } from '~/ui/Section'
import { Failure, Skeleton } from '~/ui/States'
import { When } from '~/ui/When'
import { InviteDialog } from './InviteDialog'
import { ScopeMarks } from './ScopePicker'
import css from './Sharing.module.css'
import { type Sharing, useMembers } from './use-sharing'

type Member = components['schemas']['Member']

interface Props {
  readonly sandbox: Sandbox
  readonly sharing: Sharing
  readonly isOwner: boolean
}

/** The owner and the members. */
export function People({ sandbox, sharing, isOwner }: Props) {
  const { data, error, refetch } = useMembers(sandbox)
  const [dialog, setDialog] = useState<Member | 'new'>()
  const [done, setDone] = useState('')
  useInviteKey(isOwner, () => setDialog('new'))

  const takeBack = (user: string) => {
    setDone('')
    sharing.takeBack.mutate(user, { onSuccess: () => setDone(`${user} is out: what they had open is closed.`) })
  }
  const invite = isOwner && (
    <Button look="primary" icon={UserPlus} title="i" onClick={() => setDialog('new')}>
      Invite
    </Button>
  )
  return (
    <Section title="People" about="Members and their maximum scopes." actions={invite}>
      {error && <Failure error={error} onRetry={() => void refetch()} />}
      {data === undefined && !error && <Skeleton rows={2} label="Loading the people" />}
      {data && (
        <ul className={css.list}>
          <li className={css.person}>
            <strong className={css.name}>{data.owner}</strong>
            <span className={css.quiet}>owner, all scopes</span>
          </li>
          {data.members.map((member) => (
            <li key={member.user_id} className={css.person}>
              <strong className={css.name}>{member.user_id}</strong>
              <ScopeMarks scopes={member.scopes} />
              <span className={css.quiet}>
                <When at={member.invited_at} />
              </span>
              <MemberActions
                member={member}
                isOwner={isOwner}
                isBusy={sharing.takeBack.isPending}
                onChange={() => setDialog(member)}
                onTakeBack={() => takeBack(member.user_id)}
              />
            </li>
          ))}
        </ul>
      )}
      {data?.members.length === 0 && <p className={css.quiet}>No other members.</p>}
      {sharing.takeBack.error && (
        <p role="alert" className={form.problem}>
          {sentence(sharing.takeBack.error)}
        </p>
      )}
      <p role="status" className={done ? form.done : 'visually-hidden'}>
        {done}
      </p>
      {dialog && (
        <InviteDialog
          sharing={sharing}
          {...(dialog === 'new' ? {} : { member: dialog })}
          onClose={() => setDialog(undefined)}
        />
      )}
    </Section>
  )
}

interface MemberProps {
  readonly member: Member
  readonly isOwner: boolean
  readonly isBusy: boolean
  readonly onChange: () => void
  readonly onTakeBack: () => void
}

/** The owner changes and revokes invitations; a member may leave. */
function MemberActions({ member, isOwner, isBusy, onChange, onTakeBack }: MemberProps) {
  const { session } = useRouteContext({ from: '/frame' })
  const navigate = useNavigate()
  if (isOwner) {
    return (
      <span className={css.actions}>
        <Button look="quiet" compact icon={Pencil} title="Change scopes" onClick={onChange}>
          {`Change what ${member.user_id} may do`}
        </Button>
        <Button look="quiet" compact icon={UserMinus} disabled={isBusy} title="Remove member" onClick={onTakeBack}>
          {`Remove the member ${member.user_id}`}
        </Button>
      </span>
    )
  }
  if (session.user_id !== member.user_id) return null
  const leave = () => {
    onTakeBack()
    void navigate({ to: '/console' })
  }
  return (
    <Button icon={LogOut} disabled={isBusy} title="You lose access to this sandbox" onClick={leave}>
      Leave
    </Button>
  )
}

function useInviteKey(isOwner: boolean, open: () => void): void {
  useShortcuts(
    'Sharing',
    // biome-ignore lint/correctness/useExhaustiveDependencies: opening is the same whatever was drawn since
    useMemo(() => (isOwner ? [{ keys: 'i', does: 'Invite a user', run: open }] : []), [isOwner]),
  )
}
