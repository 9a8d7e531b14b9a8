import type { components } from '~/api/schema'

/** Somebody who is in a shell, and whether they may type. */
export type Participant = components['schemas']['ShellParticipant']
export type Role = Participant['role']

export interface Size {
  readonly cols: number
  readonly rows: number
}

/** What the server says on a shell's socket. */
export type ShellMessage =
  | ({ readonly type: 'auth_ok'; readonly session_id: string; readonly role: Role } & Size)
  | { readonly type: 'stdout'; readonly data: string }
  | { readonly type: 'missed'; readonly bytes: number }
  | { readonly type: 'presence'; readonly people: readonly Participant[] }
  | ({ readonly type: 'size' } & Size)
  | { readonly type: 'exit'; readonly code: number; readonly cause: string }
  | { readonly type: 'error'; readonly code: string; readonly message: string }
  | { readonly type: 'pong' }

/** What a person's side says. The first is `auth`, without a token: the browser shows its session. */
export type ShellRequest =
  | {
      readonly type: 'auth'
      readonly session_id: string
      readonly observe?: boolean
      readonly window: number
      readonly cols?: number
      readonly rows?: number
    }
  | { readonly type: 'stdin'; readonly data: string }
  | ({ readonly type: 'resize' } & Size)
  | { readonly type: 'seen'; readonly characters: number }
  | { readonly type: 'ping' }
