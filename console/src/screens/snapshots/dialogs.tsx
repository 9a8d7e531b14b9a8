import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { sentence } from '~/api/problem'
import { type Fork, forkName, type Snapshot, titleOf } from '~/store/snapshot-tree'
import { Button } from '~/ui/Button'
import { Confirm } from '~/ui/Confirm'
import { Dialog } from '~/ui/Dialog'
import { Field } from '~/ui/Field'
import form from '~/ui/form.module.css'
import { plain } from '~/ui/format'
import type { SnapshotActions } from './use-snapshots'

interface Props {
  readonly actions: SnapshotActions
  readonly onDone: (words: string) => void
  readonly onClose: () => void
}

export function TakeDialog({ actions, onDone, onClose }: Props) {
  const [name, setName] = useState('')
  const { mutate, isPending, error } = actions.take
  const submit = (event: FormEvent) => {
    event.preventDefault()
    mutate(name.trim(), {
      onSuccess: (snapshot) => {
        onDone(`Saved as ${plain(titleOf(snapshot))}.`)
        onClose()
      },
    })
  }
  return (
    <Dialog title="Take a snapshot" onClose={onClose}>
      <form className={form.form} onSubmit={submit}>
        <p>The server freezes the sandbox for a moment while it saves the files.</p>
        <Field label="Name" hint="Optional.">
          {(control) => (
            <input
              {...control}
              value={name}
              maxLength={128}
              autoComplete="off"
              placeholder="before the upgrade"
              onChange={(event) => setName(event.target.value)}
            />
          )}
        </Field>
        <Problem of={error} />
        <div className={form.choices}>
          <Button type="submit" look="primary" disabled={isPending}>
            {isPending ? 'Saving…' : 'Save snapshot'}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

export function RestoreDialog({ snapshot, actions, onDone, onClose }: Props & { snapshot: Snapshot }) {
  const title = plain(titleOf(snapshot))
  return (
    <Confirm
      title={`Restore ${title}?`}
      keep="Cancel"
      confirm="Restore"
      onClose={onClose}
      onConfirm={() => actions.restore.mutate(snapshot.snapshot_id, { onSuccess: () => onDone(`Restored ${title}.`) })}
    >
      Files that are in no snapshot are lost. All processes of the sandbox end, including the agent, and open terminals
      close. The sandbox keeps its id and its timeline.
    </Confirm>
  )
}

export function DeleteDialog({ snapshot, actions, onDone, onClose }: Props & { snapshot: Snapshot }) {
  const title = plain(titleOf(snapshot))
  return (
    <Confirm
      title={`Delete ${title}?`}
      keep="Keep it"
      confirm="Delete it"
      onClose={onClose}
      onConfirm={() =>
        actions.remove.mutate(snapshot.snapshot_id, { onSuccess: () => onDone(`${title} was deleted.`) })
      }
    >
      The snapshot cannot be restored afterwards. Sandboxes that were restored or forked from it keep their files.
    </Confirm>
  )
}

interface ForkProps {
  readonly snapshot: Snapshot
  readonly taken: readonly Fork[]
  readonly actions: SnapshotActions
  readonly onClose: () => void
}

/** Forks a thread and opens it. */
export function ForkDialog({ snapshot, taken, actions, onClose }: ForkProps) {
  const [into, setInto] = useState(forkName(snapshot.thread_id, taken))
  const { mutate, isPending, error } = actions.fork
  const navigate = useNavigate()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    mutate(
      { id: snapshot.snapshot_id, into: into.trim() },
      {
        onSuccess: (fork) =>
          void navigate({ to: '/console/sandboxes/$sandboxId', params: { sandboxId: fork.session_id }, search: {} }),
      },
    )
  }
  return (
    <Dialog title={`Fork ${plain(titleOf(snapshot))}`} onClose={onClose}>
      <form className={form.form} onSubmit={submit}>
        <p>Another thread gets its own sandbox with these files. Neither sandbox sees the changes of the other.</p>
        <Field label="Thread" hint="A thread without a sandbox.">
          {(control) => (
            <input
              {...control}
              value={into}
              required
              maxLength={200}
              autoComplete="off"
              spellCheck={false}
              onChange={(event) => setInto(event.target.value)}
            />
          )}
        </Field>
        <Problem of={error} />
        <div className={form.choices}>
          <Button type="submit" look="primary" disabled={isPending || into.trim() === ''}>
            {isPending ? 'Forking…' : 'Fork and open it'}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

function Problem({ of }: { of: unknown }) {
  if (!of) return null
  return (
    <p role="alert" className={form.problem}>
      {sentence(of)}
    </p>
  )
}
