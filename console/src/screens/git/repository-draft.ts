import type { components } from '~/api/schema'

export type NewRepository = components['schemas']['NewRepository']

/** The fields of a form for the repository of a run or a task, as they are typed. */
export interface RepositoryDraft {
  readonly repository: string
  /** The branch to start from. */
  readonly revision: string
  /** Name of a stored credential. Empty without a credential. */
  readonly credential: string
  readonly ticket: string
  readonly onSuccess: string
}

export const NO_REPOSITORY: RepositoryDraft = {
  repository: '',
  revision: '',
  credential: '',
  ticket: '',
  onSuccess: '',
}

export type RepositoryField = keyof RepositoryDraft

const ON_SUCCESS = ['push', 'pull_request'] as const

/** The field `repository` of a request. The server clones only with a credential. */
export function repositoryOf(draft: RepositoryDraft): NewRepository | undefined {
  const url = draft.repository.trim()
  const [base, ticket] = [draft.revision.trim(), draft.ticket.trim()]
  const action = ON_SUCCESS.find((one) => one === draft.onSuccess)
  if (url === '' || draft.credential === '') return undefined
  return {
    url,
    credential: draft.credential,
    ...(base !== '' && { base }),
    ...(ticket !== '' && { ticket }),
    ...(action !== undefined && { on_success: action }),
  }
}

/** The fields of the form for the fields of a request. */
export const REPOSITORY_FIELDS: Readonly<Record<string, RepositoryField>> = {
  repository: 'repository',
  'repository.url': 'repository',
  'repository.base': 'revision',
  'repository.branch': 'ticket',
  'repository.ticket': 'ticket',
  'repository.credential': 'credential',
  'repository.on_success': 'onSuccess',
}
