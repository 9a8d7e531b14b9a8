import { useMutation } from '@tanstack/react-query'
import { api, body } from '~/api/client'
import { ApiError } from '~/api/problem'
import type { Field } from './draft'
import { fieldOf, type Problems, type Wanted } from './request'

/** Result: a sandbox, and the reason if its agent did not start. */
export interface Started {
  readonly sandboxId: string
  readonly failure?: string
}

export function useSpawn() {
  return useMutation({ mutationFn: start, retry: false })
}

async function start(wanted: Wanted): Promise<Started> {
  if (wanted.path === '/create_session') {
    const session = await body(api.POST('/create_session', { body: wanted.body }))
    return { sandboxId: session.session_id }
  }
  const run = await body(api.POST('/api/v1/sandboxes', { body: wanted.body }))
  const failure = run.status === 'failed' ? (run.reason ?? 'The agent could not be started.') : undefined
  return { sandboxId: run.sandbox_id, failure }
}

/** Problems from the server by field; the others concern the whole form. */
export function refused(error: unknown): { problems: Problems; whole: string | undefined; existing?: string } {
  if (!(error instanceof ApiError)) return { problems: {}, whole: error instanceof Error ? error.message : undefined }
  const { field, rule, session_id: existing } = error.fields
  if (error.status === 409 && typeof existing === 'string') {
    return { problems: { thread: 'This thread has a sandbox.' }, whole: undefined, existing }
  }
  const ours: Field | undefined = typeof field === 'string' ? fieldOf(field) : undefined
  if (ours === undefined) return { problems: {}, whole: error.message }
  // For a variable the field contains its name; other fields have a label.
  const which = ours === 'variables' ? `${String(field)} ` : ''
  const problem = typeof rule === 'string' ? `${which}${rule}` : error.message
  return { problems: { [ours]: `${problem.charAt(0).toUpperCase()}${problem.slice(1)}.` }, whole: undefined }
}
